"""Tables as rich draws them, at a hundredth of its price where nothing needs its care.

A list of thousands of instances makes thousands of tables.  What goes into a file, or to another
command, has no colours; and where it is narrow enough as well, only rules and spaces are left.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import Console

Row = Sequence[str]


class Paper:
    """Where tables and lines are printed, asked once what it is."""

    def __init__(self, console: "Console") -> None:
        self.console, self.width = console, console.width
        self.is_terminal, self.write = console.is_terminal, console.file.write
        self.has_rules = console.encoding.startswith("utf")

    def print_table(self, headings: Row, rows: Sequence[Row]) -> None:
        """Print a table whose first column stands to the left, and all others to the right."""
        drawn = None if self.is_terminal else drawn_table(headings, rows, self.width)
        if drawn is not None and self.has_rules:
            self.write(drawn)
            return
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number else "left")
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def print_line(self, text: str) -> None:
        """Plain text as it is: a name may hold square brackets."""
        if self.is_terminal or not text.isprintable():
            from rich.text import Text

            self.console.print(Text(text), soft_wrap=True)
        else:
            self.write(text + "\n")


def drawn_table(headings: Row, rows: Sequence[Row], width: int) -> str | None:
    """The lines of a table; None where one would be wrapped, or holds what is not printed."""
    table = [headings, *rows]
    if not all(cell.isprintable() for row in table for cell in row):
        return None
    sizes = [[len(c) if c.isascii() else cell_len(c) for c in row] for row in table]
    widest = [max(column) for column in zip(*sizes, strict=True)]
    if sum(widest) + 3 * len(widest) + 1 > width:
        return None
    lines = []
    for row, lengths in zip(table, sizes, strict=True):
        cells = []
        for number, (cell, size, most) in enumerate(zip(row, lengths, widest, strict=True)):
            room = " " * (most - size)
            cells.append(room + cell if number else cell + room)
        lines.append(cells)
    rules = ["━" * (most + 2) for most in widest]
    drawn = [f"┏{'┳'.join(rules)}┓", f"┃ {' ┃ '.join(lines[0])} ┃", f"┡{'╇'.join(rules)}┩"]
    drawn += [f"│ {' │ '.join(cells)} │" for cells in lines[1:]]
    drawn.append(f"└{'┴'.join('─' * (most + 2) for most in widest)}┘")
    return "\n".join(drawn) + "\n"

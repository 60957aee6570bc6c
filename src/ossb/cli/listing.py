"""A list of named things: names stay whole, and what is said of them wraps beside them."""

from collections.abc import Iterable, Mapping


def print_list(heading: str, entries: Iterable[tuple[str, Mapping[str, str]]], note: str) -> None:
    """Print names and, beside each, lines ``label: words``; empty ones are left out."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(caption=note, caption_justify="left", show_lines=True)
    table.add_column(heading, no_wrap=True)  # to be copied: never broken
    table.add_column("about", overflow="fold")
    for name, said in entries:
        lines = [f"{label}: {words}" for label, words in said.items() if words]
        table.add_row(Text(name), Text("\n".join(lines)))
    Console().print(table)

"""Notebooks of the documentation: read, run cell by cell, and written with what they print."""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path

from docs_pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict]:
    """The code cells of a notebook."""
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if is_code(cell)]


def is_code(cell: dict) -> bool:
    return cell["cell_type"] == "code"


def run(source: str, names: dict) -> str:
    """What a cell prints, the value of its last line included, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None:
                print(value if isinstance(value, str) else repr(value))
    return printed.getvalue()


def shown(cell: dict) -> str:
    """The text that is kept as the output of a cell."""
    return "".join("".join(output.get("text", ())) for output in cell["outputs"])


def write(path: Path) -> None:
    """Run a notebook and keep what it prints; ``…`` in an output stays for what may differ."""
    whole, names = json.loads(path.read_text("utf-8")), {"__name__": "notebook"}
    for cell in filter(is_code, whole["cells"]):
        text = run("".join(cell["source"]), names)
        lines = text.splitlines(keepends=True)
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] * bool(lines)
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write(Path(argument))

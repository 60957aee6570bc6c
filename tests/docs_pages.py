"""Pages of the documentation as programs: their blocks are run in order, in one folder.

python       runs; blocks of a page share their names, and with a title are files as well
console      lines ``$ ossb …`` run in this process; a line that ends in ``&`` runs beside it, and
             ``$ name=$(ossb … | cut -d' ' -f1)`` keeps the first word for the lines below
toml, json   files, by their title or by a first line ``# NAME``
text         what the block before has printed; ``…`` stands for what differs from run to run, times
             and ids
diff         lines to add to the file of its title, each after the line before it
others       configuration of other software: their syntax is checked elsewhere
"""

import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r'^( *)```(\w+)?(?: title="([^"]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)
FIRST_WORD = re.compile(r"(\w+)=\$\((ossb .*) \| cut -d' ' -f1\)")
PORTS = ("8786", "8090")  # those that pages name; free ones are taken in their place


class Block(NamedTuple):
    language: str
    title: str
    text: str
    line: int


def blocks(page):
    """The blocks of a page, in order."""
    text = (ROOT / page).read_text("utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent, language, title, body = match.groups()
        body = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(language or "", title or "", body, line))
    return found


def same(shown, printed):
    """Whether a text with ``…`` for anything is what was printed; spaces count once."""
    parts = [re.escape(" ".join(part.split())) for part in shown.split("…")]
    return re.fullmatch(r"\s*" + r".*?".join(parts) + r"\s*", " ".join(printed.split())) is not None


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


class Walk:
    """Runs a page in a folder. ``swaps`` replaces what only a real installation has."""

    def __init__(self, page, folder, ossb, capsys, swaps=()):
        self.page, self.folder, self.ossb, self.capsys = page, folder, ossb, capsys
        self.swaps = {**{port: free_port() for port in PORTS}, **dict(swaps)}
        self.names = {"__name__": "page"}
        self.printed = ""
        self.beside = []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        for process in reversed(self.beside):
            process.terminate()
        for process in self.beside:
            process.wait(30)

    def run(self):
        for block in blocks(self.page):
            where = f"{self.page}, line {block.line}"
            step = getattr(self, f"_{block.language}", None)
            if step is not None:
                step(block, where)

    def _swapped(self, text):
        for old, new in self.swaps.items():
            text = text.replace(old, new)
        return text

    def _save(self, block):
        first = block.text.partition("\n")[0]
        name = block.title or (first.removeprefix("# ") if re.match(r"# \S+\.\w+$", first) else "")
        if name:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._swapped(block.text), "utf-8")
        return name

    def _toml(self, block, where):
        assert self._save(block), f"{where}: a file needs a name"

    _json = _csv = _toml

    def _python(self, block, where):
        name = self._save(block)
        # a file is imported by what follows; its classes must be found there
        if name:
            return
        self.capsys.readouterr()
        code = "\n" * block.line + self._swapped(block.text)
        exec(compile(code, str(self.page), "exec"), self.names)
        self.printed = self.capsys.readouterr().out

    def _console(self, block, where):
        self.printed = ""
        for line in block.text.splitlines():
            assert line.startswith("$ "), f"{where}: output stands in a text block"
            command = self._swapped(line.removeprefix("$ "))
            kept = FIRST_WORD.fullmatch(command)
            if kept:
                self._ours(kept[2], where)
                self.swaps[f"${kept[1]}"] = self.ossb.out.split(" ")[0]
            elif command.endswith("&"):
                self._start(command.removesuffix("&"))
            elif command.startswith("ossb "):
                self._ours(command, where)
                self.printed += self.ossb.out
            else:
                self.other(shlex.split(command, comments=True), where)

    def _ours(self, command, where):
        arguments = shlex.split(command, comments=True)[1:]
        assert self.ossb(*arguments) == 0, f"{where}: {command}\n{self.ossb.err}"

    def other(self, command, where):
        """A command that is not ours: it must be one that is known to exist."""
        if command[0] == "make":
            makefile = (ROOT / "Makefile").read_text("utf-8")
            assert re.search(rf"^{command[1]}:", makefile, re.MULTILINE), f"{where}: {command}"
        else:
            name = command[0].removeprefix(".venv/bin/")
            assert name in ("pip", "python3", "git", "cd", "mkdir", "source"), f"{where}: {command}"

    def _start(self, command):
        words = shlex.split(command, comments=True)
        program = Path(sys.executable).parent / words[0]
        with open(self.folder / f"{len(self.beside)}.log", "wb") as log:
            process = subprocess.Popen(
                [program, *words[1:]], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )
        self.beside.append(process)
        for port in PORTS:
            if self.swaps[port] in command and words[0] == "ossb":
                wait_for(self.swaps[port], process)

    def _text(self, block, where):
        assert same(block.text, self.printed), (
            f"{where}: printed was\n{self.printed}\nand the page shows\n{block.text}"
        )


def wait_for(port, process):
    """Wait until something listens; what it says instead is the failure."""
    for _ in range(600):
        assert process.poll() is None, "it ended"
        try:
            socket.create_connection(("127.0.0.1", int(port)), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"nothing listens on port {port}")

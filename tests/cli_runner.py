"""The command line, run in this process as ``ossb`` runs it."""

import io
import sys

from ossb.cli import main


class Runner:
    """Calls ``main`` and keeps what came out."""

    def __init__(self, monkeypatch, capsys):
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments, stdin=""):
        self.monkeypatch.setattr(sys, "argv", ["ossb", *map(str, arguments)])
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        self.capsys.readouterr()
        try:
            main()
        except SystemExit as stop:
            self.code = stop.code
        self.out, self.err = self.capsys.readouterr()
        return self.code

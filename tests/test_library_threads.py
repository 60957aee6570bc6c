"""Libraries take one thread each in a server, unless the user says otherwise."""

import os
import subprocess
import sys

from ossb.library_threads import ONE_EACH, take_one_each

PROGRAM = """
import sys
import importlib
import ossb.library_threads
serve = importlib.import_module("ossb.cli.serve")

def seen():
    print("numpy" in sys.modules)
    sys.exit()

ossb.library_threads.take_one_each = seen
serve.serve("sqlite:///" + sys.argv[1])
"""


def test_what_the_user_said_stands(monkeypatch):
    monkeypatch.setattr("os.environ", {"OPENBLAS_NUM_THREADS": "3"})
    take_one_each()
    assert os.environ == {**ONE_EACH, "OPENBLAS_NUM_THREADS": "3"}


def test_a_server_says_so_before_they_are_loaded(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "campaigns.db")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"

"""The guide keeps its word."""

import re
from pathlib import Path

from ossb.experiments.definition import KEYS, read
from ossb.experiments.generate import GENERATORS
from ossb.experiments.run import run
from ossb.experiments.statistics import BANDS

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text("utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)[1]


def test_the_file_and_the_frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.toml").write_text(block("toml"))
    found = read("first.toml", ["trials=1", "horizon=30", "policies=['ucb1']"])
    run(found, "results/first", compiled=False)
    names = {}
    exec(block("python"), names)
    assert names["frame"].height == len(found.checkpoints)


def test_all_keys_are_explained():
    for word in (*KEYS, *GENERATORS, *BANDS):
        assert f"`{word}`" in GUIDE or f" {word}`" in GUIDE or f"\n{word}`" in GUIDE, word

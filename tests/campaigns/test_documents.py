"""The page on campaigns is true."""

import re
from pathlib import Path

from ossb.campaigns import Campaign
from ossb.campaigns.events import KINDS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, routes = re.findall(
        r"```python\n(.*?)```", (DOCS / "campaigns.md").read_text(), re.DOTALL
    )
    names = {}
    exec(first, names)
    assert "estimate" in capsys.readouterr().out
    exec(routes, names)
    assert "bridge" in capsys.readouterr().out
    assert (tmp_path / "campaigns.db").exists()


def test_every_call_of_the_page_exists():
    table = (DOCS / "campaigns.md").read_text().split("## Calls")[1].split("Observations are")[0]
    names = set(re.findall(r"`([a-z_]+)\(", table)) - {"read_rows"}
    assert len(names) > 12
    assert all(hasattr(Campaign, name) for name in names)


def test_every_kind_of_event_is_written_down():
    text = (DOCS / "journal.md").read_text()
    assert all(f"`{kind}` — " in text for kind in KINDS)

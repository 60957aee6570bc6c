"""The gallery is written from what was run."""

import importlib.util
import re
import tomllib

import pytest

from docs_pages import ROOT
from ossb.experiments.definition import bundled


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_bundled_experiment_has_an_introduction(gallery):
    written = tomllib.loads((ROOT / "tools" / "gallery.toml").read_text("utf-8"))
    assert set(written) <= set(bundled())
    assert all(len(gallery.introduction(name)) > 20 for name in bundled())


def test_a_page_is_written_from_a_run(gallery, tmp_path):
    places = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    short = ["trials=2", "horizon=60", "block=2", "policies=['hgl', 'kl-ucb']"]
    gallery.main(["unimodal", *short, *places])
    page = (tmp_path / "docs" / "unimodal.md").read_text("utf-8")
    assert "This run is shorter than the bundled one: trials 2 in place of 200" in page
    assert re.search(r"^\| `hgl` \| [\d.]+ ± [\d.]+ \| [\d.]+ \| [\d.]+ \|$", page, re.MULTILINE)
    assert "## line of twelve" in page
    assert "## tree of nine" in page
    assert "kl-ucb" in page
    assert 1_000 < (tmp_path / "docs" / "unimodal.png").stat().st_size < 100_000
    index = (tmp_path / "docs" / "index.md").read_text("utf-8")
    assert "[`unimodal`](unimodal.md)" in index
    assert "| `dueling` |" in index


def test_the_pages_kept_here_are_whole():
    folder = ROOT / "docs" / "gallery"
    for page in folder.glob("*.md"):
        text = page.read_text("utf-8")
        assert "written by tools/gallery.py" in text
        for picture in re.findall(r"\]\(([\w.-]+\.png)\)", text):
            assert 1_000 < (folder / picture).stat().st_size < 100_000

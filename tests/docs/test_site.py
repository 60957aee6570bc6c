"""The site is built without a warning, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs_pages import ROOT
from ossb.policies import POLICIES
from ossb.structures import STRUCTURES

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|link)\b[^>]*>", text)
        outside = [tag for tag in loaded if re.search(r'(?:src|href)="?(?:https?:)?//', tag)]
        assert not outside, page
        assert "@import" not in text


def test_no_star_of_a_formula_is_taken_for_emphasis(site):
    for page in site.rglob("*.html"):
        assert not re.findall(r"<em>[\s,.;:)][^<]*</em>", page.read_text("utf-8")), page


@pytest.mark.skipif(not CHROMIUM.exists(), reason="chromium is not installed")
def test_search_finds_in_a_folder_without_a_server(site):
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page()
        page.goto((site / "guides" / "pricing.html").as_uri())
        page.locator("input[name=query]").click()
        page.keyboard.type("certificate")
        page.get_by_text("matching documents").wait_for()
        browser.close()


def test_the_reference_has_every_structure_policy_and_command(site):
    reference = {page.stem: page.read_text("utf-8") for page in (site / "reference").glob("*.html")}
    assert all(f"<code>{kind}</code>" in reference["structures"] for kind in STRUCTURES)
    assert all(f"<code>{name}</code>" in reference["policies"] for name in POLICIES)
    for command in ("bound", "verify", "simulate", "run", "report", "serve", "campaign ask"):
        assert f"<code>ossb {command}</code>" in reference["command-line"]
        assert "Usage: ossb bound" in reference["command-line"]
    assert "ossb.cli" in (site / "contributing" / "index.html").read_text("utf-8")

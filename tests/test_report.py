"""The page of an experiment, in a real browser."""

import csv
import io
import math
import re
from pathlib import Path

import pytest

from experiment_cases import CLASSICAL, GAUSSIAN, experiment
from ossb.experiments import tables
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.report import page, write_page

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "out"
    found = experiment(
        title="A <b>bold</b> title",
        note="Notes & such",
        instances=[
            {"group": "one </script>", **CLASSICAL},
            {"group": "two", **GAUSSIAN},
        ],
    )
    run(found, folder, compiled=False)
    return Results(folder)


@pytest.fixture(scope="module")
def text(results):
    return page(results, tables.rows(results), "simultaneous")


def test_the_page_needs_nothing_else(text):
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"""(src|href)\s*=\s*["']""", own)
    assert "class Chart" in text  # the script is inside
    assert len(text) < 100_000


def test_what_the_page_says(text, results):
    assert "<h1>A &lt;b&gt;bold&lt;/b&gt; title</h1>" in text
    assert "Notes &amp; such" in text
    assert "95 % simultaneous confidence of the mean curve" in text
    assert text.count("<summary>certificate</summary>") == 2
    for found in results.bounds:
        assert f"C(θ) = {found.value:.6g}, certified" in text
    assert "seed 3" in text
    assert "ossb 0." in text
    for row in tables.rows(results):
        assert f"<td>{row.mean:,.4g}</td>" in text
        assert f"<td>{row.bound_at_t:,.4g}</td>" in text
    assert "C(θ) ln t</th>" in text
    assert "slope is the regret per unit of ln t" in text


def test_the_table_says_the_bound_beside_the_regret(results):
    lines = list(csv.DictReader(io.StringIO(tables.as_csv(tables.rows(results)))))
    for line in lines:
        constant, t = float(line["bound_per_ln_t"]), int(line["t"])
        assert constant == results.constants[line["group"]]
        assert float(line["bound_at_t"]) == pytest.approx(constant * math.log(t))


def test_a_bound_that_is_missing_is_explained(results):
    other = Results(results.ledger.folder)
    other.__dict__["bounds"] = [ValueError("there is no proof"), results.bounds[1]]
    text = page(other, tables.rows(other), "confidence")
    assert "there is no proof" in text
    assert text.count("<summary>certificate</summary>") == 1


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (375, 800)])
def test_the_page_in_a_browser(browser, results, tmp_path, width, height):
    path = tmp_path / "page.html"
    write_page(results, tables.rows(results), path, "confidence")
    tab = browser.new_context(viewport={"width": width, "height": height}, offline=True).new_page()
    faults = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    tab.goto(path.as_uri())
    tab.wait_for_selector("#plot-1 svg .curve")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    policies = len(results.policies)
    assert tab.locator("#plot-0 .curve").count() == policies
    assert tab.locator("#plot-0 .slope").count() == 0

    axis = tab.locator("#plot-0 .axis-name")
    assert axis.text_content() == "rounds t"
    tab.click("#axis-0")
    assert axis.text_content() == "rounds t, logarithmic"
    assert tab.locator("#plot-0 .slope").count() == policies

    first = tab.locator("#plot-0 + .legend button").first
    first.click()
    assert first.get_attribute("aria-pressed") == "false"
    for part in (".curve", ".band", ".slope"):
        assert tab.locator(f"#plot-0 {part}").count() == policies - 1
    first.click()

    tab.locator("#plot-0").scroll_into_view_if_needed()
    box = tab.locator("#plot-0 svg").bounding_box()
    tab.mouse.move(box["x"] + box["width"] - 10, box["y"] + box["height"] / 2)
    values = tab.locator("#plot-0 .values")
    said = values.inner_text().splitlines()
    assert said[0] == f"t = {results.experiment.horizon:,}"
    group = results.groups[0]
    ends = {p: results.curves[group, p][1][:, -1].mean() for p in results.policies}
    highest = max(ends, key=ends.get)
    assert said[1] == f"{highest}: {float(f'{ends[highest]:.4g}'):g}"
    left = "document.querySelector('#plot-0 .curve').points[0].x"
    before = tab.evaluate("document.querySelector('#plot-0 .curve').points.length")
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    tab.mouse.up()
    assert tab.evaluate("document.querySelector('#plot-0 .curve').points.length") < before
    assert tab.evaluate(left) < 80
    tab.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    assert tab.evaluate("document.querySelector('#plot-0 .curve').points.length") == before

    tab.locator("summary", has_text="certificate").first.click()
    assert tab.locator("details[open] pre").first.is_visible()
    tab.screenshot(path=str(tmp_path / f"{width}.png"), full_page=True)
    assert faults == []

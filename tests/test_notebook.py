"""What a notebook shows: a table, a picture that is well-formed, and no name as markup."""

import re
import xml.etree.ElementTree as ET

import pytest

from experiment_cases import CLASSICAL, experiment
from ossb import Campaign, Classical, Combinatorial, Dueling, bound, simulate
from ossb.experiments.results import Results
from ossb.experiments.run import run
from ossb.notebook import COLOURS, LONGEST, bars, curves, table

EVIL = ["<script>alert(1)</script>", '"a" & b', "\x07" + "long" * 20]
SHOWN = [name.lstrip("\x07") for name in EVIL]  # a campaign takes no others
SVG = "{http://www.w3.org/2000/svg}"


def pictures(html):
    """The pictures in a page, parsed as strictly as XML is."""
    assert "<script" not in html
    assert "<" not in re.sub(r"</?(table|caption|thead|tbody|tr|th|td|div|br)>", "",
                             re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL))  # fmt: skip
    return [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


def texts(picture):
    return [element.text for element in picture.iter(f"{SVG}text")]


def test_a_bound():
    instance = Classical(theta=[0.2, 0.9, 0.5], observation="bernoulli", arm_names=EVIL)
    found = bound(instance)
    (picture,) = pictures(found._repr_html_())
    widths = [float(bar.get("width")) for bar in picture.iter(f"{SVG}rect")]
    rates = sorted((rate for _, rate in found.support), reverse=True)
    assert widths == pytest.approx([max(widths) * rate / rates[0] for rate in rates], abs=0.1)
    assert EVIL[0][: LONGEST - 1] + "…" in texts(picture)
    assert len(texts(picture)[2]) == LONGEST
    assert pictures(bound(Classical(theta=[1.0]))._repr_html_()) == []  # nothing to explore
    duel = bound(Dueling(preferences=[[0.5, 0.7], [0.3, 0.5]], arm_names=EVIL[:2]))
    assert len(pictures(duel._repr_html_())) == 1


def test_a_simulation():
    instance = Classical(
        theta=[0.2, 0.9, 0.5], observation="bernoulli", arm_names=EVIL, name=EVIL[0]
    )
    result = simulate(instance, ["ucb1", "kl-ucb"], 50, trials=3, compiled=False)
    html = result._repr_html_()
    (picture,) = pictures(html)
    assert html.count("<tr>") == 3
    assert "&lt;script&gt;alert(1)&lt;/script&gt;: 3 trials of 50 rounds" in html
    lines = list(picture.iter(f"{SVG}polyline"))
    assert [line.get("stroke") for line in lines] == [COLOURS[0], COLOURS[1], "currentColor"]
    for line in lines:
        places = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        assert len(places) == result.policies[0].checkpoints.size
        assert all(0 <= x <= 360 and 0 <= y <= 160 for x, y in places)
        heights = [y for _, y in places]
        assert heights == sorted(heights, reverse=True)  # regret grows, upwards
    best = min(result.policies, key=lambda one: one.regret.mean())
    assert html.index(best.policy) < html.index(({"ucb1", "kl-ucb"} - {best.policy}).pop())


def test_a_simulation_of_arms_that_are_not_listed():
    instance = Combinatorial(
        feedback="semi_bandit", arm_set="m_sets", n_items=4, size=2, phi=[0.9, 0.1, 0.5, 0.3]
    )
    result = simulate(instance, ["hgl"], 20, trials=1)
    assert len(pictures(result._repr_html_())) == 1


def test_an_experiment(tmp_path):
    instances = [{"group": EVIL[0], **CLASSICAL}, {"group": "two", **CLASSICAL}]
    run(experiment(instances=instances), tmp_path / "out", compiled=False)
    results = Results(tmp_path / "out")
    html = results._repr_html_()
    found = pictures(html)
    assert len(found) == 2
    assert html.count("<tr>") == 1 + 2 * len(results.policies)
    for picture in found:
        assert len(list(picture.iter(f"{SVG}polyline"))) == len(results.policies)
    cells = len(results.ledger.index())
    assert f"{cells} of {cells} cells" in html


def test_a_campaign():
    with Campaign.open(
        "memory://",
        "<b>first</b>",
        instance=Classical(n_arms=3, sigma=1.0, arm_names=SHOWN),
        policy="ucb1",
    ) as campaign:
        assert "&lt;b&gt;first&lt;/b&gt;: classical, ucb1, 0 told, 0 pending, open" in (
            campaign._repr_html_()
        )
        for value in (1.0, 5.0, 2.0, 5.0):
            campaign.tell(campaign.ask()[0].id, value)
        campaign.ask()
        html = campaign._repr_html_()
        (picture,) = pictures(html)
        assert "4 told, 1 pending" in html
        widths = [float(bar.get("width")) for bar in picture.iter(f"{SVG}rect")]
        assert widths[0] == pytest.approx(2 * widths[1], abs=0.1)
        campaign.close()
        assert "closed" in campaign._repr_html_()
    many = Classical(n_arms=40, sigma=1.0)
    with Campaign.open("memory://", "many", instance=many, policy="ucb1") as campaign:
        html = campaign._repr_html_()
        assert "… 28 more" in html
        assert len(pictures(html)) == 1


def test_empty_and_strange_pictures():
    assert bars("none", {}) == ""
    assert curves("none", {}) == ""
    assert curves("none", {"a": ([1.0], [float("nan")])}) == ""
    (flat,) = pictures(curves("flat", {"a": ([1.0], [0.0])}, ([1.0], [0.0])))
    assert flat.find(f"{SVG}title").text == "flat"
    (none,) = pictures(bars("zeros", {"a": 0.0, "b": 0.0}))
    assert {bar.get("width") for bar in none.iter(f"{SVG}rect")} == {"0.0"}
    assert table("<x>", ("<y>",), [("<z>",)]).count("&lt;") == 3

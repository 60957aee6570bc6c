"""The live page in a real browser."""

import csv
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from campaign_instances import ROUTES
from contextual_instances import EXAMPLE
from ossb.campaigns import open_storage
from ossb.campaigns.events import Event
from ossb.client import Client
from service_process import Server

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
NAME = "<script>alert(1)</script> & co/é"
ARMS = ["<b>bold</b>", "plain", "third"]
INSTANCE = {
    "structure": "classical",
    "observation": "bernoulli",
    "n_arms": 3,
    "arm_names": ARMS,
}
# instance, policy, and what a round of an arm shows
OTHERS = {
    "routes": (
        {
            **ROUTES,
            "arm_names": ["<i>bridge</i>", "tunnel", "ring", "park", "mall"],
        },
        "cucb",
        lambda arm, i: [1.0 + item + 0.25 * ((i + item) % 3) for item in arm],
    ),
    "beers": (
        {"structure": "dueling", "n_items": 3, "arm_names": ["ale", "bock", "<i>cider</i>"]},
        "rmed1",
        lambda arm, i: int((i + arm[0]) % 4 > arm[0]),
    ),
    "prices": (
        {
            "structure": "unimodal",
            "observation": "bernoulli",
            "n_arms": 4,
            "arm_names": ["=5+1", "7 €", "8 €", "9 €"],
            "reward_unit": "<i>sales</i>",
        },
        "osub",
        lambda arm, i: int((7 * i + arm) % 10 < 3 + arm),
    ),
}
CONTEXTS = {
    "structure": "linear",
    "sigma": 1.0,
    "contexts": [
        {**EXAMPLE["contexts"][0], "name": "<i>phone</i>", "arm_names": ["up", "down", "aside"]},
        {**EXAMPLE["contexts"][1], "name": "desk", "arm_names": ["up", "down"]},
    ],
}
OLD = Path(__file__).parents[1] / "campaigns" / "journals" / "version1.jsonl"

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="chromium is not installed (Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    url = f"sqlite:///{folder / 'campaigns.db'}"
    store = open_storage(url)
    lines = OLD.read_text().splitlines()[:-1]
    store.append("first", [Event(**json.loads(line)) for line in lines]).result()
    store.close()
    running = Server(url, folder / "log").start()
    with Client(running.url) as client:
        client.create("by context", CONTEXTS, "hgl", 3)
        client.create("empty", OTHERS["prices"][0], {"name": "top-two", "delta": 0.1}, 3)
        for i in range(20):
            (decision,) = client.ask("by context", context=i % 2)
            client.tell("by context", decision.id, float(decision.arm == [i % 2, i % 2]))
        client.create(NAME, INSTANCE, "kl-ucb", 3)
        play(client, 60)
        for name, (instance, policy, shows) in OTHERS.items():
            client.create(name, instance, policy, 3)
            for i in range(25):
                (decision,) = client.ask(name)
                client.tell(name, decision.id, shows(decision.arm, i))
    yield running
    running.stop()


def play(client, rounds):
    for i in range(rounds):
        decision = client.ask(NAME)[0]
        client.tell(NAME, decision.id, int((7 * i + decision.arm) % 10 < 3 + 2 * decision.arm))


@pytest.fixture
def page(browser, request):
    options = getattr(request, "param", {})
    context = browser.new_context(**options)
    found = context.new_page()
    found.problems = []
    found.on("pageerror", lambda error: found.problems.append(str(error)))
    found.on("dialog", lambda dialog: found.problems.append(dialog.message))
    found.set_default_timeout(30_000)
    yield found
    keep = os.environ.get("OSSB_SCREENSHOTS")
    if keep:
        name = request.node.name.translate(str.maketrans("[]<>/", "-----"))
        found.screenshot(path=f"{keep}/{name}.png", full_page=True)
    context.close()


def test_the_list_leads_to_the_campaign(page, server):
    page.goto(server.url)
    page.get_by_role("link", name=NAME).click()
    page.get_by_role("heading", level=1, name=NAME).wait_for()
    assert page.problems == []


SMALL = {"viewport": {"width": 375, "height": 812}, "has_touch": True}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
DARK = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}


def open_campaign(page, server, name=NAME):
    page.goto(f"{server.url}/")
    page.get_by_role("link", name=name).click()
    page.locator("#connection.live").wait_for()


@pytest.mark.parametrize("page", [{}, PHONE, DARK], indirect=True, ids=["wide", "phone", "dark"])
def test_what_the_page_shows(page, server):
    open_campaign(page, server)
    for section in (
        "Where it stands",
        "Means with 95 % intervals",
        "Plays",
        "What exploring has cost",
        "Recent decisions",
        "Arms",
    ):
        page.get_by_role("region", name=section, exact=True).wait_for()
    with Client(server.url) as client:
        assert page.locator(".headline").inner_text() == client.campaign(NAME)["headline"]
    open_mathematics(page)
    assert "<b>bold</b>" in page.locator("#arms").inner_text()
    assert page.evaluate("document.querySelectorAll('#content b').length") == 0
    # no scrolling sideways, at any width
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert cut(page) == []
    # every chart says what it shows
    assert page.evaluate("[...document.querySelectorAll('svg[role=img]')].every(s => s.ariaLabel)")
    assert page.problems == []


def cut(page):
    """The tables that are wider than their place."""
    return page.evaluate(
        "[...document.querySelectorAll('.scroll')]"
        ".filter(t => t.scrollWidth > t.clientWidth).map(t => t.id)"
    )


def open_mathematics(page):
    page.get_by_text("The mathematics", exact=True).click()
    for section in (
        "Test",
        "Regret beside the bound",
        "Rates the bound asks for, c(x, m)",
        "Phases",
    ):
        page.get_by_role("region", name=section, exact=True).wait_for()


def rows_of(page, table):
    """The texts of a table's cells, row by row."""
    rows = page.locator(f"#{table} tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


@pytest.mark.parametrize("page", [{}, PHONE], indirect=True, ids=["wide", "phone"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_structures(page, server, name):
    open_campaign(page, server, name)
    instance = OTHERS[name][0]
    page.get_by_text(f"{instance['structure']}, ").wait_for()
    with Client(server.url) as client:
        found = client.campaign(name)
    leader = next(arm for arm in found["arms"] if arm["arm"] == found["leader"])
    shown = page.locator("dt:text-is('Leader') + dd").inner_text()
    assert shown in leader["arm_name"]  # of a duel of an item with itself the item
    assert found["headline"].startswith(f"{shown} leads")
    open_mathematics(page)
    rows = rows_of(page, "arms")
    for row, arm, plays in zip(rows, found["arms"], found["plays"], strict=True):
        leads = " (leads)" if arm == leader else ""
        assert row[:2] == [arm["arm_name"] + leads, f"{plays}"]
    assert page.locator("#recent tbody tr").count() == 12
    for picture in ("Plays of each arm", "Phases along the decisions"):
        page.get_by_role("img", name=picture).wait_for()
    assert page.evaluate("document.querySelectorAll('#content i').length") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.problems == []


def test_items_of_a_set_of_arms(page, server):
    open_campaign(page, server, "routes")
    page.get_by_role("region", name="Means of the items with 95 % intervals").wait_for()
    page.get_by_role("img", name="Mean of each item with its interval").wait_for()
    with Client(server.url) as client:
        components = client.campaign("routes")["components"]
    rows = rows_of(page, "items")
    assert len(rows) == 5
    park = rows[3]
    assert park[1] == str(components["counts"][3])
    ends = [float(end.replace("−", "-")) for end in park[3].split(" to ")]
    assert ends[0] < components["means"][3] < ends[1]
    played = page.locator("#arms caption").inner_text()
    assert played.endswith("arms played so far")
    observed = page.locator("#recent tbody tr td:nth-child(5)").first.inner_text()
    assert observed.startswith("[")
    assert page.problems == []


def test_duels_of_an_item_with_itself_show_no_mean(page, server):
    open_campaign(page, server, "beers")
    chart = page.get_by_role("img", name="Mean of each arm with its interval")
    chart.wait_for()
    least, most, *names = chart.locator("text").all_text_contents()
    assert 0 <= float(least) < float(most) <= 1
    assert "ale – bock" in names
    assert "ale – ale" not in names


def test_keyboard(page, server):
    page.goto(server.url)
    page.get_by_role("link", name=NAME).wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    names = [row[0] for row in rows_of(page, "campaigns")]
    for _ in range(3 + names.index(NAME)):  # the head and the table come before the first
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == NAME
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=NAME).wait_for()


def test_it_follows_events_and_survives_a_restart(page, server):
    open_campaign(page, server)
    told = page.locator("dt:text-is('Told') + dd")
    before = int(told.inner_text().split()[0])
    with Client(server.url) as client:
        play(client, 1)
    told.filter(has_text=f"{before + 1}").wait_for()
    server.kill()
    page.locator("#connection.lost").wait_for()
    server.start()
    with Client(server.url) as client:
        play(client, 1)
    told.filter(has_text=f"{before + 2}").wait_for()
    page.locator("#connection.live").wait_for()
    assert page.problems == []


def test_signing_in_and_out(page, tmp_path):
    running = Server(f"sqlite:///{tmp_path / 'campaigns.db'}", tmp_path / "log").start()
    try:
        with Client(running.url) as client:
            client.create(NAME, INSTANCE, "kl-ucb", 3)
            token = client.create_token("read")
        page.goto(running.url)
        page.wait_for_url("**/login")
        for given in ("ossb_wrong", token):
            page.get_by_label("Token").fill(given)
            page.get_by_role("button", name="Sign in").click()
            if given != token:
                page.get_by_role("alert").wait_for()
        page.get_by_role("link", name=NAME).click()
        page.locator("#connection.live").wait_for()
        (cookie,) = page.context.cookies()
        assert token not in cookie["value"]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url("**/login")
        assert page.context.cookies() == []
        page.goto(running.url)
        page.wait_for_url("**/login")
        page.context.add_cookies([cookie])  # it was ended at the server too
        page.goto(running.url)
        page.wait_for_url("**/login")
    finally:
        running.stop()


@pytest.mark.parametrize("page", [{}, SMALL], indirect=True, ids=["wide", "phone"])
def test_contexts_are_shown_one_by_one(page, server):
    open_campaign(page, server, "by context")
    with Client(server.url) as client:
        found = client.campaign("by context")
    leaders = rows_of(page, "contexts")
    assert [row[0] for row in leaders] == ["<i>phone</i>", "desk"]
    for row, arm in zip(leaders, found["leader"], strict=True):
        assert row[2] == CONTEXTS["contexts"][arm[0]]["arm_names"][arm[1]]
    assert len(rows_of(page, "arms")) == 5
    page.get_by_label("Context", exact=True).select_option("desk")
    assert [row[0].removesuffix(" (leads)") for row in rows_of(page, "arms")] == ["up", "down"]
    with Client(server.url) as client:  # the choice stays while the campaign goes on
        (decision,) = client.ask("by context", context="desk")
        client.tell("by context", decision.id, 0.0)
    page.locator("dt:text-is('Told') + dd", has_text=f"{found['rounds'] + 1}").wait_for()
    assert len(rows_of(page, "arms")) == 2
    assert cut(page) == []
    assert page.evaluate("document.querySelectorAll('#content i').length") == 0
    assert page.problems == []


@pytest.mark.parametrize("name", ["empty", "first"])
@pytest.mark.parametrize("page", [{}, SMALL], indirect=True, ids=["wide", "phone"])
def test_empty_campaigns_and_journals_of_before(page, server, name):
    page.goto(f"{server.url}/campaigns/{name}")
    page.locator("#connection.live").wait_for()
    said = {"empty": "Nothing was told yet.", "first": "Closed: a leads; not 95% sure."}[name]
    assert page.locator(".headline").inner_text() == said
    open_mathematics(page)
    assert cut(page) == []
    assert page.problems == []


def test_the_unit_of_rewards_stands_beside_them(page, server):
    open_campaign(page, server, "prices")
    unit = OTHERS["prices"][0]["reward_unit"]
    for title in ("Means with 95 % intervals", "What exploring has cost"):
        page.get_by_role("region", name=f"{title}, {unit}", exact=True).wait_for()
    assert unit in page.locator(".headline").inner_text()
    assert page.locator("#arms th:nth-child(3)").inner_text() == f"Mean, {unit}"
    assert unit in page.locator("dt:text-is('Cost of exploring') + dd").inner_text()
    assert page.evaluate("document.querySelectorAll('#content i').length") == 0


def test_the_list_names_leaders(page, server):
    page.goto(server.url)
    page.get_by_role("link", name="prices").wait_for()
    leaders = {row[0]: row[1] for row in rows_of(page, "campaigns")}
    with Client(server.url) as client:
        found = client.campaign("prices")
    assert leaders["prices"] == found["arms"][found["leader"]]["arm_name"]
    assert leaders["beers"] in ("ale", "bock", "<i>cider</i>")
    assert leaders["empty"] == "–"
    assert " in 1" in leaders["by context"] or " in 2" in leaders["by context"]
    assert cut(page) == []


def test_numbers_and_picture_can_be_taken_along(page, server):
    open_campaign(page, server, "prices")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download numbers (CSV)").click()
    assert waiting.value.suggested_filename == "prices.csv"
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    with Client(server.url) as client:
        found = client.campaign("prices")
    assert [int(row["plays"]) for row in rows] == found["plays"]
    assert [float(row["mean"]) for row in rows] == found["means"]
    for row, ends in zip(rows, found["intervals"]["arms"], strict=True):
        assert [float(row["low_95"]), float(row["high_95"])] == ends
    assert rows[0]["arm"] == "'=5+1"  # no formula
    assert {row["reward_unit"] for row in rows} == {"<i>sales</i>"}
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download picture (SVG)").click()
    assert waiting.value.suggested_filename == "prices.svg"
    root = ElementTree.parse(waiting.value.path()).getroot()
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"prices", "Plays", "=5+1"} <= set(texts)
    assert page.problems == []


def test_what_lies_under_the_pointer(page, server):
    open_campaign(page, server, "prices")
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.get_by_role("img", name="Plays of each arm").locator(".spot").nth(1).hover()
    assert tip.inner_text().startswith("7 €: ")
    page.get_by_role("img", name="Estimated regret").locator(".spot").last.hover()
    assert "25 told" in tip.inner_text()
    page.locator("h1").hover()
    assert tip.is_hidden()


def test_a_switch_of_policies_shows(page, server):
    open_campaign(page, server, "beers")
    page.get_by_text("policy rmed1").wait_for()
    with Client(server.url) as client:
        client.switch("beers", "hgl")
    page.get_by_text("policy hgl").wait_for()
    assert page.problems == []

"""A campaign with a million tells: how fast it is back, how much it takes, how soon it is seen."""

import http.client
import time

import store_faults
from ossb.campaigns import Campaign, open_storage
from ossb.campaigns import journal as journal_module
from ossb.campaigns.events import chained
from ossb.campaigns.snapshots import to_bytes
from reliability_lines import Line, no_browser
from service_process import Server
from service_strain import memory

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def write(path, tells):
    """The journal of an ask and a tell each, by the fold itself; returns its events.

    Snapshots are kept where a server would have kept them, except that the newest possible one
    is missing: as many events as can be are left to fold.
    """
    store = open_storage(f"sqlite:///{path}")
    campaign = Campaign.open(
        store, "c", instance=store_faults.INSTANCE, policy="ucb1", clock=lambda: 1e9
    )
    last = 2 * tells + 1
    worst = last - max(journal_module.SNAPSHOT_EVERY, last // 16) + 2  # the next is due after it
    with campaign._journal.look() as state:
        waiting, first = [], state.digest
        for number in range(tells):
            asked = {"expires": 2e9, "decisions": [[number % 3, 2 * int(number % 50 == 0)]]}
            told = {"tells": [[number, float(number * number % 7 < 2 + number % 3)]]}
            for kind, content in (("asked", asked), ("told", told)):
                event = chained(state.digest, state.number + 1, kind, 1e9, content)
                state.fold(event)
                waiting.append(event)
            if len(waiting) >= 20_000 or state.number in (worst, worst + 1):
                store.append("c", waiting, first).result()
                waiting, first = [], state.digest
                if state.number in (worst, worst + 1):
                    store.keep_snapshot("c", state.number, to_bytes(state))
        if waiting:
            store.append("c", waiting, first).result()
        events = state.number
    store.close()
    return events


def million(folder, counts):
    """A server on that journal, by its clock and its memory, and its page in a browser."""
    path = folder / "long.db"
    events = write(path, counts["tells"])
    server = Server(f"sqlite:///{path}", folder / "log")
    started = time.monotonic()
    server.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/v1/campaigns/c/ask", "{}")
    assert connection.getresponse().status == 200
    seconds = time.monotonic() - started
    connection.close()
    try:
        paint, shown = first_paint(f"{server.url}/campaigns/c")
        megabytes = memory(server, "VmHWM") / 1024
    finally:
        server.stop()
    held = seconds < 5 and megabytes < 300 and paint < 2 and shown < 2
    return held, (
        f"{events:,} events: first answer {seconds:.2f} s after the start, {megabytes:.0f} MB at "
        f"most; page: first paint {paint:.2f} s, all figures {shown:.2f} s"
    )


def first_paint(url):
    """Seconds to the browser's first contentful paint, and until the figures stand on the page."""
    from playwright.sync_api import sync_playwright

    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        try:
            warm = browser.new_page()  # the browser's own start is not the page's
            warm.goto("about:blank")
            page = browser.new_page()
            page.set_default_timeout(60_000)
            started = time.monotonic()
            page.goto(url)
            page.get_by_role("region", name="Where it stands", exact=True).wait_for()
            shown = time.monotonic() - started
            page.wait_for_function(f"() => ({paint}) !== null")
            return page.evaluate(paint) / 1000, shown
        finally:
            browser.close()


LINES = [
    Line(
        "million",
        "a campaign with {tells} tells",
        "restart < 5 s, < 300 MB, page first paint < 2 s",
        {"tells": 1_000_000},
        million,
        least=10_000,
        needs=no_browser,
    )
]

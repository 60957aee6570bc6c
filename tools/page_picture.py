"""Draw the README's second picture: the live page of a campaign of prices, in a real browser.

    python tools/page_picture.py      (make picture; needs Chromium)

The campaign is played beforehand, by a clock of its own; what differs from time to time are dates.
"""

import subprocess
import sys
import tempfile
import time
import urllib.request
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from few_colours import reduced
from ossb.campaigns import Campaign
from ossb.structures.unimodal import Unimodal

TARGET = Path(__file__).resolve().parents[1] / "docs" / "page.png"
CHROMIUM = "/usr/bin/chromium"
PORT = 8093
PRICES = (5, 6, 7, 8, 9, 10, 11, 12)
BUYERS = (0.62, 0.60, 0.57, 0.54, 0.43, 0.33, 0.24, 0.16)
VISITORS, CALLS, DAYS, SEED = 2500, 250, 16, 4
SHOWN = {"width": 1280, "height": 860}
SHARP, COLOURS = 2, 200


def play(storage: str) -> None:
    """A campaign in which 2,500 visitors have been shown a price."""
    names = [f"{price} €" for price in PRICES]
    instance = Unimodal(n_arms=len(PRICES), sigma=5.0, arm_names=names, reward_unit="€")
    rng = np.random.default_rng(SEED)
    moments = iter(np.linspace(time.time() - DAYS * 86400, time.time() - 60, CALLS + 1).tolist())
    now = [next(moments)]
    options = {"instance": instance, "policy": "identify", "seed": SEED, "clock": lambda: now[0]}
    with Campaign.open(storage, "price of the plan", **options) as campaign:
        for now[0] in moments:
            decisions = campaign.ask(VISITORS // CALLS)
            paid = [PRICES[d.arm] * float(rng.random() < BUYERS[d.arm]) for d in decisions]
            campaign.tell_many(list(zip(decisions, paid, strict=True)))


def main() -> int:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/campaigns.db"
        play(storage)
        command = [Path(sys.executable).with_name("ossb"), "serve", "--storage", storage]
        server = subprocess.Popen([*command, "--port", str(PORT)], stderr=subprocess.DEVNULL)
        try:
            await_answer(f"http://127.0.0.1:{PORT}/healthz")
            with sync_playwright() as playwright:
                flags = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
                page = browser.new_page(
                    viewport=SHOWN, device_scale_factor=SHARP, color_scheme="light"
                )
                page.goto(f"http://127.0.0.1:{PORT}/")
                page.get_by_role("link", name="price of the plan").click()
                page.locator("#connection.live").wait_for()
                page.wait_for_timeout(1500)
                reduced(Image.open(BytesIO(page.screenshot())), TARGET, COLOURS)
                browser.close()
        finally:
            server.terminate()
            server.wait(30)
    return 0


def await_answer(url: str, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())

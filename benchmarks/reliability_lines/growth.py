"""How much a decision adds to the journal, for every structure."""

import numpy as np

from campaigns.test_bytes import MOST, cases, told
from ossb.campaigns import Campaign, open_storage
from reliability_lines import Line


def growth(folder, counts):
    """Bytes of an ask's event and of its tell's, on average, with the policies by default."""
    found = {}
    for case in cases():
        instance, name = case.values
        store, rng = open_storage("memory://"), np.random.default_rng(1)
        campaign = Campaign.open(store, "c", instance=instance, policy=name, seed=1)
        for _ in range(counts["asks"]):
            told(campaign, campaign.ask()[0], instance, rng)
        sizes = {"asked": 0, "told": 0}
        for event in store.read("c"):
            if event.kind in sizes:
                sizes[event.kind] += len(event.body.encode())
        found[case.id] = {kind: size / counts["asks"] for kind, size in sizes.items()}
    most = max(found, key=lambda key: found[key]["asked"])
    classical = found["classical-hgl"]["asked"]
    held = all(sizes["asked"] <= MOST for sizes in found.values())
    return held, (
        f"{len(found)} pairs of structure and policy: at most "
        f"{found[most]['asked']:.0f} bytes an ask ({most}), {classical:.0f} with classical arms; "
        f"at most {max(sizes['told'] for sizes in found.values()):.0f} a tell"
    )


LINES = [
    Line(
        "growth",
        "bytes of a decision in the journal, every structure with `hgl` and `ossb`, {asks} asks",
        "≤ 1 KB on average",
        {"asks": 200},
        growth,
        least=20,
    )
]

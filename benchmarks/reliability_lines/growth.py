"""How much a decision adds to the journal, for every structure, in contexts and segments too."""

import numpy as np

from campaigns.test_bytes import MOST, cases, told
from ossb.campaigns import Campaign, open_storage
from ossb.instances import from_dict
from reliability_lines import Line

RNG = np.random.default_rng(0)
N_CONTEXTS = 40
IN_CONTEXTS = {
    "contexts": {
        "structure": "linear",
        "sigma": 1.0,
        "contexts": [{"arms": RNG.normal(size=(8, 6)).round(3).tolist()}] * N_CONTEXTS,
    },
    "segments": {
        "structure": "classical",
        "observation": "bernoulli",
        "segments": [{"n_arms": 10}] * N_CONTEXTS,
    },
}


def growth(folder, counts):
    """Bytes of an ask's event and of its tell's, on average, with the policies by default."""
    found = {}
    for case in cases():
        instance, name = case.values
        found[case.id] = sizes(instance, name, counts["asks"])
    for label, keys in IN_CONTEXTS.items():
        found[f"{label}-hgl"] = sizes(from_dict(keys), "hgl", counts["asks"], N_CONTEXTS)
    most = {}
    for key, each in found.items():
        structure = key.partition("-")[0]
        most[structure] = max(most.get(structure, 0), each["asked"])
    listed = ", ".join(f"{key} {size:.0f}" for key, size in most.items())
    return all(each["asked"] <= MOST for each in found.values()), (
        f"{len(found)} pairs of structure and policy; bytes an ask, of the policy with more: "
        f"{listed}; at most {max(each['told'] for each in found.values()):.0f} a tell"
    )


def sizes(instance, name, asks, n_contexts=0):
    """Bytes of an ask and of a tell, on average."""
    store, rng = open_storage("memory://"), np.random.default_rng(1)
    campaign = Campaign.open(store, "c", instance=instance, policy=name, seed=1)
    for number in range(asks):
        if n_contexts:
            (decision,) = campaign.ask(context=number % n_contexts)
            campaign.tell(decision, float(rng.random() < 0.5))
        else:
            told(campaign, campaign.ask()[0], instance, rng)
    found = {"asked": 0, "told": 0}
    for event in store.read("c"):
        if event.kind in found:
            found[event.kind] += len(event.body.encode())
    return {kind: size / asks for kind, size in found.items()}


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

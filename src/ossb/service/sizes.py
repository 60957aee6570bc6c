"""How large an instance a stranger may ask for: some structures grow with the square."""

from typing import Any

from ossb.errors import InputError

MOST_ARMS = 20_000
LARGEST: dict[tuple[str, str], int] = {
    ("dueling", "n_items"): 150,
    ("dueling", "preferences"): 150,
    ("lipschitz", "points"): 1_500,
    # of sets of arms: a look at every item for each decision
    ("combinatorial", "n_items"): 1_000,
    ("combinatorial", "size"): 1_000,
    ("combinatorial", "edges"): 1_000,
    ("combinatorial", "n_left"): 1_000,
    ("combinatorial", "n_right"): 1_000,
    ("combinatorial", "n_nodes"): 1_000,
}


def check(instance: dict[str, Any]) -> None:
    """Refuse what would not fit into memory."""
    structure = instance.get("structure")
    for key, value in instance.items():
        size = len(value) if isinstance(value, list) else value
        if isinstance(size, bool) or not isinstance(size, int):
            continue
        most = LARGEST.get((str(structure), key), MOST_ARMS)
        if size > most:
            raise InputError(f"instance.{key}", f"be at most {most} in a campaign over HTTP")

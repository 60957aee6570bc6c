"""How large an instance a stranger may ask for: some structures grow with the square."""

from typing import Any

from ossb.errors import InputError

MOST_ARMS = 20_000
COUNTS = ("n_arms", "n_items", "n_left", "n_right", "n_nodes", "size")  # other numbers are none
LARGEST: dict[tuple[str, str], int] = {
    ("dueling", "n_items"): 150,
    ("dueling", "preferences"): 150,
    ("lipschitz", "points"): 1_500,
    # sets of arms: `hgl` looks at every item for each decision, and rates take longer
    ("m_sets", "n_items"): 1_000,
    ("m_sets", "size"): 1_000,
    ("paths", "edges"): 500,
    ("matchings", "edges"): 225,
    ("matchings", "n_left"): 100,
    ("matchings", "n_right"): 100,
    ("spanning_trees", "edges"): 500,
    ("spanning_trees", "n_nodes"): 500,
}


def check(instance: dict[str, Any]) -> None:
    """Refuse what would not fit into memory."""
    structure = instance.get("arm_set") or instance.get("structure")
    for key, value in instance.items():
        if not isinstance(value, list) and key not in COUNTS:
            continue
        size = len(value) if isinstance(value, list) else value
        if isinstance(size, bool) or not isinstance(size, int):
            continue
        most = LARGEST.get((str(structure), key), MOST_ARMS)
        if size > most:
            raise InputError(f"instance.{key}", f"be at most {most} in a campaign over HTTP")
    if isinstance(instance.get("edges"), list):
        _check_nodes(instance["edges"])


def check_grown(instance: dict[str, Any]) -> None:
    """The same of an instance that an arm was added to."""
    try:
        check(instance)
    except InputError as error:
        key = error.field.removeprefix("instance.")
        raise InputError("arm", f"not be added: `{key}` must {error.must}") from None


def _check_nodes(edges: list[Any]) -> None:
    """Nodes are numbered without gaps: a high number is a large graph."""
    for i, edge in enumerate(edges):
        for end in edge if isinstance(edge, list) else ():
            if isinstance(end, int) and end >= MOST_ARMS:
                must = f"join nodes below {MOST_ARMS} in a campaign over HTTP"
                raise InputError(f"instance.edges[{i}]", must)

"""A small instance of every structure that a campaign may have, and a policy that plays it."""

CYCLE = [[0, 1], [1, 2], [2, 3], [3, 0]]
ARMS = [[1, 0], [0, 1], [0.8, 0.7]]
SUBSETS = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
ITEMS = {"structure": "combinatorial", "sigma": 1.0, "feedback": "semi_bandit"}
ROUTES = {
    **ITEMS,
    "goal": "minimize",
    "arm_set": "paths",
    "edges": [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]],
    "source": 0,
    "target": 3,
}
PLAYED = {
    "classical": ({"structure": "classical", "n_arms": 3, "observation": "bernoulli"}, "hgl"),
    "minimise": ({"structure": "classical", "sigma": 1.0, "n_arms": 3, "goal": "minimize"}, "hgl"),
    "linear": ({"structure": "linear", "sigma": 1.0, "arms": ARMS}, "hgl"),
    "generalised linear": (
        {
            "structure": "generalized_linear",
            "arms": ARMS,
            "link": "logistic",
            "observation": "bernoulli",
        },
        "hgl",
    ),
    "dueling": ({"structure": "dueling", "n_items": 3}, "hgl"),
    "lipschitz": (
        {
            "structure": "lipschitz",
            "sigma": 1.0,
            "points": [0.0, 0.5, 1.0],
            "lipschitz_constant": 1.0,
        },
        "hgl",
    ),
    "unimodal": ({"structure": "unimodal", "n_arms": 3, "observation": "bernoulli"}, "hgl"),
    "unimodal on a tree": (
        {"structure": "unimodal", "sigma": 1.0, "n_arms": 4, "edges": [[0, 1], [0, 2], [0, 3]]},
        "hgl",
    ),
    "unimodal on a cycle": (
        {"structure": "unimodal", "sigma": 1.0, "n_arms": 4, "edges": CYCLE},
        "osub",
    ),
    "sums": (
        {"structure": "combinatorial", "sigma": 1.0, "feedback": "bandit", "arms": SUBSETS},
        "hgl",
    ),
    "items": ({**ITEMS, "arms": SUBSETS}, "hgl"),
    "an item in no arm": (
        {**ITEMS, "arms": [[1, 0, 0], [0, 1, 0]], "observation": "bernoulli"},
        "hgl",
    ),
    "an arm without items": (
        {**ITEMS, "arms": [[0, 0], [1, 0]], "observation": "bernoulli"},
        "hgl",
    ),
    "no items at all": ({**ITEMS, "arms": [[0, 0]], "observation": "bernoulli"}, "hgl"),
    "m-sets": ({**ITEMS, "arm_set": "m_sets", "n_items": 4, "size": 2}, "cucb"),
    "paths": (
        {
            **ITEMS,
            "arm_set": "paths",
            "edges": [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2]],
            "source": 0,
            "target": 3,
        },
        "hgl",
    ),
    "finite": (
        {
            "structure": "finite",
            "parameters": [[0.3, 0.5, 0.6], [0.3, 0.8, 0.6], [0.9, 0.5, 0.6]],
            "observation": "bernoulli",
        },
        "hgl",
    ),
    "polytope": (
        {"structure": "polytope", "A": [[1, 1, 1]], "b": [2], "observation": "bernoulli"},
        "hgl",
    ),
    "graph feedback": (
        {
            "structure": "polytope",
            "observation": "bernoulli",
            "goal": "minimize",
            "A": [[1, 1]],
            "b": [1.5],
            "means": [[1, 0], [0, 1], [0.5, 0.5]],
            "reveals": [[1, 0], [1], []],
            "rewards": [[1, 0], [0, 1], [0.3, 0.3]],
        },
        "hgl",
    ),
    "union": (
        {
            "structure": "union",
            "observation": "bernoulli",
            "pieces": [{"A": [[1, -1, 0]], "b": [0]}, {"A": [[-1, 1, 0]], "b": [0]}],
        },
        "hgl",
    ),
}


def shown_by(campaign, decision):
    """What is told of a decision, of numbers that any family may show."""
    with campaign._journal.look() as state:
        number = state.decisions.number_of(decision["id"])
        shown = state.reveals[int(state.decisions.arm[number])]
        feedback = getattr(state.instance, "feedback", "")
    values = [(number + component) % 2 for component in shown]
    if len(values) > 1 or feedback == "semi_bandit":
        return values
    return values[0] if values else None

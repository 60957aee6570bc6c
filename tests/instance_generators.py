"""Random instances of every structure, as the dictionaries of instance files.

Gaps go down to 10⁻⁶.  Hypothesis draws what is discrete and a seed; a generator drawn from the
seed fills in the numbers, which keeps instances valid by construction.
"""

import numpy as np
from hypothesis import strategies as st

ONE_PARAMETER = ("gaussian", "bernoulli", "bounded", "poisson", "exponential")
CONVEX = ("gaussian", "bernoulli", "bounded", "poisson")
GAPS = (1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0)


def fractions(rng, n):
    """How far below the best: from a millionth of the way down to all of it."""
    return rng.choice(GAPS, n) * rng.uniform(0.9, 1.0, n)


def falling(rng, observation, n):
    """The best mean and n smaller ones."""
    if observation == "gaussian":
        best = rng.uniform(-2.0, 2.0)
        return best, best - 3.0 * fractions(rng, n)
    best = rng.choice([1.0, rng.uniform(0.05, 1.0)], p=[0.1, 0.9])
    if observation in ("poisson", "exponential"):
        best *= 10.0
    lowest = 0.05 if observation == "exponential" else 0.0
    below = best * (1.0 - fractions(rng, n))
    ends = rng.random(n) < 0.1
    return best, np.maximum(np.where(ends, 0.0, below), lowest * best)


def common(rng, observation):
    content = {"observation": observation}
    if observation == "gaussian":
        content["sigma"] = float(rng.choice([1.0, 0.3, 7.0]))
    return content


@st.composite
def rngs(draw):
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


@st.composite
def classical(draw):
    rng, observation = draw(rngs()), draw(st.sampled_from(ONE_PARAMETER))
    best, others = falling(rng, observation, draw(st.integers(0, 8)))
    theta = rng.permutation([best, *others])
    return {"structure": "classical", **common(rng, observation), "theta": theta.tolist()}


@st.composite
def line(draw):
    rng, observation = draw(rngs()), draw(st.sampled_from(ONE_PARAMETER))
    best, others = falling(rng, observation, draw(st.integers(0, 8)))
    cut = int(rng.integers(others.size + 1))
    theta = [*np.sort(others[:cut]), best, *np.sort(others[cut:])[::-1]]
    return {
        "structure": "unimodal",
        **common(rng, observation),
        "theta": [float(x) for x in theta],
    }


@st.composite
def graph(draw):
    """A random tree that falls from its root, with some edges more, numbered at random."""
    rng, observation = draw(rngs()), draw(st.sampled_from(ONE_PARAMETER))
    n = draw(st.integers(2, 8))
    best, others = falling(rng, observation, n - 1)
    theta, edges = [best], []
    for arm, mean in enumerate(others, start=1):
        parent = int(rng.integers(arm))
        theta.append(min(mean, theta[parent]))
        edges.append([parent, arm])
    for _ in range(draw(st.integers(0, 3))):
        edges.append(rng.choice(n, 2, replace=False).tolist())
    return relabel_graph(
        {
            "structure": "unimodal",
            **common(rng, observation),
            "theta": [float(x) for x in theta],
            "edges": edges,
        },
        rng.permutation(n),
    )


@st.composite
def dueling(draw):
    rng, n = draw(rngs()), draw(st.integers(1, 6))
    upper = np.triu(rng.choice([0.0, 0.5, 1.0, *rng.uniform(0.0, 1.0, 7)], (n, n)), 1)
    p = upper + np.tril(1.0 - upper.T, -1)
    winner = int(rng.integers(n))
    p[winner] = 0.5 + 0.5 * fractions(rng, n)
    p[:, winner] = 1.0 - p[winner]
    np.fill_diagonal(p, 0.5)
    return {"structure": "dueling", "observation": "bernoulli", "preferences": p.tolist()}


@st.composite
def finite(draw):
    rng, observation = draw(rngs()), draw(st.sampled_from(ONE_PARAMETER))
    best, others = falling(rng, observation, draw(st.integers(1, 4)))
    theta = np.array([best, *others])
    rows = [theta]
    for _ in range(draw(st.integers(0, 6))):
        row = theta * rng.choice([0.5, 0.9, 1.0, 1.0 + 1e-6, 1.05], theta.size)
        if rng.random() < 0.7:
            row[0] = best  # confusing only if the best arm shows no difference
        if rng.random() < 0.7:
            row[int(rng.integers(1, theta.size))] = best + abs(best) * rng.choice([1e-6, 1e-2])
        unit = observation in ("bernoulli", "bounded")
        rows.append(np.minimum(row, 1.0) if unit else row)
    order = rng.permutation(theta.size)
    return {
        "structure": "finite",
        **common(rng, observation),
        "theta": theta[order].tolist(),
        "parameters": [row[order].tolist() for row in rows],
    }


def features(rng, n, d):
    """Arms of several kinds: on the sphere, 0/1, integers, of many norms, with duplicates."""
    kind = rng.choice(["unit", "binary", "integer", "norms", "flat"])
    if kind == "binary":
        arms = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == "integer":
        arms = rng.integers(-2, 3, (n, d)).astype(float)
    else:
        arms = rng.standard_normal((n, d))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        if kind == "norms":
            arms *= 10.0 ** rng.uniform(-1, 1, (n, 1))
        if kind == "flat" and d > 1:
            arms[:, -1] = arms[:, 0]  # the arms do not span
    return arms


def separated(rng, arms, phi, least=1e-6):
    """The arms without those that tie with the best one, near to 10⁻⁶ of it at times."""
    values = arms @ phi
    best = int(np.argmax(values))
    scale = 1.0 + np.abs(values).max()
    keep = values < values[best] - least * scale
    keep[best] = True
    arms, values = arms[keep], values[keep]
    if len(arms) > 1 and rng.random() < 0.3:  # a near tie, by moving one arm along phi
        best = int(np.argmax(values))
        rival = int(rng.choice([x for x in range(len(arms)) if x != best]))
        wanted = values[best] - scale * rng.choice([2e-6, 1e-4])
        arms = arms.copy()
        arms[rival] += (wanted - values[rival]) * phi / (phi @ phi)
    others = [x for x in range(len(arms)) if x != int(np.argmax(arms @ phi))]
    if others and rng.random() < 0.2:
        arms = np.vstack([arms, arms[rng.choice(others)]])
    return arms


@st.composite
def linear(draw):
    rng = draw(rngs())
    d = draw(st.integers(1, 4))
    phi = rng.choice([rng.uniform(0.2, 0.4, d), rng.integers(1, 3, d).astype(float)])
    arms = separated(rng, features(rng, draw(st.integers(1, 14)), d), phi)
    return {
        "structure": "linear",
        **common(rng, "gaussian"),
        "arms": arms.tolist(),
        "phi": phi.tolist(),
    }


READINGS = (
    ("index", "logistic", "gaussian"),
    ("index", "log", "gaussian"),
    ("index", "identity", "gaussian"),
    ("reward", "logistic", "bernoulli"),
    ("reward", "logistic", "bounded"),
    ("reward", "log", "poisson"),
    ("reward", "identity", "gaussian"),
)


@st.composite
def generalized_linear(draw):
    rng = draw(rngs())
    observes, link, observation = draw(st.sampled_from(READINGS))
    d = draw(st.integers(1, 3))
    phi = rng.uniform(0.3, 1.0, d)
    arms = separated(rng, features(rng, draw(st.integers(1, 8)), d), phi)
    return {
        "structure": "generalized_linear",
        **common(rng, observation),
        "observes": observes,
        "link": link,
        "arms": arms.tolist(),
        "phi": phi.tolist(),
    }


@st.composite
def lipschitz(draw):
    rng, observation = draw(rngs()), draw(st.sampled_from(CONVEX))
    n = draw(st.integers(1, 8))
    points = np.sort(rng.uniform(0.0, 1.0, n)) if draw(st.booleans()) else rng.uniform(0, 1, (n, 2))
    flat = points.reshape(n, -1)
    distances = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    constant = float(rng.choice([0.3, 1.0, 5.0]))
    best, others = falling(rng, observation, n - 1)
    wished = rng.permutation([best, *others])
    theta = (wished[None] + 0.99 * constant * distances).min(axis=1)
    unit = observation in ("bernoulli", "bounded")
    theta = np.minimum(theta, 1.0) if unit else theta
    top = int(np.argmax(theta))
    near = np.delete(theta, top)
    if n > 1 and near.max() > theta[top] - 2e-6:
        shift = 0.1 if observation == "gaussian" else 0.0  # a tie: leave room, then lift one arm
        theta = theta - shift if shift else 0.9 * theta
        room = np.delete(constant * distances[top] + theta, top)
        theta[top] = min(theta[top] + 0.05, room.min())
    content = {"structure": "lipschitz", **common(rng, observation), "theta": theta.tolist()}
    if draw(st.booleans()):
        return {**content, "distances": (constant * distances).tolist()}
    return {**content, "points": points.tolist(), "lipschitz_constant": constant}


def subsets(n, size):
    masks = [[(k >> i) & 1 for i in range(n)] for k in range(2**n)]
    return np.array([mask for mask in masks if sum(mask) == size], dtype=float)


@st.composite
def combinatorial(draw):
    rng = draw(rngs())
    feedback = draw(st.sampled_from(["bandit", "semi_bandit"]))
    observation = draw(st.sampled_from(CONVEX))
    observation = "gaussian" if feedback == "bandit" else observation
    n = draw(st.integers(2, 5))
    arms = subsets(n, int(rng.integers(1, n + 1))) if draw(st.booleans()) else features01(rng, n)
    phi = rng.choice([rng.uniform(0.05, 0.95, n), 0.5 + 0.3 * fractions(rng, n)])
    arms = np.unique(arms, axis=0)
    values = arms @ phi
    arms = arms[(values < values.max() - 1e-6) | (np.arange(len(arms)) == np.argmax(values))]
    return {
        "structure": "combinatorial",
        **common(rng, observation),
        "feedback": feedback,
        "arms": rng.permutation(arms).astype(int).tolist(),
        "phi": phi.tolist(),
    }


def features01(rng, n):
    arms = rng.integers(0, 2, (int(rng.integers(2, 8)), n)).astype(float)
    return arms[arms.any(axis=1)] if arms.any() else np.eye(n)


@st.composite
def arm_set(draw):
    """Implicit sets: items in general position, so that the best arm is one."""
    rng = draw(rngs())
    kind = draw(st.sampled_from(["m_sets", "paths", "matchings", "spanning_trees"]))
    matroid = kind in ("m_sets", "spanning_trees")
    observation = draw(st.sampled_from(ONE_PARAMETER if matroid else ["gaussian"]))
    content = {"structure": "combinatorial", "feedback": "semi_bandit"}
    if kind == "m_sets":
        n = draw(st.integers(2, 7))
        shape, items = {"n_items": n, "size": int(rng.integers(1, n))}, n
    elif kind == "paths":
        edges = [[0, 1], [0, 2], [1, 3], [2, 3], [1, 2], [0, 3]]
        edges = [edges[i] for i in sorted(rng.choice(5, 4, replace=False))] + [[0, 3]]
        shape, items = {"edges": edges, "source": 0, "target": 3}, len(edges)
    elif kind == "matchings":
        edges = [[i, j] for i in range(2) for j in range(3)]
        shape, items = {"n_left": 2, "n_right": 3, "edges": edges}, 6
    else:
        edges = [[0, 1], [1, 2], [2, 0], [2, 3], [3, 0]]
        shape, items = {"n_nodes": 4, "edges": edges}, 5
    phi = rng.uniform(0.1, 1.0, items)
    common_keys = common(rng, observation)
    return {**content, **common_keys, "arm_set": kind, **shape, "phi": phi.tolist()}


def halfspaces(rng, theta, n_rows):
    """Rows that hold theta, some of them tightly."""
    A = rng.choice([-1.0, 0.0, 1.0, 2.0], (n_rows, theta.size))
    slack = rng.choice([0.0, 0.05, 0.5], n_rows)
    return {"A": A.tolist(), "b": (A @ theta + slack).tolist()}


def combined(rng, observation, n_arms, n):
    """A parameter with n entries, and rewards that combine them, inside the mean space.

    Where the arms do not span, nothing shows what lies along some directions.
    """
    kind = rng.choice(["binary", "dense", "flat"])
    if kind == "binary":
        rewards = rng.choice([0.0, 1.0], (n_arms, n))
    else:
        rewards = rng.uniform(-1.0 if observation == "gaussian" else 0.0, 1.0, (n_arms, n))
    if kind == "flat" and n > 1:
        rewards[:, -1] = rewards[:, 0]
    theta = rng.uniform(0.1, 1.0, n) / n
    values = rewards @ theta
    keep = values < values.max() - 1e-3
    keep[np.argmax(values)] = True
    return theta, rewards[keep]


@st.composite
def combined_polytope(draw):
    """Means of their own, and at times rewards: arms then show theirs, and more components."""
    rng, observation = draw(rngs()), draw(st.sampled_from(CONVEX))
    theta, rewards = combined(rng, observation, draw(st.integers(2, 5)), draw(st.integers(1, 5)))
    content = {"structure": "polytope", **common(rng, observation), "theta": theta.tolist()}
    content |= {"means": rewards.tolist(), **halfspaces(rng, theta, draw(st.integers(0, 3)))}
    if draw(st.booleans()):
        return content
    n_arms, more = len(rewards), rng.choice([0.0, 1.0], (int(rng.integers(3)), theta.size))
    content["means"] += more.tolist()
    content["rewards"] = rewards.tolist()
    content["reveals"] = [
        [arm, *(n_arms + k for k in range(len(more)) if rng.random() < 0.4)]
        for arm in range(n_arms)
    ]
    return content


@st.composite
def plain_polytope(draw):
    rng, observation = draw(rngs()), draw(st.sampled_from(CONVEX))
    best, others = falling(rng, observation, draw(st.integers(1, 3)))
    theta = rng.permutation([best, *np.minimum(others, best - 1e-6 * (1 + abs(best)))])
    theta = theta if observation == "gaussian" else np.maximum(theta, 0.0)
    return {
        "structure": "polytope",
        **common(rng, observation),
        "theta": theta.tolist(),
        **halfspaces(rng, theta, draw(st.integers(1, 4))),
    }


def polytope():
    return st.one_of(plain_polytope(), combined_polytope())


@st.composite
def union(draw):
    content = draw(polytope())
    rng, theta = draw(rngs()), np.array(content["theta"])
    home = {key: content.pop(key) for key in ("A", "b")}
    away = halfspaces(rng, theta + rng.uniform(-0.3, 0.3, theta.size), draw(st.integers(1, 3)))
    unit = content["observation"] != "gaussian"
    box = [[1.0] + [0.0] * (theta.size - 1)]
    last = {"A": box, "b": [0.9]} if unit else {"A": box, "b": [10.0]}
    own = {"rewards": content.pop("rewards")} if "rewards" in content else {}
    pieces = [{**piece, **own} for piece in (home, last, *([away] * (not unit)))]
    return {**content, "structure": "union", "pieces": pieces}


GENERATORS = {
    "classical": classical(),
    "unimodal": st.one_of(line(), graph()),
    "dueling": dueling(),
    "finite": finite(),
    "linear": linear(),
    "generalized_linear": generalized_linear(),
    "lipschitz": lipschitz(),
    "combinatorial": st.one_of(combinatorial(), arm_set()),
    "polytope": polytope(),
    "union": union(),
}


# the same instance with its arms numbered otherwise: arm order[i] becomes arm i


def relabel_graph(content, order):
    place = {int(arm): i for i, arm in enumerate(order)}
    n = len(content["theta"])
    edges = content.get("edges") or [[i, i + 1] for i in range(n - 1)]
    moved = {**content, "theta": [content["theta"][arm] for arm in order]}
    if n > 1:
        moved["edges"] = [[place[a], place[b]] for a, b in edges]
    return moved


def relabel_duels(content, order):
    p = np.array(content["preferences"])[np.ix_(order, order)]
    return {**content, "preferences": p.tolist()}


def reorder(*keys):
    """Reorder the entries of some lists."""

    def apply(content, order):
        moved = {key: [content[key][i] for i in order] for key in keys if key in content}
        if "distances" in content:
            moved["distances"] = np.array(content["distances"])[np.ix_(order, order)].tolist()
        return {**content, **moved}

    return apply


def relabel_parameters(content, order):
    """Entries in another order; where arms are rows of their own, these in the opposite one."""

    def columns(table):
        keys = [key for key in ("parameters", "A", "means", "rewards") if key in table]
        return {**table, **{key: [[row[i] for i in order] for row in table[key]] for key in keys}}

    moved = columns(reorder("theta")(content, order))
    if "pieces" in moved:
        moved["pieces"] = [columns(piece) for piece in moved["pieces"]]
    for table in (moved, *moved.get("pieces", [])):
        arms = "rewards" if "reveals" in moved else "means"
        for key in ("reveals", arms):
            if key in table:
                table[key] = table[key][::-1]
    return moved


RELABEL = {
    "classical": ("theta", reorder("theta")),
    "unimodal": ("theta", relabel_graph),
    "dueling": ("preferences", relabel_duels),
    "finite": ("theta", relabel_parameters),
    "linear": ("arms", reorder("arms")),
    "generalized_linear": ("arms", reorder("arms")),
    "lipschitz": ("theta", reorder("theta", "points")),
    "combinatorial": ("arms", reorder("arms")),
    "polytope": ("theta", relabel_parameters),
    "union": ("theta", relabel_parameters),
}


def negated(value):
    return (-np.array(value)).tolist()


NEGATED = ("theta", "phi", "parameters", "A")  # keys that a change of sign negates


def mirrored(content):
    """The mirror image, whose least is the original's best; None where there is none."""
    kind, image = content["structure"], {**content, "goal": "minimize"}
    if kind == "dueling":
        return {**image, "preferences": (1.0 - np.array(content["preferences"])).tolist()}
    if content["observation"] != "gaussian" or content.get("link") == "log":
        return None
    for key in NEGATED:
        if key in content:
            image[key] = negated(content[key])
    if "pieces" in content:
        image["pieces"] = [{**piece, "A": negated(piece["A"])} for piece in content["pieces"]]
    return image

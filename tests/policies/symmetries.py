"""Instances next to their images under what leaves their set of parameters unchanged.

An image says which arm and component of it stands for which one of the original, and how values
are carried over; signed as inside, where more is better.  ``SYMMETRIES`` holds one function for
each kind of symmetry, from the content of an instance file to its images, none where the
structure has no such symmetry.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ossb.instances import from_dict

LEVEL = 24.0  # added to all rewards: 48 σ
LARGE, SMALL = 2.0**20, 2.0**-33
GENERAL = ("polytope", "union")  # whose programs are solved to tolerances of their own
UNIT_INTERVAL = ("bernoulli", "bounded")


@dataclass(frozen=True)
class Image:
    """The same problem, described otherwise.

    Parameters
    ----------
    title
        What was done.
    instance
        The image.
    arms
        For each listed arm of the original, its number in the image.
    components
        The same for components.
    slopes, shifts
        A value v of component k of the original is ``slopes[k] v + shifts[k]`` in the image.
    exact
        Whether arithmetic keeps it to the last bit, so that no decision may differ at all.
    turned
        Whether ones and zeros change places.
    """

    title: str
    instance: Any
    arms: np.ndarray
    components: np.ndarray
    slopes: np.ndarray
    shifts: np.ndarray
    exact: bool = False
    turned: bool = False
    permutes: bool = field(init=False)

    def __post_init__(self) -> None:
        moved = self.arms if self.arms.size else self.components
        object.__setattr__(self, "permutes", bool((moved != np.arange(moved.size)).any()))

    def arm(self, arm: Any) -> Any:
        """The arm of the image; one that is not listed is the tuple of its items."""
        if isinstance(arm, tuple):
            return tuple(sorted(int(self.components[item]) for item in arm))
        return int(self.arms[arm])


def image(
    title: str,
    content: dict[str, Any],
    new: dict[str, Any],
    arms: Any = None,
    components: Any = None,
    slopes: Any = 1.0,
    shifts: Any = 0.0,
    exact: bool = False,
    turned: bool = False,
) -> Image:
    """An image of which only what changes is said."""
    before = from_dict(content)
    n_arms, n = before.n_arms or 0, before.components.size
    own = before.n_arms == n and components is None
    arms = np.arange(n_arms) if arms is None else np.asarray(arms)
    components = arms if own else np.arange(n) if components is None else np.asarray(components)
    full = np.ones(n)
    return Image(
        title, from_dict(new), arms, components, slopes * full, shifts * full, exact, turned
    )


def after(first: Image, second: Image) -> Image:
    """The image of an image."""
    own = second.components[first.components]
    slopes = second.slopes[first.components]
    return Image(
        f"{first.title}, {second.title}",
        second.instance,
        second.arms[first.arms],
        own,
        slopes * first.slopes,
        slopes * first.shifts + second.shifts[first.components],
        first.exact and second.exact,
        first.turned != second.turned,
    )


Images = Iterator[Image]


def is_gaussian(content: dict[str, Any]) -> bool:
    return content["observation"] == "gaussian"


def shuffled(n: int, seed: int = 3) -> np.ndarray:
    """A permutation that leaves little in its place: number i becomes number [i]."""
    return np.random.default_rng(seed + n).permutation(n)


def moved(values: Any, order: np.ndarray) -> list[Any]:
    """Entry i becomes entry order[i]."""
    new = [None] * len(values)
    for i, place in enumerate(order):
        new[place] = values[i]
    return new


def moved_columns(table: Any, order: np.ndarray) -> list[Any]:
    return [moved(row, order) for row in table]


def with_polytopes(
    content: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """A polytope, or all pieces of a union, changed in the same way."""
    if content["structure"] == "polytope":
        return {**content, **change(content)}
    return {**content, "pieces": [{**piece, **change(piece)} for piece in content["pieces"]]}


def feature_tables(content: dict[str, Any]) -> list[np.ndarray]:
    """The rows of features, context by context where there are contexts."""
    return [np.array(owner["arms"], float) for owner in content.get("contexts", [content])]


def with_features(content: dict[str, Any], tables: list[Any], **changes: Any) -> dict[str, Any]:
    """The same with other rows of features."""
    new = [{"arms": np.asarray(table).tolist()} for table in tables]
    if "contexts" not in content:
        return {**content, **new[0], **changes}
    named = [{**old, **own} for old, own in zip(content["contexts"], new, strict=True)]
    return {**content, "contexts": named, **changes}


def constant_feature(content: dict[str, Any]) -> int | None:
    """The column of ones, where there is one."""
    arms = np.vstack(feature_tables(content))
    found = np.flatnonzero((arms == 1.0).all(axis=0))
    return int(found[0]) if found.size else None


def common_size(content: dict[str, Any]) -> int | None:
    """The number of items of every arm, where that is the same."""
    if "arms" in content:
        sizes = {int(sum(arm)) for arm in content["arms"]}
        return sizes.pop() if len(sizes) == 1 else None
    known = {"m_sets": "size", "matchings": "n_left"}
    if content["arm_set"] in known:
        return int(content[known[content["arm_set"]]])
    return int(content["n_nodes"]) - 1 if content["arm_set"] == "spanning_trees" else None


# the unit of rewards


def units(content: dict[str, Any]) -> Images:
    kind, observation = content["structure"], content["observation"]
    rewards_are_indices = kind == "generalized_linear" and content["link"] != "identity"
    if observation not in ("gaussian", "exponential") or rewards_are_indices:
        return
    for unit in (2.0**-10, LARGE) if kind in GENERAL else (SMALL, LARGE):
        new = dict(content)
        for key in ("theta", "phi", "parameters", "b", "lipschitz_constant", "distances"):
            if key in content:
                new[key] = (unit * np.array(content[key])).tolist()
        if kind == "union":
            new = with_polytopes(
                new, lambda piece, u=unit: {"b": (u * np.array(piece["b"])).tolist()}
            )
        if observation == "gaussian":
            new["sigma"] = unit * content.get("sigma", 1.0)
        yield image(f"unit {unit:g}", content, new, slopes=unit, exact=True)


# the level of rewards


def level(content: dict[str, Any]) -> Images:
    kind = content["structure"]
    if not is_gaussian(content):
        return
    c, new, shift = LEVEL, dict(content), LEVEL
    if kind in ("linear", "generalized_linear"):
        column = constant_feature(content)
        if column is None or content.get("link", "identity") != "identity":
            return
        new["phi"] = list(content["phi"])
        new["phi"][column] += c
    elif kind == "combinatorial":
        size = common_size(content)
        if size is None:
            return
        new["phi"] = [value + c for value in content["phi"]]
        shift = c if content["feedback"] == "semi_bandit" else size * c
    else:
        new["theta"] = [value + c for value in content["theta"]]
        if "parameters" in content:
            new["parameters"] = (np.array(content["parameters"]) + c).tolist()
        if kind in GENERAL:

            def lift(piece: dict[str, Any]) -> dict[str, Any]:
                A = np.array(piece["A"], float)
                return {"b": (np.array(piece["b"]) + c * A.sum(axis=1)).tolist()}

            new = with_polytopes(new, lift)
    if content.get("goal") == "minimize" and kind not in GENERAL:
        shift = -shift  # components are signed
    yield image(f"level {c:g}", content, new, shifts=shift)


# the names of arms, items, nodes


def relabelling(content: dict[str, Any]) -> Images:
    kind = content["structure"]
    if kind == "combinatorial":
        yield from relabelled_sets(content)
        return
    if kind == "dueling":
        yield relabelled_items(content)
        return
    if "contexts" in content:
        yield relabelled_contexts(content)
        return
    if kind in ("linear", "generalized_linear"):
        order = shuffled(len(content["arms"]))
        yield image("arms", content, {**content, "arms": moved(content["arms"], order)}, order)
        return
    order = shuffled(len(content["theta"]))
    new = {**content, "theta": moved(content["theta"], order)}
    if kind == "unimodal":
        n = len(order)
        edges = content.get("edges") or [[i, i + 1] for i in range(n - 1)]
        new["edges"] = [[int(order[a]), int(order[b])] for a, b in edges]
    if "points" in content:
        new["points"] = moved(content["points"], order)
    if "distances" in content:
        new["distances"] = moved(moved_columns(content["distances"], order), order)
    if "parameters" in content:
        new["parameters"] = moved_columns(content["parameters"], order)
        listed = moved(content["parameters"], shuffled(len(content["parameters"]), 5))
        yield image("parameters", content, {**content, "parameters": listed})
    if kind in GENERAL:
        new = with_polytopes(new, lambda piece: {"A": moved_columns(piece["A"], order)})

        def reorder(piece: dict[str, Any]) -> dict[str, Any]:
            rows = shuffled(len(piece["A"]), 5)
            return {"A": moved(piece["A"], rows), "b": moved(piece["b"], rows)}

        rows = with_polytopes(content, reorder)
        if kind == "union":
            rows["pieces"] = rows["pieces"][::-1]
        yield image("rows", content, rows)
    yield image("arms", content, new, order)


def relabelled_contexts(content: dict[str, Any]) -> Image:
    """Contexts in another order, and the arms of each."""
    contexts = content["contexts"]
    sizes = [len(context["arms"]) for context in contexts]
    places, orders = shuffled(len(contexts)), [shuffled(size) for size in sizes]
    begins = np.concatenate([[0], np.cumsum(moved(sizes, places))])
    arms = [begins[places[z]] + order for z, order in enumerate(orders)]
    new = [
        {**context, "arms": moved(context["arms"], order)}
        for context, order in zip(contexts, orders, strict=True)
    ]
    changed = {**content, "contexts": moved(new, places)}
    return image("contexts and arms", content, changed, np.concatenate(arms))


def relabelled_items(content: dict[str, Any]) -> Image:
    """Duels: pairs and their order follow the items."""
    before = from_dict(content)
    order = shuffled(before.n_items)
    table = moved(moved_columns(content["preferences"], order), order)
    after = from_dict({**content, "preferences": table})
    arms, shown = np.zeros(before.n_arms, int), before.reveals()
    n = before.components.size
    components, slopes, shifts = np.zeros(n, int), np.ones(n), np.zeros(n)
    for arm, (i, k) in enumerate(before.pairs):
        a, b = int(order[i]), int(order[k])
        arms[arm] = after.position((min(a, b), max(a, b)))
        if shown[arm]:
            components[shown[arm][0]] = after.reveals()[arms[arm]][0]
            if a > b:  # the other one comes first now
                slopes[shown[arm][0]], shifts[shown[arm][0]] = -1.0, before.sign
    return Image("items", after, arms, components, slopes, shifts)


def relabelled_sets(content: dict[str, Any]) -> Images:
    sums = content["feedback"] == "bandit"
    if "arms" in content:
        order = shuffled(len(content["arms"]))
        new = {**content, "arms": moved(content["arms"], order)}
        n = len(content["arms"]) if sums else len(content["phi"])
        yield image("arms", content, new, order, order if sums else np.arange(n))
    order = shuffled(len(content["phi"]))
    new = {**content, "phi": moved(content["phi"], order)}
    if "arms" in content:
        new["arms"] = moved_columns(content["arms"], order)
    elif "edges" in content:
        new["edges"] = moved(content["edges"], order)
    n_arms = len(content.get("arms", ()))
    components = np.arange(n_arms) if sums else order
    yield image("items", content, new, np.arange(n_arms), components)
    if content.get("arm_set") == "spanning_trees":
        nodes = shuffled(content["n_nodes"], 8)
        edges = [[int(nodes[a]), int(nodes[b])] for a, b in content["edges"]]
        yield image("nodes", content, {**content, "edges": edges})


# the line read from its other end, and isometries of points


def reflection(content: dict[str, Any]) -> Images:
    kind = content["structure"]
    if kind == "unimodal" and "edges" not in content:
        theta = content["theta"]
        back = np.arange(len(theta))[::-1]
        yield image("line", content, {**content, "theta": theta[::-1]}, back)
    if kind == "lipschitz" and "points" in content:
        points = np.array(content["points"])
        if points.ndim == 1:
            yield image("points", content, {**content, "points": (-points).tolist()})
            other = {**content, "points": points[::-1].tolist(), "theta": content["theta"][::-1]}
            yield image("line", content, other, np.arange(points.size)[::-1])
        else:
            turn = np.array([[0.6, 0.8], [0.8, -0.6]])
            yield image("plane", content, {**content, "points": (points @ turn).tolist()})
        wide = {
            "points": (4.0 * points).tolist(),
            "lipschitz_constant": 0.25 * content["lipschitz_constant"],
        }
        yield image("unit of length", content, {**content, **wide}, exact=points.ndim == 1)


# the least of the mirror image


def mirror(content: dict[str, Any]) -> Images:
    kind, observation = content["structure"], content["observation"]
    new = {**content, "goal": "minimize"}
    if kind == "dueling":
        new["preferences"] = (1.0 - np.array(content["preferences"])).tolist()
        yield image("duels", content, new, shifts=-1.0)
        return
    if kind == "generalized_linear":
        if content["link"] == "log":
            return
        new["phi"] = [-value for value in content["phi"]]
        ones = observation in UNIT_INTERVAL and content["observes"] == "reward"
        yield image("rewards", content, new, shifts=-1.0 if ones else 0.0)
        return
    if is_gaussian(content):
        for key in ("theta", "phi", "parameters", "A"):
            if key in content:
                new[key] = (-np.array(content[key])).tolist()
        if kind == "union":
            new = with_polytopes(new, lambda piece: {"A": (-np.array(piece["A"])).tolist()})
        # parameters of the general form keep their sign; only rewards have that of the goal
        yield image("rewards", content, new, slopes=-1.0 if kind in GENERAL else 1.0)
        return
    if observation not in UNIT_INTERVAL:
        return
    if kind == "combinatorial" and common_size(content) is None:
        return
    for key in ("theta", "phi", "parameters"):
        if key in content:
            new[key] = (1.0 - np.array(content[key])).tolist()
    if kind in GENERAL:

        def turned(piece: dict[str, Any]) -> dict[str, Any]:
            A = np.array(piece["A"], float)
            return {"A": (-A).tolist(), "b": (np.array(piece["b"]) - A.sum(axis=1)).tolist()}

        new = with_polytopes(new, turned)
    slope, shift = (-1.0, 1.0) if kind in GENERAL else (1.0, -1.0)
    yield image("ones and zeros", content, new, slopes=slope, shifts=shift, turned=True)


# coordinates of the features


def has_features(content: dict[str, Any]) -> bool:
    return content["structure"] in ("linear", "generalized_linear")


def features(content: dict[str, Any]) -> Images:
    if not has_features(content):
        return
    tables, phi = feature_tables(content), np.array(content["phi"])
    d = phi.size
    rng = np.random.default_rng(d)
    powers = np.diag(2.0 ** np.arange(-5, 5 * d - 5, 5))
    mixed = np.linalg.qr(rng.standard_normal((d, d)))[0] @ np.diag(np.linspace(0.1, 30.0, d))
    for title, A in (("tenths", 0.1 * np.eye(d)), ("powers of two", powers), ("mixed", mixed)):
        turned = [arms @ A.T for arms in tables]
        new = with_features(content, turned, phi=np.linalg.solve(A.T, phi).tolist())
        yield image(title, content, new)


def useless_features(content: dict[str, Any]) -> Images:
    """A feature that is always 0, one that stands many times, and an item in no arm."""
    if content["structure"] == "combinatorial" and "arms" in content:
        arms, phi = np.array(content["arms"]), content["phi"]
        new = {
            **content,
            "arms": np.hstack([arms, np.zeros((len(arms), 1), int)]).tolist(),
            "phi": [*phi, 0.5],
        }
        n = len(arms) if content["feedback"] == "bandit" else len(phi)
        yield image("an item in no arm", content, new, components=np.arange(n))
        if content["feedback"] == "bandit":
            new = {
                **content,
                "arms": np.hstack([arms, arms[:, :1]]).tolist(),
                "phi": [0.75 * phi[0], *phi[1:], 0.25 * phi[0]],
            }
            yield image("two items always together", content, new)
    if has_features(content):
        tables, phi = feature_tables(content), content["phi"]
        zero = [np.hstack([arms, np.zeros((len(arms), 1))]) for arms in tables]
        yield image("always 0", content, with_features(content, zero, phi=[*phi, 0.5]))
        many = [np.hstack([arms, *[arms[:, :1]] * 3]) for arms in tables]
        parts = [0.25 * phi[0], *phi[1:], *[0.25 * phi[0]] * 3]
        yield image("four times", content, with_features(content, many, phi=parts))


SYMMETRIES: dict[str, Callable[[dict[str, Any]], Images]] = {
    "units": units,
    "level": level,
    "reflection": reflection,  # of a line, which relabelling makes a graph
    "relabelling": relabelling,
    "mirror": mirror,
    "features": features,
    "useless features": useless_features,
}


def images(content: dict[str, Any]) -> Iterator[tuple[str, Image]]:
    """Every symmetry of an instance, by name, with its images."""
    for name, make in SYMMETRIES.items():
        for found in make(content):
            yield name, found


def all_at_once(content: dict[str, Any], kept: Callable[[str, Image], bool]) -> Image:
    """The image under all symmetries, one after the other, of those that are kept."""
    whole = image("", content, content)
    for name, make in SYMMETRIES.items():
        for k in range(len(list(make(content)))):
            found = list(make(whole.instance.to_dict()))[k]
            if kept(name, found):
                whole = after(whole, found)
    return whole

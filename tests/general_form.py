"""Every structure in the general form: a polytope, or a union of polytopes.

What a specialised solver returns must be what the generic engine returns for the same
instance written this way.  Generalised linear bandits that observe the reward are left out:
their divergence is not one of a mean that is linear in the parameter.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from ossb.arm_sets import SpanningTrees
from ossb.errors import InputError
from ossb.structures.base import Instance
from ossb.structures.piecewise import Piecewise
from ossb.structures.polytope import Polytope
from ossb.structures.union import Union

MOST_PIECES = 1000
SPANNED = 1e-12  # of the largest singular value of the arms


def as_general(instance: Instance) -> Piecewise:
    """The instance as a polytope where it is convex, as a union of polytopes where it is not.

    Arms keep their order; for duels they are the pairs (i, j), i ≤ j, in lexicographic order.
    """
    known: dict[str, Callable[[Any], Piecewise]] = {
        "classical": _classical,
        "linear": _linear,
        "generalized_linear": _generalized_linear,
        "combinatorial": _combinatorial,
        "lipschitz": _lipschitz,
        "unimodal": _unimodal,
        "dueling": _dueling,
        "finite": _finite,
    }
    if instance.kind not in known:
        must = f"be one of {', '.join(known)} to be written as a polytope or union"
        raise InputError("structure", must, instance.kind)
    if not instance.known:
        raise InputError(instance.parameter, "be given: the general form is of a true parameter")
    return known[instance.kind](instance)


def _common(instance: Instance) -> dict[str, Any]:
    return {
        "observation": instance.observation,
        "sigma": instance.sigma,
        "goal": instance.goal,
        "name": instance.name,
    }


def _classical(instance: Any) -> Polytope:
    return Polytope(A=[], b=[], theta=instance.theta, **_common(instance))


def _finite(instance: Any) -> Union:
    """A piece for each parameter, which holds that point alone."""
    size = instance.n_arms
    points = [{"A_eq": np.eye(size), "b_eq": parameter} for parameter in instance.parameters]
    return Union(pieces=points, theta=instance.theta, **_common(instance))


def _linear(instance: Any) -> Polytope:
    """In coordinates of what the arms span: rounding alone may make it all of their space."""
    arms, phi = np.asarray(instance.arms, dtype=np.float64), np.asarray(instance.phi)
    _, singular, right = np.linalg.svd(arms, full_matrices=False)
    kept = right[singular > SPANNED * singular.max(initial=0.0)]
    if 0 < kept.shape[0] < phi.size:
        arms, phi = arms @ kept.T, kept @ phi
    return Polytope(A=[], b=[], means=arms, theta=phi, **_common(instance))


def _generalized_linear(instance: Any) -> Polytope:
    """Observations of the index: its constraints are linear, only the gaps are those of g."""
    if instance.observes != "index":
        raise InputError("observes", "be index: the mean reward is not linear in phi")
    general = _linear(instance)
    general._set("own_gaps", np.asarray(instance.gaps))
    return general


def _combinatorial(instance: Any) -> Polytope:
    arms = np.asarray(instance.arms, dtype=np.float64) if instance.arms is not None else None
    if arms is None:
        raise InputError("arms", "be listed to be written as a polytope")
    if instance.feedback == "bandit":
        return _linear(instance)
    reveals = [np.flatnonzero(arm).tolist() for arm in arms]
    return Polytope(
        A=[], b=[], rewards=arms, reveals=reveals, theta=instance.phi, **_common(instance)
    )


def _lipschitz(instance: Any) -> Polytope:
    size = instance.n_arms
    rows, sides = [], []
    for x, y in product(range(size), repeat=2):
        if x != y:
            row = np.zeros(size)
            row[x], row[y] = 1.0, -1.0
            rows.append(row)
            sides.append(instance.metric[x, y])
    return Polytope(
        A=np.array(rows).reshape(-1, size), b=sides, theta=instance.theta, **_common(instance)
    )


def _unimodal(instance: Any) -> Union:
    """One piece for each way to climb: a best arm, and for every other arm the next one up."""
    size = instance.n_arms
    pieces = []
    for climb in _climbs(instance.neighbours):
        rows = np.zeros((size, size))
        for x, higher in enumerate(climb):
            if x != higher:
                rows[x, x], rows[x, higher] = instance.sign, -instance.sign
        moves = np.array([x != higher for x, higher in enumerate(climb)])
        pieces.append({"A": rows[moves], "b": np.zeros(int(moves.sum()))})
        if len(pieces) > MOST_PIECES:
            raise InputError("edges", f"allow at most {MOST_PIECES} ways to climb")
    return Union(pieces=pieces, theta=instance.theta, **_common(instance))


def _climbs(neighbours: tuple[tuple[int, ...], ...]) -> Iterator[list[int]]:
    """For each peak, the spanning trees of the graph with every arm's next one towards it."""
    size = len(neighbours)
    if size == 1:
        yield [0]
        return
    edges = [(x, y) for x in range(size) for y in neighbours[x] if x < y]
    trees = SpanningTrees(size, edges)
    for peak in range(size):
        for tree in trees.arms():
            climb = [-1] * size
            climb[peak] = peak
            reached = [peak]
            for x in reached:
                for edge in tree:
                    for here, there in (edges[edge], edges[edge][::-1]):
                        if here == x and climb[there] < 0:
                            climb[there] = x
                            reached.append(there)
            yield climb


def _dueling(instance: Any) -> Union:
    """One piece for each Condorcet winner, whose regrets hold there.

    The parameter: the preferences above the diagonal, and a 1 for the constants.
    """
    size = instance.n_items
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    place = {pair: k for k, pair in enumerate(pairs)}
    columns = len(pairs) + 1
    signed = instance.signed

    def wins(i: int, j: int) -> np.ndarray:
        row = np.zeros(columns)
        if i == j:
            row[-1] = 0.5
        elif i < j:
            row[place[i, j]] = 1.0
        else:
            row[place[j, i]], row[-1] = -1.0, 1.0
        return row

    half, one = np.zeros(columns), np.zeros(columns)
    half[-1], one[-1] = 0.5, 1.0
    arms = [(i, j) for i in range(size) for j in range(i, size)]
    pieces = []
    for winner in range(size):
        beaten = [half - wins(winner, j) for j in range(size) if j != winner]
        rewards = [-0.5 * (wins(winner, i) + wins(winner, j) - one) for i, j in arms]
        pieces.append(
            {
                "A": np.array(beaten).reshape(-1, columns),
                "b": np.zeros(size - 1),
                "A_eq": one[None],
                "b_eq": [1.0],
                "rewards": np.array(rewards),
            }
        )
    return Union(
        pieces=pieces,
        means=np.eye(columns)[:-1] if pairs else np.zeros((0, columns)),
        reveals=[[] if i == j else [place[i, j]] for i, j in arms],
        theta=[*(float(signed[pair]) for pair in pairs), 1.0],
        observation=instance.observation,
        name=instance.name,
    )

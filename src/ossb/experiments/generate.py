"""Families of random instances, each a function of its keys and a seed."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.fields import check_keys, choice, integer, number

Generator = Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]


def unit_arms(keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Linear instances with unit arms and parameters drawn uniformly from a cube.

    The paper's experiment has 81 arms in three dimensions and ten parameters in [0.2, 0.4]³; it
    does not print how the arms lie, so ``layout`` says: ``random`` on the sphere, a
    ``sphere_grid`` of 9 × 9 angles, or an ``orthant_grid`` of 9 × 9 angles with positive
    coordinates.  ``intercept`` adds a constant feature whose coefficient it is: the level of all
    rewards.
    """
    read = _Keys(keys, "unit_arms")
    layout = choice(read.take("layout", "random"), "layout", LAYOUTS)
    n_arms = integer(read.take("n_arms", 81), "n_arms", least=2)
    dimension = integer(read.take("dimension", 3), "dimension", least=2)
    count = integer(read.take("count", 10), "count", least=1)
    low, high = number(read.take("low", 0.2), "low"), number(read.take("high", 0.4), "high")
    seed = integer(read.take("seed", 0), "seed")
    sigma = number(read.take("sigma", 1.0), "sigma")
    intercept = read.take("intercept", None)
    read.finish()
    if not low < high:
        raise InputError("low", f"be below high, {high}", low)
    arms = LAYOUTS[layout](n_arms, dimension, np.random.default_rng([seed, 0]))
    level = [] if intercept is None else [number(intercept, "intercept")]
    if level:
        arms = np.column_stack([arms, np.ones(n_arms)])
    draws = np.random.default_rng([seed, 1])
    for _ in range(count):
        phi = draws.uniform(low, high, dimension)
        yield {
            "structure": "linear",
            "observation": "gaussian",
            "sigma": sigma,
            "arms": arms.tolist(),
            "phi": [*phi.tolist(), *level],
        }


def classical_means(keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Classical instances with means drawn uniformly from an interval."""
    read = _Keys(keys, "classical_means")
    n_arms = integer(read.take("n_arms", 10), "n_arms", least=2)
    count = integer(read.take("count", 10), "count", least=1)
    low, high = number(read.take("low", 0.0), "low"), number(read.take("high", 1.0), "high")
    observation = str(read.take("observation", "bernoulli"))
    seed = integer(read.take("seed", 0), "seed")
    noise = {} if (sigma := read.take("sigma", None)) is None else {"sigma": number(sigma, "sigma")}
    read.finish()
    rng = np.random.default_rng([seed, 2])
    for _ in range(count):
        theta = rng.uniform(low, high, n_arms)
        yield {
            "structure": "classical",
            "observation": observation,
            **noise,
            "theta": theta.tolist(),
        }


def arms_in_contexts(keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Linear instances in contexts, arms, parameters and how often contexts come drawn anew each.

    ``layout`` says how: ``factors``, contexts of two factors (devices and countries) of which each
    adds something to each arm, ``n_contexts`` the product of both; ``sphere``, unit arms of each
    context's own and a unit parameter, in ``dimension`` dimensions; ``slopes``, arms with a level,
    around ``level``, and a slope in a feature of the context.
    """
    read = _Keys(keys, "arms_in_contexts")
    layout = choice(read.take("layout", "factors"), "layout", CONTEXT_LAYOUTS)
    n_contexts = integer(read.take("n_contexts", 12), "n_contexts", least=1)
    n_arms = integer(read.take("n_arms", 4), "n_arms", least=2)
    dimension = integer(read.take("dimension", 6), "dimension", least=2)
    level = number(read.take("level", 3.0), "level")
    count = integer(read.take("count", 10), "count", least=1)
    seed = integer(read.take("seed", 0), "seed")
    sigma = number(read.take("sigma", 1.0), "sigma")
    read.finish()
    for place in range(count):
        rng = np.random.default_rng([seed, 3, place])
        found = CONTEXT_LAYOUTS[layout](n_contexts, n_arms, dimension, level, rng)
        for context, weight in zip(
            found["contexts"], rng.dirichlet(np.full(n_contexts, 2.0)).tolist(), strict=True
        ):
            context["weight"] = weight
        yield {"structure": "linear", "observation": "gaussian", "sigma": sigma, **found}


def _factors(
    n_contexts: int, n_arms: int, dimension: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    first = max(x for x in range(1, math.isqrt(n_contexts) + 1) if n_contexts % x == 0)
    second = n_contexts // first
    shown = np.eye(first + second)
    features = [shown[i] + shown[first + j] for i in range(first) for j in range(second)]
    return {
        "arms": np.eye(n_arms).tolist(),
        "interaction": "product",
        "contexts": [{"features": row.tolist()} for row in features],
        "phi": rng.uniform(0.0, 0.6, (first + second) * n_arms).tolist(),
    }


def _sphere(
    n_contexts: int, n_arms: int, dimension: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    own = [_random(n_arms, dimension, rng) for _ in range(n_contexts)]
    phi = rng.normal(size=dimension)
    return {
        "contexts": [{"arms": rows.tolist()} for rows in own],
        "phi": (phi / np.linalg.norm(phi)).tolist(),
    }


def _slopes(
    n_contexts: int, n_arms: int, dimension: int, level: float, rng: np.random.Generator
) -> dict[str, Any]:
    features = [[1.0, float(x)] for x in rng.uniform(-1.0, 1.0, n_contexts)]
    levels, slopes = level + rng.normal(0.0, 0.3, n_arms), rng.normal(0.0, 0.6, n_arms)
    return {
        "arms": np.eye(n_arms).tolist(),
        "interaction": "product",
        "contexts": [{"features": row} for row in features],
        "phi": [*levels.tolist(), *slopes.tolist()],
    }


def _random(n_arms: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    arms = rng.normal(size=(n_arms, dimension))
    return np.asarray(arms / np.linalg.norm(arms, axis=1, keepdims=True))


def _sphere_grid(n_arms: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    side = _side(n_arms, dimension)
    return _angles(
        np.linspace(0, math.pi, side + 2)[1:-1], np.linspace(0, 2 * math.pi, side, endpoint=False)
    )


def _orthant_grid(n_arms: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    side = _side(n_arms, dimension)
    inside = np.linspace(0.05, math.pi / 2 - 0.05, side)
    return _angles(inside, inside)


def _side(n_arms: int, dimension: int) -> int:
    side = math.isqrt(n_arms)
    if dimension != 3 or side * side != n_arms:
        raise InputError("layout", "be random unless the arms are a square number in 3 dimensions")
    return side


def _angles(polar: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    return np.array(
        [
            [math.sin(t) * math.cos(p), math.sin(t) * math.sin(p), math.cos(t)]
            for t in polar
            for p in azimuth
        ]
    )


LAYOUTS: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
    "random": _random,
    "sphere_grid": _sphere_grid,
    "orthant_grid": _orthant_grid,
}
CONTEXT_LAYOUTS: dict[str, Callable[..., dict[str, Any]]] = {
    "factors": _factors,
    "sphere": _sphere,
    "slopes": _slopes,
}
GENERATORS: dict[str, Generator] = {
    "unit_arms": unit_arms,
    "classical_means": classical_means,
    "arms_in_contexts": arms_in_contexts,
}


class _Keys:
    """Keys taken one by one; what is left over is an error."""

    def __init__(self, keys: Mapping[str, Any], generator: str) -> None:
        self._left = dict(keys)
        self._known: list[str] = []
        self._generator = generator

    def take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._left.pop(key, default)

    def finish(self) -> None:
        check_keys(self._left, self._known, f"a key of {self._generator}")

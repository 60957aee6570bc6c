"""Print the suite's instances that come from data sets shipped with scikit-learn.

    python tools/suite_data.py

Diabetes: patients as arms, their ten standardised measurements as features, progression within a
year (in hundreds, centred) as reward, the residual of least squares as noise.  Breast cancer:
tumours as arms, four standardised measurements and a constant, malignancy as reward.  Half of the
patients can be drawn for the open half, the other for the held-out one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression

MEASURED = [0, 1, 4, 8]  # radius, texture, smoothness, symmetry
HALVES = ("open", "held-out")


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def diabetes() -> Iterator[str]:
    found = load_diabetes()
    features, reward = standardised(found.data), (found.target - found.target.mean()) / 100.0
    phi = np.linalg.lstsq(features, reward, rcond=None)[0]
    keys = {"structure": "linear", "observation": "gaussian"}
    keys["sigma"] = round(float((reward - features @ phi).std()), 3)
    yield from _halves("linear-diabetes", keys, features, phi, 25)


def breast_cancer() -> Iterator[str]:
    found = load_breast_cancer()
    features = standardised(found.data[:, MEASURED])
    fitted = LogisticRegression(C=0.01).fit(features, 1 - found.target)
    features = np.column_stack([features, np.ones(len(features))])
    phi = np.append(fitted.coef_[0], fitted.intercept_)
    keys = {"structure": "generalized_linear", "observation": "bernoulli", "link": "logistic"}
    keys["observes"] = "reward"
    yield from _halves("logistic-breast-cancer", keys, features, phi, 20)


def _halves(
    name: str, keys: dict[str, Any], features: np.ndarray, phi: np.ndarray, count: int
) -> Iterator[str]:
    """An instance for each half, of rows that the other has not."""
    order = np.random.default_rng(0).permutation(len(features))
    for half, rows in zip(HALVES, (order[:count], order[count : 2 * count]), strict=True):
        suffix = "" if half == "open" else "-2"
        said = "\n".join(f"{key} = {value!r}".replace("'", '"') for key, value in keys.items())
        arms = "\n".join(f"    {_row(features[row])}," for row in rows)
        yield (
            f'[[instances]]\nname = "{name}{suffix}"\nhalf = "{half}"\n{said}\n'
            f"arms = [\n{arms}\n]\nphi = {_row(phi)}\n"
        )


def _row(values: np.ndarray) -> list[float]:
    return [round(float(value), 3) for value in values]


if __name__ == "__main__":
    print("\n".join([*diabetes(), *breast_cancer()]))

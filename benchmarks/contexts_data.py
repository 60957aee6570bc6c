"""Classification sets as bandits: features at the ask, beside MABWiser and river, in one run.

    python benchmarks/contexts_data.py [--rounds 1000] [--trials 5]

As usual (Bietti, Agarwal and Langford, 2021): a round shows a row of the set, an arm is a class,
and the reward is 1 if the row is of that class, else 0; regret is how often it was not.  Rows are
standardised, of their leading components at most eight are kept, and a constant is added; every arm
has a parameter of its own, which for this package are rows of one, the features in the arm's place.
Rows and their order are the same for every policy.  The sets are those shipped with scikit-learn:
without it, MABWiser or river, what needs them is left out and said so.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterator

import numpy as np

import ossb

COMPONENTS = 8
SIGMA = 0.5
OWN = (
    {"name": "hgl"},
    {"name": "lin-ucb"},
    {"name": "lin-ucb", "alpha": 1.0},
    {"name": "linear-thompson", "scale": "posterior"},
    {"name": "greedy"},
)
Choose = Callable[[np.ndarray], int]
Learn = Callable[[int, np.ndarray, float], None]


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    from sklearn import datasets

    for name in ("digits", "wine", "breast_cancer"):
        found = getattr(datasets, f"load_{name}")()
        rows = np.asarray(found.data, dtype=np.float64)
        spread = rows.std(axis=0)
        rows = (rows - rows.mean(axis=0))[:, spread > 0.0] / spread[spread > 0.0]
        left, sizes, _ = np.linalg.svd(rows, full_matrices=False)
        kept = left[:, :COMPONENTS] * sizes[:COMPONENTS]
        kept /= np.abs(kept).max()
        yield name, np.column_stack([kept, np.ones(len(kept))]), np.asarray(found.target)


def own(chosen: dict[str, object], n_arms: int, width: int, seed: int) -> tuple[Choose, Learn]:
    """A campaign in memory."""
    arms = np.eye(n_arms * width)[:n_arms]
    instance = ossb.Linear(arms=arms, sigma=SIGMA)
    campaign = ossb.Campaign.open("memory://", "data", instance=instance, policy=chosen, seed=seed)
    asked = []

    def choose(row: np.ndarray) -> int:
        (decision,) = campaign.ask(features=np.kron(np.eye(n_arms), row))
        asked.append(decision.id)
        return int(decision.arm)

    def learn(arm: int, row: np.ndarray, reward: float) -> None:
        campaign.tell(asked.pop(), reward)

    return choose, learn


def mabwiser(policy: str, n_arms: int, seed: int) -> tuple[Choose, Learn]:
    from mabwiser.mab import MAB, LearningPolicy

    kinds = {"LinUCB": LearningPolicy.LinUCB(alpha=1.0), "LinTS": LearningPolicy.LinTS(alpha=0.5)}
    bandit = MAB(list(range(n_arms)), kinds[policy], seed=seed)
    started = False

    def choose(row: np.ndarray) -> int:
        return int(bandit.predict([row])) if started else 0

    def learn(arm: int, row: np.ndarray, reward: float) -> None:
        nonlocal started
        (bandit.partial_fit if started else bandit.fit)([arm], [reward], [row])
        started = True

    return choose, learn


def river(n_arms: int, seed: int) -> tuple[Choose, Learn]:
    from river import bandit

    policy = bandit.LinUCBDisjoint(alpha=1.0, seed=seed)

    def named(row: np.ndarray) -> dict[str, float]:
        return {str(place): float(value) for place, value in enumerate(row)}

    def choose(row: np.ndarray) -> int:
        return int(policy.pull(list(range(n_arms)), context=named(row)))

    def learn(arm: int, row: np.ndarray, reward: float) -> None:
        policy.update(arm, named(row), reward)

    return choose, learn


def competitors(n_arms: int, width: int, seed: int) -> Iterator[tuple[str, Choose, Learn]]:
    for chosen in OWN:
        given = ",".join(f"{key}={value}" for key, value in chosen.items() if key != "name")
        yield f"{chosen['name']}{':' if given else ''}{given}", *own(chosen, n_arms, width, seed)
    if importlib.util.find_spec("mabwiser") is not None:
        for policy in ("LinUCB", "LinTS"):
            yield f"mabwiser {policy}", *mabwiser(policy, n_arms, seed)
    if importlib.util.find_spec("river") is not None:
        yield "river LinUCBDisjoint", *river(n_arms, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=5)
    given = parser.parse_args()
    for package in ("sklearn", "mabwiser", "river"):
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: what needs it is left out")
    if importlib.util.find_spec("sklearn") is None:
        return
    for name, rows, labels in sets():
        n_arms, width = int(labels.max()) + 1, rows.shape[1]
        wrong: dict[str, list[int]] = {}
        spent: dict[str, float] = {}
        for trial in range(given.trials):
            order = np.random.default_rng(trial).integers(len(rows), size=given.rounds)
            for label, choose, learn in competitors(n_arms, width, trial):
                started, missed = time.perf_counter(), 0
                for place in order:
                    arm = choose(rows[place])
                    reward = float(arm == labels[place])
                    learn(arm, rows[place], reward)
                    missed += reward == 0.0
                wrong.setdefault(label, []).append(missed)
                spent[label] = spent.get(label, 0.0) + time.perf_counter() - started
        print(f"\n{name}: {n_arms} arms, {width} features each, {given.rounds} rounds")
        for label, missed in sorted(wrong.items(), key=lambda item: float(np.mean(item[1]))):
            error = np.std(missed, ddof=1) / np.sqrt(len(missed)) if len(missed) > 1 else 0.0
            rounds = given.rounds * given.trials
            print(
                f"  {label:36s} wrong {np.mean(missed):7.1f} ± {error:5.1f}"
                f"   {1e3 * spent[label] / rounds:6.2f} ms a round",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""What a simulation found."""

from dataclasses import dataclass
from importlib import import_module  # figures stand above, and load matplotlib
from typing import Any, NamedTuple

import numpy as np

from ossb.families.bernoulli import bernoulli_kl
from ossb.graves_lai.answers import BEST, Answer
from ossb.graves_lai.bound import Bound
from ossb.simulation.by_context import MOST_SHOWN, InContext, by_context, is_told_apart
from ossb.tally import PHASES
from ossb.words import hint, rounded, spread


class Limit(NamedTuple):
    """What trials end at."""

    until: float  # δ
    epsilon: float
    characteristic_time: float | None  # T*(θ); None where there is none, or ε > 0
    constant: float | None  # C(θ); None likewise
    answer: Answer = BEST

    @property
    def least(self) -> float | None:
        """The least mean length of a test that is wrong with probability δ: T* kl(δ, 1 − δ)."""
        return least_of(self.characteristic_time, self.until)

    @property
    def least_regret(self) -> float | None:
        """The least mean regret of such a test, however long it takes: C(θ) kl(δ, 1 − δ)."""
        return least_of(self.constant, self.until)

    def to_dict(self) -> dict[str, Any]:
        return {
            "until": self.until,
            "epsilon": self.epsilon,
            **({} if self.answer.is_best else {"answer": self.answer.plain}),
            "characteristic_time": self.characteristic_time,
            "least_rounds": self.least,
            "least_regret": self.least_regret,
        }


def least_of(value: float | None, delta: float) -> float | None:
    """V kl(δ, 1 − δ): what a test that is wrong with probability δ costs at least, on average.

    The divergences that it gathers against any alternative are at least kl(δ, 1 − δ) (Kaufmann,
    Cappé and Garivier, 2016), so that its mean plays, divided by that, are feasible for V.
    """
    return None if value is None else value * bernoulli_kl(delta, 1.0 - delta)


class Stops(NamedTuple):
    """When the trials of a policy stopped."""

    rounds: np.ndarray  # int64 (trials,): after how many rounds, the horizon if they did not
    unfinished: np.ndarray  # bool (trials,)
    wrong: np.ndarray  # bool (trials,): whether with an arm that is not good enough

    def to_dict(self) -> dict[str, float]:
        return {
            "mean": float(self.rounds.mean()),
            "median": float(np.median(self.rounds)),
            "p90": float(np.quantile(self.rounds, 0.9)),
            "errors": float(self.wrong.mean()),
            "unfinished": float(self.unfinished.mean()),
        }


@dataclass(frozen=True, eq=False)
class PolicyResult:
    """One policy's trials on one instance."""

    policy: str
    parameters: dict[str, Any]
    checkpoints: np.ndarray  # int64 (n,)
    curves: np.ndarray  # float64 (trials, n): pseudo-regret of each trial
    plays: np.ndarray  # float64 (n_arms,): mean plays at the horizon, of ``arms`` if given
    phases: np.ndarray  # float64 (3,): mean rounds in each phase
    seconds: float  # CPU time of all rounds, compilation excluded
    compile_seconds: float
    arms: list[Any] | None = None  # those played, where arms are not listed
    stops: Stops | None = None  # where trials had an end
    title: str = ""  # what to call it, if not by its name and parameters

    @property
    def regret(self) -> np.ndarray:
        """Pseudo-regret of each trial at the horizon."""
        return self.curves[:, -1]

    @property
    def label(self) -> str:
        """What it is called: by default as it is written on a command line."""
        if self.title or not self.parameters:
            return self.title or self.policy
        return self.policy + ":" + ",".join(f"{k}={v}" for k, v in self.parameters.items())

    def to_dict(self, arms: list[Any]) -> dict[str, Any]:
        regret = self.regret
        rounds = self.checkpoints[-1] * regret.size
        if self.stops is not None:
            rounds = self.stops.rounds.sum()
        deviation = float(regret.std(ddof=1)) if regret.size > 1 else 0.0
        if self.arms is not None:
            arms = [_plain(arm) for arm in self.arms]
        return {
            "policy": self.policy,
            **({"label": self.title} if self.title else {}),
            "parameters": self.parameters,
            "regret": {
                "mean": float(regret.mean()),
                "std": deviation,
                "sem": deviation / float(np.sqrt(regret.size)),
                "median": float(np.median(regret)),
                "max": float(regret.max()),
            },
            "checkpoints": self.checkpoints.tolist(),
            "curve": self.curves.mean(axis=0).tolist(),
            "plays": [
                {"arm": arm, "plays": float(plays)}
                for arm, plays in zip(arms, self.plays, strict=True)
            ],
            "phases": dict(zip(PHASES, self.phases.tolist(), strict=True)),
            **({} if self.stops is None else {"stops": self.stops.to_dict()}),
            "timing": {
                "microseconds_per_round": 1e6 * self.seconds / float(rounds),
                "compile_seconds": self.compile_seconds,
            },
        }


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """All policies' trials on one instance, beside its lower bound."""

    instance: Any
    horizon: int
    trials: int
    seed: int
    bound: Bound | None
    policies: list[PolicyResult]
    limit: Limit | None = None

    def __getitem__(self, label: str) -> PolicyResult:
        for result in self.policies:
            if label in (result.label, result.policy):
                return result
        labels = [result.label for result in self.policies]
        near = hint(label, [*labels, *(result.policy for result in self.policies)])
        raise KeyError(f"{label!r} was not played{near}; these were: {', '.join(labels)}")

    def to_dict(self) -> dict[str, Any]:
        arms = [_plain(self.instance.arm_at(x)) for x in range(self.instance.n_arms or 0)]
        value = None if self.bound is None else self.bound.value
        found = self.by_context()
        return {
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
            **({} if self.instance.noise is None else {"sigma": self.instance.noise}),
            "lower_bound": {
                "value": value,
                "at_horizon": None if value is None else value * float(np.log(self.horizon)),
            },
            **({} if self.limit is None else self.limit.to_dict()),
            "policies": [
                result.to_dict(arms)
                | ({"contexts": [one._asdict() for one in found[result.label]]} if found else {})
                for result in self.policies
            ],
        }

    def by_context(self) -> dict[str, list[InContext]]:
        """For each policy the rounds and the regret of each context; empty where there is one."""
        if not is_told_apart(self.instance):
            return {}
        return {r.label: by_context(self.instance, r.plays) for r in self.policies}

    def context_table(self) -> str:
        """Mean regret at the horizon by context, as text; empty where there is one."""
        found = self.by_context()
        if not found:
            return ""
        names = [one.context for one in next(iter(found.values()))][:MOST_SHOWN]
        width = max(len("context"), *map(len, names))
        heads = "".join(f"  {label:>{max(10, len(label))}}" for label in found)
        lines = [f"{'context':{width}}{heads}"]
        for z, name in enumerate(names):
            cells = (
                f"  {rounded(some[z].regret):>{max(10, len(label))}}"
                for label, some in found.items()
            )
            lines.append(f"{name:{width}}" + "".join(cells))
        if self.instance.layout.n_contexts > MOST_SHOWN:
            lines.append(f"and {self.instance.layout.n_contexts - MOST_SHOWN} more")
        return "\n".join(lines)

    def table(self) -> str:
        """The regrets at the horizon, best first, as text."""
        rows = [
            (r.label, r.regret.mean(), _shown_error(r.regret), np.median(r.regret), r.regret.max())
            for r in sorted(self.policies, key=lambda r: float(r.regret.mean()))
        ]
        width = max(len(row[0]) for row in rows)
        if self.limit is not None:
            return "\n".join([*self._stops(self.limit, width), *self._noise()])
        lines = [f"{'policy':{width}}  {'mean':>10}  {'± sem':>8}  {'median':>10}  {'max':>10}"]
        lines += [
            f"{a:{width}}  {rounded(b):>10}  {c:>8}  {rounded(d):>10}  {rounded(e):>10}"
            for a, b, c, d, e in rows
        ]
        if self.bound is not None:
            at = self.bound.value * np.log(self.horizon)
            reading = "in the long run; early on, means may lie below"
            lines.append(f"lower bound C(θ) ln T = {at:.6g} {reading}")
        return "\n".join([*lines, *self._noise()])

    def _noise(self) -> list[str]:
        if self.instance.noise is None:
            return []
        return [f"gaussian observations with σ = {self.instance.noise:g}"]

    def _stops(self, limit: Limit, width: int) -> list[str]:
        """Rounds until the stop, quickest first, and the regret paid until then."""
        heads = ("mean", "median", "90 %", "errors", "unfinished", "regret")
        lines = [f"{'policy':{width}}" + "".join(f"  {head:>10}" for head in heads)]
        stopped = [(r, r.stops) for r in self.policies if r.stops is not None]
        for result, stops in sorted(stopped, key=lambda pair: float(pair[1].rounds.mean())):
            found = stops.to_dict()
            lines.append(
                f"{result.label:{width}}  {found['mean']:10.6g}  {found['median']:10.6g}"
                f"  {found['p90']:10.6g}  {found['errors']:10.2%}  {found['unfinished']:10.2%}"
                f"  {rounded(float(result.regret.mean())):>10}"
            )
        known = limit.answer.until(limit.epsilon)
        lines.append(f"rounds until {known} with confidence {1 - limit.until:.6g}")
        if limit.least is not None:
            least = f"{limit.least:.6g}, T*(θ) = {limit.characteristic_time:.6g}"
            lines.append(f"least mean of any such test: T* kl(δ, 1 − δ) = {least}")
        if limit.least_regret is not None:
            lines.append(
                f"least mean regret of one, however long: C(θ) kl(δ, 1 − δ) = "
                f"{limit.least_regret:.6g}"
            )
        return lines

    def plot(self, **options: Any) -> Any:
        """Draw mean regret over rounds; returns matplotlib axes.

        Options: ``policies`` (labels, in the order wanted), ``labels`` (label → legend),
        ``logarithmic`` (the bound as a slope), ``bound``, ``interval``, ``axes``, ``size``,
        ``style``, ``title``, ``legend``: see ``ossb.figures.axes.plot``.
        """
        return import_module("ossb.figures.axes").plot_simulation(self, **options)

    def _repr_html_(self) -> str:
        from ossb.simulation.card import card

        return card(self)

    def __repr__(self) -> str:
        return f"<SimulationResult horizon={self.horizon} trials={self.trials}>\n{self.table()}"


def _shown_error(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
    return spread(float(error), values.size)


def _plain(arm: Any) -> Any:
    return list(map(_plain, arm)) if isinstance(arm, tuple) else int(arm)

"""When trials of an experiment stopped, what they answered, and at what cost: as rows and texts."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ossb.experiments.cells import label_of
from ossb.experiments.definition import is_planned
from ossb.experiments.results import Results
from ossb.experiments.statistics import standard_error
from ossb.policies.own import own_parameters
from ossb.simulation.result import least_of
from ossb.words import counted, rounded, spread


@dataclass(frozen=True)
class StopRow:
    """One policy's tests in one group, those that did not end counted with the horizon."""

    group: str
    policy: str
    trials: int
    mean: float
    sem: float
    median: float
    p90: float
    errors: float  # share of trials that stopped with an answer that is not ε-good
    unfinished: float
    regret: float  # mean, paid until the stop
    regret_sem: float
    least_rounds: float  # T* kl(δ, 1 − δ), mean over the group; NaN where there is none
    least_regret: float  # C(θ) kl(δ, 1 − δ)


@dataclass(frozen=True)
class AnswerRow:
    """One policy's answers in one group after a number of rounds."""

    group: str
    policy: str
    t: int
    trials: int
    errors: float  # share of trials whose answer is not ε-good
    errors_sem: float
    simple_regret: float  # mean gap of the leader, or what an answer lacks
    simple_regret_sem: float


class Series(NamedTuple):
    """Answers of a policy: trials by looks."""

    looked: np.ndarray  # int64 (looks,)
    gaps: np.ndarray  # float64 (trials, looks)


def stopping_times(results: Results) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """For each (group, policy): rounds of every trial, and whether it stopped.

    Policies that were told how many rounds there are, and were played for each budget, are left
    out.
    """
    told = [policy for policy, parameters in planned(results)]
    return {
        (str(group), str(policy)): (
            np.array([looked[-1] for looked in part["looked"].to_list()]),
            part["stopped"].to_numpy(),
        )
        for (group, policy), part in results.trials.group_by(
            ["group", "policy"], maintain_order=True
        )
        if policy not in told
    }


def planned(results: Results) -> list[tuple[str, dict[str, Any]]]:
    """Labels and parameters of policies that were played for each budget on its own."""
    experiment = results.experiment
    return [
        (experiment.label(place) or label_of(name, own_parameters(name, parameters)), parameters)
        for place, (name, parameters) in enumerate(experiment.policies)
        if is_planned(name) and parameters.get("horizon") in experiment.budgets
    ]


def stop_rows(results: Results) -> list[StopRow]:
    """Every group and policy, quickest first within a group; none where trials have no end."""
    experiment, found = results.experiment, []
    if not experiment.until:
        return []
    delta, quiet = experiment.until, experiment.epsilon > 0.0 or not experiment.answer.is_best
    for (group, policy), (rounds, stopped) in stopping_times(results).items():
        part = _part(results, group, policy)
        last = np.array([gaps[-1] for gaps in part["gaps"].to_list()])
        wrong = stopped & (last > experiment.epsilon)
        regret = results.curves[group, policy][1][:, -1]
        constant = math.nan if quiet else results.constants[group]
        found.append(
            StopRow(
                group,
                policy,
                rounds.size,
                float(rounds.mean()),
                float(standard_error(rounds)),
                float(np.median(rounds)),
                float(np.quantile(rounds, 0.9)),
                float(wrong.mean()),
                float(1.0 - stopped.mean()),
                float(regret.mean()),
                float(standard_error(regret)),
                _known(least_of(results.characteristic_times[group], delta)),
                _known(least_of(constant, delta)),
            )
        )
    order = {group: i for i, group in enumerate(results.constants)}
    return sorted(found, key=lambda row: (order[row.group], row.mean))


def answers(results: Results) -> dict[tuple[str, str], Series]:
    """For each (group, policy): the gap of the leader after each budget.

    A policy that is told how many rounds there are was played for each budget on its own, and is
    one series here.
    """
    found: dict[tuple[str, str], Series] = {}
    budgets = np.array(results.experiment.budgets, dtype=np.int64)
    if not budgets.size:
        return found
    parts: dict[tuple[str, str], list[tuple[int, np.ndarray]]] = {}
    told = dict(planned(results))
    for place, (name, parameters) in enumerate(results.experiment.policies):
        own = own_parameters(name, parameters)
        label = results.experiment.label(place) or label_of(name, own)
        for group in results.groups:
            part = _part(results, group, label)
            if part.is_empty():
                continue
            gaps = np.array([row[:-1] for row in part["gaps"].to_list()])
            if label in told:
                at = int(np.searchsorted(budgets, parameters["horizon"]))
                others = {k: v for k, v in own.items() if k != "horizon"}
                series = results.experiment.label(place).rpartition(", ")[0]
                key = group, series or label_of(name, others)
                parts.setdefault(key, []).append((int(budgets[at]), gaps[:, at]))
            else:
                found[group, label] = Series(budgets, gaps)
    for key, played in parts.items():
        played.sort(key=lambda part: part[0])
        if len({gaps.size for _, gaps in played}) == 1:
            times = np.array([t for t, _ in played])
            found[key] = Series(times, np.column_stack([gaps for _, gaps in played]))
    return found


def answer_rows(results: Results) -> list[AnswerRow]:
    """Every group, policy and budget, fewest errors first within a group and budget."""
    epsilon, found = results.experiment.epsilon, []
    for (group, policy), series in answers(results).items():
        for t, gaps in zip(series.looked.tolist(), series.gaps.T, strict=True):
            wrong = (gaps > epsilon).astype(float)
            found.append(
                AnswerRow(
                    *(group, policy, t, gaps.size),
                    *(float(wrong.mean()), float(standard_error(wrong))),
                    *(float(gaps.mean()), float(standard_error(gaps))),
                )
            )
    order = {group: i for i, group in enumerate(results.constants)}
    return sorted(found, key=lambda row: (order[row.group], row.t, row.errors, row.simple_regret))


def as_csv(rows: Sequence[StopRow | AnswerRow]) -> str:
    """Rows of one kind, with a head."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if rows:
        writer.writerow([field.name for field in fields(rows[0])])
    writer.writerows([astuple(row) for row in rows])
    return buffer.getvalue()


def stops_as_text(rows: Sequence[StopRow], until: float, known: str) -> str:
    """The tests for a terminal."""
    if not rows:
        return ""
    width = max(len(row.policy) for row in rows)
    lines = [f"rounds until {known}, sure to {1.0 - until:.6g}"]
    for place, row in enumerate(rows):
        if place == 0 or rows[place - 1].group != row.group:
            lines += ["", f"{row.group}, {counted(row.trials, 'trial')}{floors(row)}"]
            lines.append(
                f"  {'policy':{width}}  {'mean':>10} {'± sem':>8} {'median':>10} {'90 %':>10} "
                f"{'errors':>8} {'unfinished':>10} {'regret':>9}"
            )
        lines.append(
            f"  {row.policy:{width}}  {row.mean:10,.0f} {spread(row.sem, row.trials):>8} "
            f"{row.median:10,.0f} {row.p90:10,.0f} {row.errors:8.2%} {row.unfinished:10.2%} "
            f"{rounded(row.regret):>9}"
        )
    return "\n".join(lines)


def floors(row: StopRow) -> str:
    """What no such test stays below, on average, after a comma; empty where that is not known."""
    said = ""
    if not math.isnan(row.least_rounds):
        said += f", T* kl(δ, 1 − δ) = {rounded(row.least_rounds)}"
    if not math.isnan(row.least_regret):
        said += f", C(θ) kl(δ, 1 − δ) = {rounded(row.least_regret)}"
    return said


def answers_as_text(rows: Sequence[AnswerRow]) -> str:
    """Errors and simple regret by budget for a terminal."""
    if not rows:
        return ""
    width = max(len(row.policy) for row in rows)
    lines = ["share of wrong answers, and mean gap of the answer, after a number of rounds"]
    place: tuple[str, int] | None = None
    for row in rows:
        if (row.group, row.t) != place:
            place = (row.group, row.t)
            lines += ["", f"{row.group}, t = {row.t:,}, {counted(row.trials, 'trial')}"]
        lines.append(
            f"  {row.policy:{width}}  {row.errors:8.2%} ± {row.errors_sem:<8.2%}"
            f"{row.simple_regret:10.4g} ± {spread(row.simple_regret_sem, row.trials)}"
        )
    return "\n".join(lines)


def _part(results: Results, group: str, policy: str) -> Any:
    trials = results.trials
    part = trials.filter((trials["group"] == group) & (trials["policy"] == policy))
    return part.sort("instance", "trial")


def _known(value: float | None) -> float:
    return math.nan if value is None else value

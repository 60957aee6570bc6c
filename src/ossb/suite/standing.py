"""The frozen rows beside each other."""

from ossb.suite.card import aligned
from ossb.suite.definition import HALVES, Suite
from ossb.suite.frozen import Frozen
from ossb.suite.score import Entry, Score, entry, score


def standing(version: Suite, rows: Frozen) -> list[Score]:
    """The score of each frozen policy: those that played most instances first, then the best."""
    policies = dict.fromkeys(line.policy for line in rows.lines)
    scores = [
        score(version, rows, [line for line in rows.lines if line.policy == policy])
        for policy in policies
    ]
    return sorted(scores, key=_order)


def of_instance(version: Suite, rows: Frozen, instance: str) -> list[tuple[str, str, Entry]]:
    """Policy, digest and numbers of each frozen row of an instance, the best first."""
    return [(line.policy, line.digest, entry(version, rows, line)) for line in rows.of(instance)]


def standing_text(scores: list[Score]) -> str:
    """The standing for a terminal."""
    return "\n\n".join(
        "\n".join([f"{half}:", *aligned([HEADS, *rows(scores, half)])]) for half in HALVES
    )


HEADS = ("policy", "instances", "geometric mean", "interquartile mean", "largest", "where")


def rows(scores: list[Score], half: str) -> list[tuple[str, ...]]:
    """A row for each policy that played in a half: regret over the least of the frozen rows."""
    return [
        (
            found.policy,
            str(one.instances),
            str(one.geometric),
            str(one.middle),
            f"{one.worst_ratio:.3g}",
            one.worst,
        )
        for found in scores
        for one in found.halves
        if one.half == half
    ]


def _order(found: Score) -> tuple[int, float]:
    played = sum(half.instances for half in found.halves)
    return -played, found.halves[0].geometric.value

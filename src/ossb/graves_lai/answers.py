"""What a test is asked for: the best arm, the m best ones, or the arms whose means exceed a level.

What is to be told apart follows from it.  For the best arms, any one of them from any other; for a
level, every arm from the level.  Under an alternative at least one such pair changes sides.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ossb import fields as read
from ossb.errors import InputError

MUST = 'be "best", {"top": m} or {"above": level}'
LEVEL = -1  # in the place of an arm
Plain = str | dict[str, int] | dict[str, float]


class Aim(NamedTuple):
    """An answer in the sign in which more is better."""

    top: int  # how many of the best arms; 0 where a level is asked about
    level: float

    def lack(self, inside: np.ndarray, rewards: np.ndarray) -> float:
        """By how much the arm that stands farthest on the wrong side does; 0 where none does."""
        if self.top == 0:
            beyond = np.where(inside, self.level - rewards, rewards - self.level)
            return max(0.0, float(beyond.max()))
        least = np.sort(rewards)[rewards.size - self.top]
        return max(0.0, float(least - rewards[inside].min()))


@dataclass(frozen=True)
class Answer:
    """A question about all arms that has one right answer, but for ties.

    Parameters
    ----------
    top
        How many of the best arms are asked for.
    above
        The level, in the user's sign, that means are to exceed; None where the best are asked for.
    """

    top: int = 1
    above: float | None = None

    @property
    def is_best(self) -> bool:
        """Whether the one best arm is asked for."""
        return self.above is None and self.top == 1

    @property
    def plain(self) -> Plain:
        """The answer as users write it."""
        if self.above is not None:
            return {"above": self.above}
        return "best" if self.top == 1 else {"top": self.top}

    def out_of_range(self) -> tuple[str, float] | None:
        """The level, and its field, where it is too small or large for a proof."""
        return read.extreme(self.above, "answer.above")

    def aim(self, sign: float) -> Aim:
        """What is asked for, of rewards that carry a sign."""
        return Aim(self.top, math.nan) if self.above is None else Aim(0, sign * self.above)

    def leading(self, rewards: np.ndarray, sign: float) -> list[int]:
        """The arms on the better side, the lowest numbers where arms are level."""
        if self.above is not None:
            return np.flatnonzero(rewards > sign * self.above).tolist()
        return sorted(np.argsort(-rewards, kind="stable")[: self.top].tolist())

    def chosen(self, rewards: np.ndarray, sign: float) -> list[int]:
        """The answer: of a level the arms above it, which are the worse ones of costs."""
        found = self.leading(rewards, sign)
        if self.above is None or sign > 0.0:
            return found
        return np.flatnonzero(rewards < sign * self.above).tolist()

    def pairs(self, rewards: np.ndarray, sign: float) -> list[tuple[int, int]]:
        """What is to be told apart: the better of two, and the worse; ``LEVEL`` is the level."""
        inside = self.leading(rewards, sign)
        outside = sorted(set(range(rewards.size)) - set(inside))
        if self.above is None:
            return [(high, low) for high in inside for low in outside]
        return [(high, LEVEL) for high in inside] + [(LEVEL, low) for low in outside]

    def picked(self, inside: np.ndarray, sign: float) -> list[int]:
        """The answer, from who stands on the better side."""
        above = self.above is None or sign > 0.0
        return np.flatnonzero(inside if above else ~inside).tolist()

    def stated(self, names: Sequence[str], level: str) -> str:
        """The answer in words, of arms by their names and the level as users say it."""
        listed = listed_in_words(names)
        if self.above is None:
            return f"the {self.top} best arms are {listed}"
        if len(names) < 2:
            return f"{listed or 'no arm'} {'alone ' if names else ''}is above {level}"
        return f"{listed} are above {level}"

    def until(self, epsilon: float) -> str:
        """What is the case when a test ends."""
        if self.is_best:
            good = "best" if not epsilon else f"within {epsilon:g} of the best"
            return f"the leader is {good}"
        return f"{self.sought(epsilon)}{',' if epsilon else ''} are known"

    def sought(self, epsilon: float) -> str:
        """What a test is to find."""
        if self.is_best:
            return f"an arm within {epsilon:g} of the best" if epsilon else "the best arm"
        what = f"the {self.top} best arms" if self.above is None else f"arms above {self.above:g}"
        return what + (f", to within {epsilon:g}" if epsilon else "")

    def said(self, names: Sequence[str]) -> str:
        """What was found, of arms by their names."""
        listed = ", ".join(names) or "none"
        if self.above is not None:
            return f"arms above {self.above:g}: {listed}"
        return f"the {self.top} best arms: {listed}"


BEST = Answer()


def read_question(value: Any) -> Answer:
    """The answer that a user's value stands for, whatever the arms."""
    if isinstance(value, Answer):
        answer = value
    elif value is None or value == "best":
        answer = BEST
    elif isinstance(value, Mapping) and list(value) == ["top"]:
        answer = Answer(read.integer(value["top"], "answer.top", least=1))
    elif isinstance(value, Mapping) and list(value) == ["above"]:
        answer = Answer(0, read.number(value["above"], "answer.above"))
    else:
        raise InputError("answer", MUST, value)
    return BEST if answer.is_best else answer


def read_answer(value: Any, n_arms: int | None) -> Answer:
    """What a user's value asks for, of an instance's arms.

    Parameters
    ----------
    n_arms
        Number of listed arms, None where they are not listed.
    """
    answer = read_question(value)
    if answer.is_best:
        return answer
    if n_arms is None:
        raise InputError("answer", "be best: the arms are not listed", answer.plain)
    if answer.above is None and answer.top >= n_arms:
        raise InputError("answer.top", f"be below the number of arms, {n_arms}", answer.top)
    return answer


def answer_of(top: int | None, above: float | None) -> Any:
    """The answer that two options ask for, of which at most one is given."""
    if top is not None and above is not None:
        raise InputError("above", "be left out beside top: a test has one answer", above)
    if above is not None:
        return {"above": above}
    return "best" if top is None else {"top": top}


def listed_in_words(names: Sequence[str]) -> str:
    """Names as one says them."""
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last

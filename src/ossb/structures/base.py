"""What every structure shares: the common keys of an instance, and the shape of the rest.

A structure class is an instance: what is known of the arms, how they are observed, and the
true parameter where there is one.  Structures share these common keys and no behaviour; what
each of them answers is ``Structure``.

Inside, every goal is to maximise: with ``goal = "minimize"`` rewards, means and observations
carry the sign −1, and the family is the mirrored one.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np

from ossb import fields as read
from ossb.errors import CertificationError, InputError
from ossb.families import FAMILIES, Family, family_named
from ossb.graves_lai.answers import BEST, Answer, read_answer
from ossb.graves_lai.bound import Bound, Bounded, problem_of
from ossb.graves_lai.cost import Cost, read_cost
from ossb.graves_lai.proof import FEASIBLE, Arm, Ball, ProofError, judge, prove
from ossb.numerics.ties import tied
from ossb.structures.roster import Roster

__all__ = ["Arm", "Bound", "Instance", "Structure", "bound", "clear_best", "refuse_twins"]

ALL_COST = "be samples, a positive number, or a price for each arm"
LARGE = 2_000_000  # numbers in a list of arms beyond which an answer is checked on request only
UNCHECKED = 1e-12  # share by which the sides of such an answer are moved out


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance(Roster):
    """The common keys."""

    kind: ClassVar[str]
    parameter: ClassVar[str]  # the key of the true parameter
    observations: ClassVar[tuple[str, ...]]  # families that fit
    offers: ClassVar[tuple[str, ...]] = ()  # what policies may need, see ``structures.offers``
    has_contexts: ClassVar[bool] = False  # whether who asks decides which arms there are
    has_segments: ClassVar[bool] = False  # whether these are instances that share nothing
    witnessed: ClassVar[bool] = True  # False where confusing parameters rest on a user's word
    reference: ClassVar[str]

    observation: str = "gaussian"
    sigma: float = 1.0
    goal: str = "maximize"
    name: str = ""
    arm_names: Sequence[str] = ()
    note: str = ""
    reward_unit: str = ""

    def __new__(cls, *unnamed: Any, **keys: Any) -> Self:
        """Refuse an unknown key with the nearest right one; ``__init__`` takes the others."""
        if unnamed:
            must = f"be given its keys by name, such as {cls.parameter}=…"
            raise InputError(cls.__name__, must, unnamed[0])
        structure: Any = cls
        if "segments" in keys:
            from ossb.structures.segments import segmented  # which derives from this class

            found: Any = segmented(structure, keys)
            return cast(Self, found)  # a whole instance of its own: nothing more is done to it
        known = keys_of(structure)
        if not keys.keys() <= known.keys():
            read.check_keys(keys, known, f"a key of {cls.kind}")
        instance = super().__new__(cls._of_keys(keys))
        instance._set("_has_sigma", "sigma" in keys)
        return instance

    @classmethod
    def _of_keys(cls, keys: dict[str, Any]) -> type[Self]:
        """The class of an instance with these keys: one derived from this where they say so."""
        return cls

    def _read_common(self, n_arms: int | None) -> None:
        """Check the common keys; called first by every structure."""
        read.choice(self.goal, "goal", ("maximize", "minimize"))
        read.choice(self.observation, "observation", FAMILIES)
        if self.observation not in self.observations:
            fit = ", ".join(self.observations)
            raise InputError("observation", f"be one of {fit} for {self.kind}", self.observation)
        sigma = read.number(self.sigma, "sigma")
        if self.observation != "gaussian" and sigma != 1.0:
            raise InputError("sigma", "be left out: it belongs to gaussian observations", sigma)
        self._set("sigma", sigma)
        for key in ("name", "note", "reward_unit"):
            read.text(getattr(self, key), key)
        names = read.names(self.arm_names, "arm_names")
        if names and n_arms is None:
            raise InputError("arm_names", "be left out: the arms are not listed")
        if names:
            read.names(names, "arm_names", n_arms)
        self._set("arm_names", names)
        _ = self.family  # refuses a bad sigma here

    @property
    def noise(self) -> float | None:
        """The σ of Gaussian observations, given or not; None where there is none."""
        return self.sigma if self.observation == "gaussian" else None

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)

    @property
    def sign(self) -> float:
        return -1.0 if self.goal == "minimize" else 1.0

    @cached_property
    def family(self) -> Family:
        """The observation family, mirrored where the goal is to minimise."""
        return family_named(self.observation, self.sigma, self.sign)

    @property
    def plain_family(self) -> Family:
        """The family in the user's own sign, in which errors are reported."""
        return family_named(self.observation, self.sigma)

    @property
    def known(self) -> bool:
        """Whether the true parameter is given."""
        return getattr(self, self.parameter) is not None

    @property
    def observed_family(self) -> Family:
        """The family of what is observed, in the sign in which components are kept."""
        return self.family

    @property
    def observed_sign(self) -> float:
        """The sign that turns an observation into a value of its component."""
        return self.sign

    def best_arms(self) -> list[Arm]:
        """The best arm, or, where there are contexts, that of each."""
        return [self.best_arm()]  # type: ignore[attr-defined]

    def shows_rewards(self) -> bool:
        """Whether component x is the reward of arm x, signed so that more is better."""
        return True

    def showing(self) -> list[list[int]]:
        """The components that each listed arm shows."""
        shown: list[list[int]] = self.reveals()  # type: ignore[attr-defined]
        return shown

    def component_count(self) -> int:
        """How many components there are, those that no arm shows included."""
        return 1 + max(max(shown, default=-1) for shown in self.showing())

    def out_of_range(self) -> tuple[str, float] | None:
        """A number of the instance, and its field, that is too small or large for a proof."""
        given = ((item.name, getattr(self, item.name)) for item in fields(self))
        found = (read.extreme(value, name) for name, value in given)
        return next((one for one in found if one is not None), None)

    @property
    def may_certify(self) -> bool:
        """Whether a bound may be called certified: not where a search may have missed."""
        return True

    def unprojected(self) -> str | None:
        """Why no maximum-likelihood projection is at hand; None where there is one."""
        return None

    def tested(self) -> Any:
        """The model whose likelihood ratios say when to stop.

        One of a larger set of parameters does as well, and takes longer: more alternatives can
        only make the least ratio smaller.
        """
        return self.model() if hasattr(self, "model") else None

    def weighing(self) -> Any:
        """The model that the default policy plays by."""
        return self.model()  # type: ignore[attr-defined]

    @classmethod
    def solve_list(cls, instances: Sequence[Any], gap: float) -> list[Bound | None]:
        """Bounds of several instances at once, where that is quicker; None for one by one."""
        return [None] * len(instances)

    def exact_cost(self, arm: Arm) -> Ball:
        """Δ(x): here nothing but regret counts."""
        return self.exact_gap(arm)  # type: ignore[attr-defined]

    def is_rival(self, arm: Arm) -> bool:
        """Whether an alternative may be about an arm: it is surely worse than the best one."""
        structure: Any = self
        return bool(arm != structure.best_arm() and structure.exact_gap(arm) > 0)

    def priced(self, cost: Cost) -> Any:
        """The program in which plays have other costs than regret: it solves and proves."""
        raise InputError("cost", f"be regret for {self.kind} instances of this kind", cost.plain)

    def answered(self, cost: Cost, answer: Answer) -> Any:
        """The program of a test that is asked for more than the best arm."""
        raise InputError("answer", f"be best for {self.kind} instances of this kind", answer.plain)

    def arm_name(self, arm: Arm) -> str:
        """How an arm is called: its name, or its number."""
        if isinstance(arm, int) and len(self.arm_names):
            return self.arm_names[arm]
        return str(list(arm)) if isinstance(arm, tuple) else str(arm)

    def to_dict(self) -> dict[str, Any]:
        """The instance as its file holds it; keys at their defaults are left out.

        But not a ``sigma`` that was given: one that was not is no more than assumed.
        """
        content: dict[str, Any] = {"structure": self.kind}
        has_sigma = self.noise is not None and self.__dict__["_has_sigma"]
        for item in fields(self):
            value = getattr(self, item.name)
            plain = value.tolist() if isinstance(value, np.ndarray) else value
            if isinstance(plain, tuple):
                plain = list(plain)
            said = item.name == "observation" or (item.name == "sigma" and has_sigma)
            if plain is not None and (said or plain != item.default):
                content[item.name] = plain
        if not len(self.arm_names):
            content.pop("arm_names", None)
        return content

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<{type(self).__name__}{name} {self.observation}>"


@cache
def keys_of(structure: Any) -> dict[str, None]:
    """The keys of a structure, in their order."""
    return dict.fromkeys(item.name for item in fields(structure) if item.init)


@cache
def required_keys(structure: Any) -> list[str]:
    """The keys without which there is no instance of a structure."""
    return [
        item.name
        for item in fields(structure)
        if item.init and item.default is MISSING and item.default_factory is MISSING
    ]


class Structure(Bounded, Protocol):
    """What every structure answers, beyond what its proofs need."""

    kind: ClassVar[str]
    parameter: ClassVar[str]
    observations: ClassVar[tuple[str, ...]]
    reference: ClassVar[str]

    @property
    def family(self) -> Family: ...

    @property
    def known(self) -> bool: ...

    def solve(self, gap: float) -> Bound:
        """The bound at the true parameter, to a relative gap."""
        ...

    @classmethod
    def solve_list(cls, instances: Sequence[Any], gap: float) -> list[Bound | None]:
        """Bounds of several instances at once, where that is quicker; None for one by one."""
        ...

    def to_dict(self) -> dict[str, Any]: ...


def bound(
    instance: Structure, gap: float = 1e-6, cost: Any = "regret", answer: Any = "best"
) -> Bound:
    """C(θ) and the rates c(x, θ) of an instance, certified to a relative gap.

    Parameters
    ----------
    gap
        How far apart the two sides may be, relative to the value.
    cost
        What a play costs: ``"regret"``; ``"samples"``, of which the value is the characteristic
        time T*(θ) and the rates' shares w* how a test would best play; a number c, regret + c per
        sample; or a price for each arm.
    answer
        What a test is asked for: ``"best"``, the best arm; ``{"top": m}``, the m best ones;
        ``{"above": level}``, the arms whose means exceed a level.  The last two where every play
        costs something, for classical and linear arms.

    Raises
    ------
    CertificationError
        Where the two sides could not be brought that close, unless the structure says that its
        answer is heuristic, and where the answer does not pass ``verify``, which all answers
        have to but those on millions of numbers and those that were proved as they were
        computed, every rounding error bounded (``proved``).

    Examples
    --------
    >>> import ossb
    >>> arms = ossb.Classical(observation="bernoulli", theta=[0.5, 0.6, 0.7])
    >>> round(ossb.bound(arms).value, 6)
    6.722414
    >>> round(ossb.bound(arms, cost="samples").value, 2)
    194.78
    """
    gap = readable_gap(gap)
    refuse_unknown(instance)
    read.refuse_extreme(instance.out_of_range())
    asked = read_answer(answer, instance.n_arms)
    read.refuse_extreme(asked.out_of_range())
    counted = cost_of(instance, cost, asked)
    read.refuse_extreme(counted.out_of_range())
    started = time.perf_counter()
    try:
        found = problem_of(instance, counted, asked).solve(gap)
    except ProofError as error:
        raise CertificationError(f"the answer cannot be proved: {error}") from None
    seconds = time.perf_counter() - started
    found = replace(found, seconds=seconds, promised=gap, cost=counted, answer=asked)
    if not math.isfinite(found.upper):
        raise CertificationError(
            f"no upper side of {counted.symbol} that doubles hold was proved: {found!r}"
        )
    if found.status == "certified" and not found.gap <= gap:
        raise CertificationError(
            f"the bound lies in [{found.lower!r}, {found.upper!r}], a relative gap of "
            f"{found.gap:.1e}; {gap:.1e} was asked for"
        )
    if _is_checked(found):
        return _proved(found, gap)
    if found.proved:
        return found
    # not checked here: room for what doubles round
    return replace(
        found, lower=found.lower * (1.0 - UNCHECKED), upper=found.upper * (1.0 + UNCHECKED)
    )


def _proved(answer: Bound, gap: float) -> Bound:
    """The answer with its interval rounded outward to what its proof gives."""
    problem = answer.problem
    report = prove(problem, answer.support, answer.alternatives, answer.multipliers)
    if 1.0 - gap < report.information < 1.0 - 0.5 * FEASIBLE:
        # what multipliers prove of rates is a little less than what these tell
        more = (1.0 + 0.5 * FEASIBLE) / report.information
        support = [(arm, rate * more) for arm, rate in answer.support]
        answer = replace(answer, support=support, upper=answer.upper * more)
        report = prove(problem, answer.support, answer.alternatives, answer.multipliers)
    lower = min(report.lower, answer.lower)
    upper = max(report.upper, report.cost)
    # a proof that falls short by more than the gap is none of this answer, which then fails
    lower = lower if lower >= answer.lower * (1.0 - gap) else answer.lower
    upper = upper if upper <= answer.upper * (1.0 + gap) else answer.upper
    answer = replace(answer, lower=lower, upper=upper)
    problems = judge(problem, report, lower, upper, answer.status, gap).problems
    if problems and answer.status == "certified" and answer.instance.witnessed:
        raise CertificationError(f"the answer does not pass its own check: {problems[0]}")
    return answer


def cost_of(instance: Any, cost: Any, answer: Answer = BEST) -> Cost:
    """What a play of an instance costs, checked."""
    n_arms = instance.n_arms
    if not answer.is_best:  # of several best arms, and none may be free
        counted = read_cost(cost, n_arms, [])
        if counted.is_regret:
            raise InputError("cost", f"{ALL_COST}, with answer {answer.plain}", counted.plain)
        return counted
    bests = [] if n_arms is None else [instance.position(arm) for arm in instance.best_arms()]
    return read_cost(cost, n_arms, bests)


def readable_gap(gap: Any) -> float:
    """A relative gap."""
    gap = read.number(gap, "gap")
    if not 0 < gap < 1:
        raise InputError("gap", "lie in (0, 1)", gap)
    return gap


def refuse_unknown(instance: Any) -> None:
    """Refuse what is no instance, or one without its true parameter."""
    if not hasattr(instance, "known"):
        raise InputError(
            "instance", "be a structure such as Classical(…); load reads a file", instance
        )
    if not instance.known:
        raise InputError(instance.parameter, "be given: a bound is about a true parameter")


def _is_checked(answer: Bound) -> bool:
    """Whether a check is called for, and quick beside the solve; larger ones are on request."""
    arms = getattr(answer.instance, "arms", None)
    small = not isinstance(arms, np.ndarray) or arms.size <= LARGE
    return small and not answer.proved


def refuse_twins(instance: Instance, arms: np.ndarray, leader: int) -> None:
    """Refuse a listed arm that is the same as the best one."""
    for arm in np.flatnonzero((arms == arms[leader]).all(axis=1)):
        if arm != leader:
            raise InputError(
                f"arms[{int(arm)}]",
                f"differ from the best arm, {instance.arm_name(leader)}: two best arms, and "
                "C(θ) is undefined",
            )


def clear_best(instance: Instance, rewards: np.ndarray, terms: np.ndarray | None = None) -> int:
    """Index of the best of the listed arms; two best arms are refused by name.

    ``terms`` are those of ``terms_of``, where rewards are sums.
    """
    best = int(np.argmax(rewards))
    ties = tied(rewards, terms)
    if ties.size > 1:
        first, second = (instance.arm_name(int(arm)) for arm in ties[:2])
        raise InputError(
            instance.parameter,
            f"have one best arm: arms {first} and {second} are both best, and C(θ) is undefined",
            float(instance.sign * rewards[best]),
        )
    return best

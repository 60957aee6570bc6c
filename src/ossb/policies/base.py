"""What a policy is, and what is known of one before it is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.random import Generator

from ossb.errors import InputError
from ossb.fields import check_keys, number, text
from ossb.structures.base import Instance
from ossb.structures.segments import Segmented, refuse_segments
from ossb.tally import Decision, Tally
from ossb.words import hint

MOST_EXACT = 2**53


class Policy(Protocol):
    """A record that decides; all it remembers stands in its memory."""

    def start(self) -> Any:
        """A fresh memory: a named tuple of plain arrays (Python only)."""
        ...

    def select(self, tally: Tally, memory: Any, rng: Generator) -> Decision:
        """The next arm. Reads the tally and leaves it as it is; may change the memory."""
        ...


@dataclass(frozen=True)
class Kind:
    """A policy by name: what it fits, what can be set, how it is made.

    Parameters
    ----------
    build
        Makes the policy of an instance and parameters.
    parameters
        What can be set, with the values it has by itself.
    needs
        What a structure has to offer, all of it (``ossb.structures.offers``).
    structures
        Kinds of structures that it fits by name, whatever they offer.
    fits
        Says why an instance of such a structure does not fit; None where it does.
    switches
        Those of the parameters that are true or false where they are not left to the policy.
    mixed
        Those of the parameters that are a word or a number, which the policy reads by itself.
    suits
        Says why its defaults do not fit an instance that others of its parameters fit.
    remembers
        Whether its memory holds more than work saved, such as a plan or the arms left.
    breaks
        The symmetries that its own definition does not keep, each with why; a family or structure
        in brackets, as in "units (exponential)", says where alone.
    by_numbers
        Whether it reads the tally number by number, and divides by none that may be 0: where its
        steps are interpreted they are then given numbers of Python's, in a third of the time.
    in_contexts
        Whether it plays arms in contexts: its ``choose`` decides among the rows of the present one.
    """

    name: str
    build: Callable[..., Any]
    parameters: Mapping[str, Any]
    reference: str
    needs: tuple[str, ...] = ()
    structures: tuple[str, ...] = ()
    fits: Callable[[Instance], str | None] = lambda instance: None
    suits: Callable[[Instance], str | None] = lambda instance: None
    remembers: bool = False
    switches: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    breaks: Mapping[str, str] = field(default_factory=dict)
    by_numbers: bool = False
    in_contexts: bool = False


def broken(kind: Kind, symmetry: str, instance: Instance) -> str | None:
    """Why a policy need not keep a symmetry on an instance; None where it must."""
    for key in (symmetry, f"{symmetry} ({instance.observation})", f"{symmetry} ({instance.kind})"):
        if key in kind.breaks:
            return kind.breaks[key]
    return None


def make(kinds: Mapping[str, Kind], name: str, instance: Instance, **parameters: Any) -> Any:
    """The policy of a name for an instance; what does not fit is refused here."""
    if name not in kinds:
        raise InputError("policy", f"be one of {', '.join(kinds)}{hint(name, kinds)}", name)
    kind = kinds[name]
    check_keys(parameters, kind.parameters, f"a parameter of {name}")
    for key in parameters:
        if key in kind.mixed:
            continue
        is_switch = key in kind.switches
        if not (is_switch and parameters[key] is None):
            _check_kind(parameters[key], True if is_switch else kind.parameters[key], key)
    refuse_segments(instance)
    instance = by_itself(instance)
    reason = refusal(kind, instance)
    if reason is not None:
        able = [k for k in kinds.values() if refusal(k, instance) is None]
        fitting = ", ".join(k.name for k in able if k.suits(instance) is None)
        others = f"these do: {fitting}" if fitting else "no policy does"
        raise InputError("policy", f"fit the instance: {name} {reason}; {others}")
    return kind.build(instance, **{**kind.parameters, **parameters})


def by_itself(instance: Any) -> Any:
    """The instance that policies play: one context is no more than its arms."""
    if instance.has_contexts and instance.layout.n_contexts == 1:
        return instance.alone(0)
    return instance


def own_parameters(kind: Kind, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not at their defaults, in a fixed order."""
    known = kind.parameters
    return {
        key: parameters[key]
        for key in sorted(parameters)
        if key not in known or parameters[key] != known[key]
    }


def stream_name(kind: Kind, parameters: Mapping[str, Any]) -> str:
    """The name of a policy's random stream; 1 for a real number is 1.0."""
    name = kind.name
    for key, value in own_parameters(kind, parameters).items():
        real = kind.parameters.get(key) is None or isinstance(kind.parameters[key], float)
        whole = type(value) is int and abs(value) <= MOST_EXACT
        name += f",{key}={float(value)!r}" if real and whole else f",{key}={value!r}"
    return name


def _check_kind(value: Any, default: Any, key: str) -> None:
    """Refuse a parameter that is not of its default's kind; builders check its range."""
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise InputError(key, "be true or false", value)
    elif isinstance(default, str):
        text(value, key)
    elif default is not None or value is not None:
        number(value, key)


def refusal(kind: Kind, instance: Instance) -> str | None:
    """Why a policy does not fit an instance; None where it does.

    A structure that extends another is played by the other's policies too.
    """
    if isinstance(instance, Segmented):
        return "plays one segment at a time"
    instance = by_itself(instance)
    if not _is_for(kind, type(instance)):
        return f"is not for {instance.kind} structures"
    if instance.has_contexts and not kind.in_contexts:
        return "is not for arms in contexts"
    return kind.fits(instance)


def structures_of(kind: Kind, structures: Mapping[str, type[Instance]]) -> list[str]:
    """Names of the structures that a policy is for; some of their instances may not fit."""
    return [name for name, structure in structures.items() if _is_for(kind, structure)]


def _is_for(kind: Kind, structure: type[Instance]) -> bool:
    named = {base.__dict__.get("kind") for base in structure.__mro__}
    offered = kind.needs and set(kind.needs) <= set(structure.offers)
    return bool(offered) or not named.isdisjoint(kind.structures)

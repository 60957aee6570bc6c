"""What can go wrong, said in one line that names the field, what it must be and what was got."""

from typing import Any

from ossb.words import hint_apart

_SHOWN = 80
_NOTHING = object()


class OssbError(Exception):
    """Base of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """As it stands: workers send errors home, and arguments differ from kind to kind."""
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[OssbError], args: tuple[Any, ...], held: dict[str, Any]) -> OssbError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(held)
    return error


class InputError(OssbError, ValueError):
    """Something that was passed in is not what it must be.

    Parameters
    ----------
    field
        The name of what is wrong, as the user wrote it: ``theta``, ``arms[3]``.
    must
        What has to hold, as the end of "`field` must …".  A hint at its end is said first: after
        a long list it would not be seen.
    got
        What was found; left out where there is nothing to show.
    """

    def __init__(self, field: str, must: str, got: Any = _NOTHING) -> None:
        self.field = field
        self.must = must
        shown = "" if got is _NOTHING else f", got {brief(got)}"
        rule, near = hint_apart(must)
        super().__init__(f"{near and near + ' '}`{field}` must {rule}{shown}")


class CertificationError(OssbError):
    """A bound could not be proved to the requested gap."""


class PolicyError(OssbError):
    """A policy failed, or decided what is no decision.

    Parameters
    ----------
    policy
        Its name.
    round
        The round it was to decide on, from 1 on; 0 where it failed before.
    fault
        What it did.
    """

    def __init__(self, policy: str, round: int, fault: str) -> None:
        self.policy, self.round, self.fault = policy, round, fault
        when = f"in round {round}" if round else "before round 1"
        super().__init__(f"policy {policy!r} {when}: {fault}")


def brief(value: Any) -> str:
    """A value in a line of at most 80 characters."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split()) or "''"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


class InUse(OssbError):
    """Another process has the store; ``url`` is where that one serves it, if it does."""

    def __init__(self, message: str, url: str = "") -> None:
        super().__init__(message)
        self.url = url

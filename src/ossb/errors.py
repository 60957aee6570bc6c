"""What can go wrong, said in one line that names the field, what it must be and what was got."""

from typing import Any

from .words import hint_apart  # relative: `ossb-client` ships these files under its own name

_SHOWN = 80
_NOTHING = object()


class OssbError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> import ossb
    >>> try:
    ...     ossb.load("no-such-file.toml")
    ... except ossb.OssbError as error:
    ...     print(error)
    `no-such-file.toml` must be a file that exists
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error as it stands: workers send it home, and arguments differ by kind."""
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

    Examples
    --------
    >>> import ossb
    >>> try:
    ...     ossb.Classical(observation="bernoulli", theta=[0.3, 1.5])
    ... except ossb.InputError as error:
    ...     error.field, str(error)
    ('theta[1]', '`theta[1]` must lie in [0, 1], got 1.5')
    """

    def __init__(self, field: str, must: str, got: Any = _NOTHING) -> None:
        self.field = field
        self.must = must
        shown = "" if got is _NOTHING else f", got {brief(got)}"
        rule, near = hint_apart(must)
        super().__init__(f"{near and near + ' '}`{field}` must {rule}{shown}")


class NoSigma(InputError):
    """A campaign of Gaussian observations whose noise nobody spoke of."""

    def __init__(self) -> None:
        super().__init__(
            "sigma",
            "be given for gaussian observations: the standard deviation of one observation about "
            "its arm's mean, in the unit of the observations; take it from past data of one arm, "
            "and rather too large than too small",
        )


class CertificationError(OssbError):
    """A bound could not be proved to the requested gap.

    Examples
    --------
    >>> import ossb
    >>> shift = ossb.Polytope(
    ...     observation="gaussian", A=[[0, 1, -1], [0, -1, 1]], b=[0.3, -0.3], theta=[1, 0.5, 0.2]
    ... )
    >>> try:
    ...     answer = ossb.bound(shift, gap=1e-16)
    ... except ossb.CertificationError:
    ...     answer = ossb.bound(shift, gap=1e-6)
    >>> round(answer.value, 6)
    4.0
    """


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

    Examples
    --------
    >>> import ossb
    >>> class Lost:
    ...     def select(self):
    ...         return 7
    ...
    ...     def update(self, arm, value):
    ...         pass
    >>> try:
    ...     ossb.simulate(ossb.Classical(theta=[0, 1]), Lost(), horizon=10)
    ... except ossb.PolicyError as error:
    ...     error.round, error.fault
    (1, '`arm` must be 0, …, 1, got 7')
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


class Conflict(OssbError):
    """Somebody else appended first, or the name is another campaign's."""


class Unavailable(OssbError):
    """The store cannot be written or reached now, and it may pass.

    What was to be written is not known to be on disk; who reads the store again learns whether
    it is.
    """


class Corrupt(OssbError):
    """A journal's chain of hashes is broken."""


class Unknown(OssbError):
    """No such campaign, decision or arm."""


class NoCampaign(Unknown):
    """No campaign of a name, and perhaps which one is meant."""

    def __init__(self, name: str, near: str = "") -> None:
        super().__init__(f"there is no campaign {name!r}{near}")
        self.name = name

    def with_advice(self, advice: str) -> "NoCampaign":
        """Add to the message what to do about it, and return the error."""
        self.args = (f"{self}; {advice}",)
        return self


class Told(OssbError):
    """The decision was told another value; ``place`` is where among several tells."""

    def __init__(self, message: str, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


class Closed(OssbError):
    """The campaign takes no more asks."""


class OutOfTime(OssbError):
    """The time for an answer has passed, or nobody waits for it; nothing was changed."""


class InUse(OssbError):
    """Another process has the store; ``url`` is where that one serves it, if it does."""

    def __init__(self, message: str, url: str = "") -> None:
        super().__init__(message)
        self.url = url

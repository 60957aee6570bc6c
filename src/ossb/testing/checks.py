"""A check: one contract, to be tried on one case."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One contract on one case; a call raises ``AssertionError`` where the contract is broken.

    Parameters
    ----------
    contract
        What must hold, said in its docstring; it is called with the arguments.
    case
        What it is tried on, in words.
    """

    contract: Callable[..., None]
    case: str
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The contract in words, such as ``compiled is interpreted``."""
        return self.contract.__name__.replace("_", " ")

    def __call__(self) -> None:
        self.contract(*self.arguments)

    def __str__(self) -> str:
        return f"{self.name}: {self.case}"

"""What one can do with a campaign, wherever it is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, Self


class CampaignCalls(Protocol):
    """The calls that a campaign in process, one behind a service and the command line share."""

    name: str

    def ask(
        self,
        n: int = 1,
        *,
        lease: float = ...,
        key: str | None = None,
        available: Any = None,
        context: int | str | None = None,
        features: Any = None,
    ) -> Sequence[Any]: ...

    def tell(self, id: Any, observation: Any = None) -> str: ...

    def tell_many(self, tells: Iterable[tuple[Any, Any]]) -> list[str]: ...

    def void(self, id: str) -> str: ...

    def close(self) -> None: ...

    def add_arm(self, arm: Mapping[str, Any] | None = None) -> int: ...

    def retire_arm(self, arm: int) -> None: ...

    def switch(self, policy: str | Mapping[str, Any]) -> dict[str, Any]: ...

    def import_rows(
        self, rows: Iterable[tuple[Any, Any]], source: str = "", *, once: bool = False
    ) -> int: ...

    def leader(self) -> int | list[int] | None: ...

    def stop(self, delta: float | None = None, epsilon: float | None = None) -> dict[str, Any]: ...

    def contrasts(
        self, named: Mapping[str, Sequence[float]], delta: float | None = None
    ) -> dict[str, dict[str, Any]]: ...

    def rates(self) -> dict[str, Any]: ...

    def document(
        self, delta: float | None = None, epsilon: float | None = None
    ) -> dict[str, Any]: ...

    def history(self, start: int = 0, limit: int | None = None) -> list[dict[str, Any]]: ...

    def disconnect(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

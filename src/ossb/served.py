"""A campaign behind a service, with the calls of one in process.

``Campaign.open("http://…", name)`` gives one.  It needs the standard library only, so that
``ossb-client`` has it too.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from .client import Client, Decision  # relative: `ossb-client` ships these files
from .errors import NoCampaign

PAGE = 1000  # decisions in one answer


def is_service(storage: str) -> bool:
    """Whether a storage URL is that of a service."""
    return storage.startswith(("http://", "https://"))


class ServedCampaign:
    """One campaign of a service; not to be shared between threads.

    Its calls are those of a campaign in process, by the same names, and raise the same errors.

    Parameters
    ----------
    client
        Of the service.
    name
        The campaign's.
    owned
        Whether the client's connection is let go of with the campaign.
    """

    def __init__(self, client: Client, name: str, *, owned: bool = False) -> None:
        self.name = name
        self._client = client
        self._owned = owned

    @classmethod
    def open(
        cls,
        url: str,
        name: str,
        *,
        instance: Any = None,
        policy: str | Mapping[str, Any] = "hgl",
        seed: int = 0,
        token: str | None = None,
    ) -> Self:
        """The campaign of a name: created if it is new and an instance is given, else found.

        ``Unknown`` if there is none and no instance is given, ``Conflict`` if there is one with
        another definition.

        Parameters
        ----------
        instance
            One of ``ossb``'s, or the keys of one.
        token
            Sent as ``Authorization: Bearer``.
        """
        client = Client(url, token)
        try:
            if instance is None:
                client.history(name, 0, 1)
            else:
                keys = instance if isinstance(instance, Mapping) else instance.to_dict()
                client.create(name, keys, policy, seed)
        except NoCampaign as error:
            client.close()
            raise error.with_advice("give an `instance` to create one") from None
        except BaseException:
            client.close()
            raise
        return cls(client, name, owned=True)

    def disconnect(self) -> None:
        """Let go of the connection, if it was opened with the campaign."""
        if self._owned:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def ask(
        self,
        n: int = 1,
        *,
        lease: float | None = None,
        key: str | None = None,
        available: Iterable[int] | None = None,
        context: int | str | None = None,
        features: Any = None,
    ) -> list[Decision]:
        """The next ``n`` decisions; the same ones again for the same key.

        Parameters
        ----------
        lease
            Seconds after which a decision no longer counts as being played; an hour by default.
        available
            The arms (items, where arms are made of items) to choose from.
        context
            Who asks, by number or name, where the instance has contexts.
        features
            Rows to choose from, in the place of the instance's.
        """
        return self._client.ask(
            self.name,
            n,
            lease_seconds=lease,
            key=key,
            available=available,
            context=context,
            features=features,
        )

    def tell(self, id: Any, observation: Any = None) -> str:
        """Tell what a decision showed: ``recorded``, or ``same`` if it was told already."""
        return self._client.tell(self.name, id, observation)

    def tell_many(self, tells: Iterable[tuple[Any, Any]]) -> list[str]:
        """Tell several, all or nothing."""
        return self._client.tell_many(self.name, tells)

    def void(self, id: str) -> str:
        """Take a wrong tell back: ``voided``, or ``same`` if it was taken back already."""
        return self._client.void(self.name, id)

    def close(self) -> None:
        """Take no more asks, for good; late tells still count."""
        self._client.close_campaign(self.name)

    def add_arm(self, arm: Mapping[str, Any] | None = None) -> int:
        """Add an arm; what was learnt is kept.  Returns its number."""
        return self._client.add_arm(self.name, arm)

    def add_context(self, context: Mapping[str, Any]) -> int:
        """Add a context, or a segment; what was learnt is kept.  Returns its number."""
        return self._client.add_context(self.name, context)

    def retire_arm(self, arm: int) -> None:
        """Play an arm no more; what it showed is kept."""
        self._client.retire_arm(self.name, arm)

    def contrasts(
        self, named: Mapping[str, Sequence[float]], delta: float | None = None
    ) -> dict[str, dict[str, Any]]:
        """What is sure of ⟨φ, c⟩ for rows c that you name; see ``Campaign.contrasts``."""
        return self._client.contrasts(self.name, named, delta)

    def switch(self, policy: str | Mapping[str, Any]) -> dict[str, Any]:
        """Play by another policy from here on, on all that was learnt; returns it."""
        return self._client.switch(self.name, policy)

    def import_rows(
        self, rows: Iterable[tuple[Any, Any]], source: str = "", *, once: bool = False
    ) -> int:
        """Take in logged data, pairs of an arm and an observation; returns how many.

        Parameters
        ----------
        source
            Where they come from, for the journal.
        once
            Take in nothing if the newest event took in as many rows from the same ``source``.
        """
        return self._client.import_rows(self.name, rows, source, once)

    def document(self, delta: float | None = None, epsilon: float | None = None) -> dict[str, Any]:
        """All that the page shows: definition, plays, leader, rates, stop, intervals."""
        return self._client.campaign(self.name, delta, epsilon)

    def stop(self, delta: float | None = None, epsilon: float | None = None) -> dict[str, Any]:
        """Whether the leader is within epsilon of the best arm with confidence 1 − delta."""
        return dict(self.document(delta, epsilon)["stop"])

    def rates(self) -> dict[str, Any]:
        """The Graves–Lai bound at the estimate: value, rates and certificate."""
        return dict(self.document()["rates"])

    def leader(self) -> int | list[int] | None:
        """The arm that leads, by what was told; None where nothing was."""
        found: int | list[int] | None = self.document()["leader"]
        return found

    def history(self, start: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """Decisions in the order they were made, with what was told.

        ``limit`` of them from number ``start`` on; from the end where ``start`` is negative.
        """
        if limit is not None and limit <= PAGE:
            return self._client.history(self.name, start, limit)
        found: list[dict[str, Any]] = []
        while limit is None or len(found) < limit:
            most = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._client.history(self.name, start, most)
            found += page
            if len(page) < most:
                break
            start = 1 + int(page[-1]["id"].partition("-")[0])  # an id begins with the number
        return found

    def __repr__(self) -> str:
        return f"<ServedCampaign {self.name!r}>"

"""Tokens: who may do what.

A token is 256 random bits, so a plain SHA-256 of it is all that needs to be kept.  The hashes
stand in a journal of their own in the store, under a name that no campaign can have; a token
that is taken back is an event of it too.
"""

import hashlib
import hmac
import secrets
import threading
import time
from typing import Any, NamedTuple

from ossb.campaigns import Conflict, Corrupt, Storage
from ossb.campaigns.definition import label
from ossb.campaigns.events import GENESIS, Event, chained, follows
from ossb.errors import InputError
from ossb.fields import choice

JOURNAL = "\x1ftokens"  # a campaign's name holds no control character
SCOPES = ("read", "write", "admin")
KINDS = ("token", "revoked")
PREFIX = "ossb_"
ATTEMPTS = 20
ID = 12  # characters of a token's hash by which people call it


class Grant(NamedTuple):
    """What a token allows."""

    scope: str
    campaign: str | None = None
    id: str = ""  # empty where no token was needed

    def covers(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Issued(NamedTuple):
    """A token that was made and not revoked."""

    hash: str
    grant: Grant
    created: float


class Tokens:
    """The tokens of a store; sees those that are made and revoked while it runs."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._issued: dict[str, Issued] = {}  # by id
        self._last: Event | None = None
        self._reading = threading.Lock()
        self.refresh()

    def __len__(self) -> int:
        return len(self._issued)

    @property
    def ever(self) -> bool:
        """Whether a token was ever made: to revoke the last one opens no door."""
        return self._last is not None

    def refresh(self) -> None:
        """Read what happened since."""
        with self._reading:
            number, digest = self._end()
            issued = dict(self._issued)
            for event in self._storage.read(JOURNAL, number):
                if not follows(event, number, digest):
                    message = f"the tokens are damaged: event {number + 1} is not what was written"
                    raise Corrupt(message)
                _fold(issued, event)
                number, digest, self._last = event.number, event.digest, event
                self._issued = dict(issued)

    def grant_of(self, token: str) -> Grant | None:
        """What a token allows; every comparison takes the same time, and all are made."""
        given = _hash(token)
        found: Grant | None = None
        for known in self._issued.values():
            if hmac.compare_digest(known.hash, given):
                found = known.grant
        return found

    def holds(self, grant: Grant) -> bool:
        """Whether what was granted before still is."""
        return grant.id in self._issued if grant.id else not self.ever

    def listed(self) -> list[dict[str, Any]]:
        """The tokens that are good, in the order they were made."""
        return [
            {"id": id_, "scope": one.grant.scope, "campaign": one.grant.campaign}
            | {"created": one.created}
            for id_, one in self._issued.items()
        ]

    def create(self, scope: str, campaign: str | None = None) -> str:
        """A new token: this is the only time it is seen."""
        choice(scope, "scope", SCOPES)
        if campaign is not None:
            label(campaign, "campaign")
        token = PREFIX + secrets.token_urlsafe(32)
        content = {"hash": _hash(token), "scope": scope, "campaign": campaign}
        self._record("token", content)
        return token

    def revoke(self, id_: str, campaign: str | None = None) -> None:
        """Take a token back; one of ``campaign`` only, where that is given."""
        self.refresh()
        found = self._issued.get(id_)
        if found is None or (campaign is not None and found.grant.campaign != campaign):
            raise InputError("id", "be the id of a token: see `ossb token list`", id_[:80])
        self._record("revoked", {"hash": found.hash})

    def _record(self, kind: str, content: dict[str, Any]) -> None:
        for _ in range(ATTEMPTS):  # another server may be writing at the same time
            number, digest = self._end()
            event = chained(digest, number + 1, kind, time.time(), content)
            try:
                self._storage.append(JOURNAL, [event], digest).result()
            except Conflict:
                self.refresh()
                continue
            self.refresh()
            return
        raise InputError("token", "be made or revoked while nobody else does so")

    def _end(self) -> tuple[int, str]:
        last = self._last
        return (0, GENESIS) if last is None else (last.number, last.digest)


def campaign_names(storage: Storage) -> list[str]:
    """Campaigns of a store, in order of creation."""
    return [name for name in storage.names() if name != JOURNAL]


def _fold(issued: dict[str, Issued], event: Event) -> None:
    content = event.content
    if event.kind not in KINDS:
        must = f"be {' or '.join(KINDS)}: event {event.number} of tokens is of a newer ossb"
        raise InputError("kind", must, event.kind)
    id_ = content["hash"][:ID]
    if event.kind == "revoked":
        issued.pop(id_, None)
    else:
        grant = Grant(content["scope"], content["campaign"], id_)
        issued[id_] = Issued(content["hash"], grant, event.time)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

"""Tokens: who may do what, until when, and how often.

A token is 256 random bits, so a plain SHA-256 of it is all that needs to be kept.  The hashes
stand in a journal of their own in the store, under a name that no campaign can have; a token
that is taken back is an event of it too, and so are the sessions of those who signed in with one
on the page: the browser keeps a session's random bits, and never the token.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ossb.campaigns import Conflict, Corrupt, Storage
from ossb.campaigns.definition import label
from ossb.campaigns.events import GENESIS, Event, chained, follows
from ossb.campaigns.origin import origin
from ossb.errors import InputError
from ossb.fields import choice, integer, number

JOURNAL = "\x1ftokens"  # a campaign's name holds no control character
SCOPES = ("read", "write", "admin")
KINDS = ("token", "limited", "revoked", "signed_in", "signed_out")
PREFIX = "ossb_"
ATTEMPTS = 20
ID = 12  # characters of a token's hash by which people call it
MOST_TOKENS = 1_000  # that are good at once: every call is held against all of them
MOST_SESSIONS = 20  # of one token, the newest
SESSION_SECONDS = 12 * 3600.0
LONGEST = 10 * 365 * 86400.0  # seconds until a token ends, where it does
SHORTEST = 1.0
SLOWEST, FASTEST = 1e-3, 1e6
NEVER = float("inf")

T = TypeVar("T")
_Entry = tuple[str, dict[str, Any]]  # the kind of an event, and its content


class Grant(NamedTuple):
    """What a token allows."""

    scope: str
    campaign: str | None = None
    id: str = ""  # empty where no token was needed
    session: str = ""  # the hash of the session by which it came, if by one

    def covers(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class Limits(NamedTuple):
    """Until when a token is good, and how many calls it may make; None where there is no limit."""

    expires: float | None = None  # seconds since the epoch
    per_second: float | None = None
    per_day: int | None = None


class Issued(NamedTuple):
    """A token that was made and not revoked; it may have ended."""

    hash: str
    grant: Grant
    created: float
    limits: Limits = Limits()

    def good(self, now: float) -> bool:
        return self.limits.expires is None or now < self.limits.expires


class Session(NamedTuple):
    """Somebody who signed in with a token."""

    token: str  # its id
    expires: float


def wanted_limits(expires_in: Any, per_second: Any, per_day: Any, now: float) -> Limits:
    """Limits as a caller gives them, checked."""
    if expires_in is not None:
        expires_in = number(expires_in, "expires_in")
        if not SHORTEST <= expires_in <= LONGEST:
            must = f"lie in [{SHORTEST:g}, {LONGEST:.0f}] seconds"
            raise InputError("expires_in", must, expires_in)
    if per_second is not None:
        per_second = number(per_second, "per_second")
        if not SLOWEST <= per_second <= FASTEST:
            raise InputError("per_second", f"lie in [{SLOWEST:g}, {FASTEST:.0f}]", per_second)
    if per_day is not None:
        per_day = integer(per_day, "per_day", least=1)
    return Limits(None if expires_in is None else now + expires_in, per_second, per_day)


class _Known:
    """The fold of the tokens' journal."""

    def __init__(self) -> None:
        self.issued: dict[str, Issued] = {}  # by id
        self.sessions: dict[str, Session] = {}  # by hash

    def copy(self) -> "_Known":
        again = _Known()
        again.issued, again.sessions = dict(self.issued), dict(self.sessions)
        return again

    def fold(self, event: Event) -> None:
        content = event.content
        if event.kind not in KINDS:
            must = f"be {' or '.join(KINDS)}: event {event.number} of tokens is of a newer ossb"
            raise InputError("kind", must, event.kind)
        getattr(self, f"_{event.kind}")(content, content["hash"][:ID], event.time)

    def _token(self, content: dict[str, Any], id_: str, now: float) -> None:
        self.issued = {key: one for key, one in self.issued.items() if one.good(now)}
        grant = Grant(content["scope"], content["campaign"], id_)
        self.issued[id_] = Issued(content["hash"], grant, now)

    def _limited(self, content: dict[str, Any], id_: str, now: float) -> None:
        limits = Limits(content["expires"], content["per_second"], content["per_day"])
        self.issued[id_] = self.issued[id_]._replace(limits=limits)

    def _revoked(self, content: dict[str, Any], id_: str, now: float) -> None:
        self.issued.pop(id_, None)

    def _signed_in(self, content: dict[str, Any], id_: str, now: float) -> None:
        self.sessions[content["session"]] = Session(id_, content["expires"])
        own = [key for key, one in self.sessions.items() if one.token == id_]
        over = [key for key, one in self.sessions.items() if one.expires <= now]
        for key in (*over, *own[: max(len(own) - MOST_SESSIONS, 0)]):
            self.sessions.pop(key, None)

    def _signed_out(self, content: dict[str, Any], id_: str, now: float) -> None:
        self.sessions.pop(content["session"], None)


class Tokens:
    """The tokens of a store; sees those that are made and revoked while it runs."""

    def __init__(self, storage: Storage, clock: Callable[[], float] = time.time) -> None:
        self._storage = storage
        self._clock = clock
        self._known = _Known()
        self._last: Event | None = None
        self._reading = threading.Lock()
        self.refresh()

    def __len__(self) -> int:
        """How many are good."""
        now = self._clock()
        return sum(one.good(now) for one in self._known.issued.values())

    @property
    def ever(self) -> bool:
        """Whether a token was ever made: to revoke the last one opens no door."""
        return self._last is not None

    def refresh(self) -> None:
        """Read what happened since."""
        with self._reading:
            number, digest = self._end()
            known, last = self._known.copy(), self._last
            try:
                for event in self._storage.read(JOURNAL, number):
                    if not follows(event, number, digest):
                        wrong = f"event {number + 1} is not what was written"
                        raise Corrupt(f"the tokens are damaged: {wrong}")
                    known.fold(event)
                    number, digest, last = event.number, event.digest, event
            finally:  # all at once: nobody sees a token without its limits
                self._known, self._last = known, last

    def grant_of(self, token: str) -> Grant | None:
        """What a token allows; every comparison takes the same time, and all are made."""
        given = _hash(token)
        found: Issued | None = None
        for known in self._known.issued.values():
            if hmac.compare_digest(known.hash, given):
                found = known
        return found.grant if found is not None and found.good(self._clock()) else None

    def limits_of(self, grant: Grant) -> Limits:
        """How often a token may call."""
        found = self._known.issued.get(grant.id)
        return Limits() if found is None else found.limits

    def holds(self, grant: Grant) -> bool:
        """Whether what was granted before still is."""
        if not grant.id:
            return not self.ever
        now, found = self._clock(), self._known.issued.get(grant.id)
        if found is None or not found.good(now):
            return False
        session = self._known.sessions.get(grant.session)
        return not grant.session or (session is not None and now < session.expires)

    def left(self, grant: Grant) -> float:
        """Seconds until what was granted ends by itself; infinite where it does not."""
        issued, session = self._known.issued.get(grant.id), self._known.sessions.get(grant.session)
        ends = [NEVER if issued is None else issued.limits.expires or NEVER]
        if session is not None:
            ends.append(session.expires)
        return min(ends) - self._clock()

    def listed(self) -> list[dict[str, Any]]:
        """The tokens that are good, in the order they were made."""
        now = self._clock()
        return [_shown(one) for one in self._known.issued.values() if one.good(now)]

    def shown(self, token: str) -> dict[str, Any]:
        """One that was just made, as it is listed, though it may have ended since."""
        found = self._known.issued.get(_hash(token)[:ID])
        if found is None:
            raise InputError("id", "be the id of a token: it was revoked meanwhile")
        return _shown(found)

    def create(
        self,
        scope: str,
        campaign: str | None = None,
        *,
        expires_in: float | None = None,
        per_second: float | None = None,
        per_day: int | None = None,
    ) -> str:
        """A new token: this is the only time it is seen.

        Parameters
        ----------
        expires_in
            Seconds from now after which it is good no more.
        per_second, per_day
            Calls that it may make.
        """
        choice(scope, "scope", SCOPES)
        if campaign is not None:
            label(campaign, "campaign")
        limits = wanted_limits(expires_in, per_second, per_day, self._clock())

        def make() -> tuple[str, list[_Entry]]:
            if len(self) >= MOST_TOKENS:
                raise InputError("scope", f"wait: there are {MOST_TOKENS} tokens; revoke some")
            return _new(scope, campaign, limits)

        return self._record(make)

    def rotate(
        self,
        id_: str,
        campaign: str | None = None,
        *,
        overlap: float = 0.0,
        expires_in: float | None = None,
    ) -> str:
        """A new token in the place of another, which ends; both or neither.

        Parameters
        ----------
        campaign
            Where given, only a token of this campaign.
        overlap
            Seconds for which the one before is still good.
        expires_in
            As of a new token; by default as long as the one before had.
        """
        now = self._clock()
        overlap = number(overlap, "overlap")
        if not 0 <= overlap <= LONGEST:
            raise InputError("overlap", f"lie in [0, {LONGEST:.0f}] seconds", overlap)
        given = wanted_limits(expires_in, None, None, now).expires

        def make() -> tuple[str, list[_Entry]]:
            old = self._issued(id_, campaign)
            expires = given
            if expires is None and old.limits.expires is not None:
                expires = now + (old.limits.expires - old.created)
            new = old.limits._replace(expires=expires)
            token, entries = _new(old.grant.scope, old.grant.campaign, new)
            end = min(now + overlap, old.limits.expires or NEVER)
            if overlap > 0:
                entries.append(("limited", _limited(old.hash, old.limits._replace(expires=end))))
            else:
                entries.append(("revoked", {"hash": old.hash}))
            return token, entries

        return self._record(make)

    def revoke(self, id_: str, campaign: str | None = None) -> None:
        """Take a token back; one of ``campaign`` only, where that is given."""
        self.refresh()

        def make() -> tuple[None, list[_Entry]]:
            return None, [("revoked", {"hash": self._issued(id_, campaign).hash})]

        self._record(make)

    # sessions of the page

    def sign_in(self, grant: Grant) -> str:
        """A session for who has shown a token: its random bits, seen by the browser only."""
        session = secrets.token_urlsafe(32)
        expires = self._clock() + SESSION_SECONDS

        def make() -> tuple[str, list[_Entry]]:
            hash_ = self._issued(grant.id, None).hash
            content = {"hash": hash_, "session": _hash(session), "expires": expires}
            return session, [("signed_in", content)]

        return self._record(make)

    def session_grant(self, session: str) -> Grant | None:
        """What somebody who signed in may see."""
        hash_ = _hash(session)
        found = self._known.sessions.get(hash_)  # the hash of 256 random bits tells nothing
        issued = None if found is None else self._known.issued.get(found.token)
        if issued is None:
            return None
        grant = issued.grant._replace(session=hash_)
        return grant if self.holds(grant) else None

    def sign_out(self, session: str) -> None:
        """End a session, if it is one."""
        hash_ = _hash(session)
        self.refresh()
        found = self._known.sessions.get(hash_)
        if found is not None:
            content = {"hash": found.token, "session": hash_}
            self._record(lambda: (None, [("signed_out", content)]))

    def _issued(self, id_: str, campaign: str | None) -> Issued:
        found = self._known.issued.get(id_)
        if (
            found is None
            or not found.good(self._clock())
            or (campaign is not None and found.grant.campaign != campaign)
        ):
            raise InputError("id", "be the id of a token: see `ossb token list`", id_[:80])
        return found

    def _record(self, make: "Callable[[], tuple[T, list[_Entry]]]") -> T:
        """Write what ``make`` returns beside its answer, all of it or nothing."""
        for _ in range(ATTEMPTS):  # another server may be writing at the same time
            answer, entries = make()
            number, before = self._end()
            events: list[Event] = []
            digest, now = before, self._clock()
            for place, (kind, content) in enumerate(entries, number + 1):
                events.append(chained(digest, place, kind, now, {**content, **origin()}))
                digest = events[-1].digest
            try:
                self._storage.append(JOURNAL, events, before).result()
            except Conflict:
                self.refresh()
                continue
            self.refresh()
            return answer
        raise InputError("token", "be made or revoked while nobody else does so")

    def _end(self) -> tuple[int, str]:
        last = self._last
        return (0, GENESIS) if last is None else (last.number, last.digest)


def campaign_names(storage: Storage) -> list[str]:
    """Campaigns of a store, in order of creation."""
    return [name for name in storage.names() if name != JOURNAL]


def _shown(one: Issued) -> dict[str, Any]:
    """A token as it is listed."""
    scope, campaign, id_, _ = one.grant
    known = {"id": id_, "scope": scope, "campaign": campaign, "created": one.created}
    return {**known, **one.limits._asdict()}


def _new(scope: str, campaign: str | None, limits: Limits) -> tuple[str, list[_Entry]]:
    """A new token, and the events that make it."""
    token = PREFIX + secrets.token_urlsafe(32)
    hash_ = _hash(token)
    entries: list[_Entry] = [("token", {"hash": hash_, "scope": scope, "campaign": campaign})]
    if limits != Limits():
        entries.append(("limited", _limited(hash_, limits)))
    return token, entries


def _limited(hash_: str, limits: Limits) -> dict[str, Any]:
    return {"hash": hash_, **limits._asdict()}


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()

"""Data from before that comes in parts: nothing of it counts until the last part is there."""

import hashlib
import json
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from ossb.campaigns import Campaign
from ossb.campaigns.importing import Intake
from ossb.campaigns.rows import Row
from ossb.errors import InputError
from ossb.fields import integer, text
from ossb.service import strict
from ossb.service.answers import Refusal

MOST = 16  # uploads that are remembered, the newest


class Part(NamedTuple):
    """A piece of an upload, whose id its sender has made up."""

    upload: str
    number: int
    last: bool


def read_part(value: Any) -> Part:
    """A part as a body holds it."""
    if not isinstance(value, dict):
        raise InputError("part", "be an object", value)
    strict.keys(value, ("upload", "number", "last"), where="part.")
    if not isinstance(value["last"], bool):
        raise InputError("part.last", "be true or false", value["last"])
    upload = text(value["upload"], "part.upload")
    if not 0 < len(upload) <= 100:
        raise InputError("part.upload", "have 1 to 100 characters", len(upload))
    return Part(upload, integer(value["number"], "part.number"), value["last"])


class _Upload:
    """An upload so far; the answer to its newest part is kept for who asks again."""

    def __init__(self) -> None:
        self.alone = threading.Lock()
        self.intake: Intake | None = None
        self.parts = 0
        self.newest = b""  # the digest of the newest part
        self.answer: dict[str, int] | None = None


class Imports:
    """The uploads under way; after a restart they have to begin again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uploads: OrderedDict[tuple[str, str], _Upload] = OrderedDict()

    def take(
        self,
        campaign: Campaign,
        part: Part,
        rows: list[Row],
        after: int,
        source: str = "",
        once: bool = False,
    ) -> dict[str, int]:
        """Add a part; the last one takes all rows in.

        The same part again changes nothing; another one under its number is refused.
        """
        digest = _digest(rows, after, part.last, source, once)
        upload = self._find(campaign.name, part)
        with upload.alone:
            if part.number not in (upload.parts - 1, upload.parts):
                raise _unknown(part)
            if part.number == upload.parts:
                try:
                    _add(campaign, upload, rows, after)
                except BaseException:  # perhaps half added
                    self._forget(campaign.name, part)
                    raise
                upload.newest = digest
            elif digest != upload.newest:
                raise _another(part)
            if upload.answer is None:  # where the store failed, the same part may succeed later
                upload.answer = _answer(campaign, upload, part, source, once)
            return upload.answer

    def _find(self, name: str, part: Part) -> _Upload:
        key = (name, part.upload)
        with self._lock:
            if part.number == 0 and key not in self._uploads:
                self._uploads[key] = _Upload()
                if len(self._uploads) > MOST:
                    self._uploads.popitem(last=False)
            if key not in self._uploads:
                raise _unknown(part)
            return self._uploads[key]

    def _forget(self, name: str, part: Part) -> None:
        with self._lock:
            self._uploads.pop((name, part.upload), None)


def _add(campaign: Campaign, upload: _Upload, rows: list[Row], after: int) -> None:
    if upload.parts == 0:
        upload.intake = campaign.begin_import(after)
    if upload.intake is None:
        raise InputError("part.number", "not come after the last")
    upload.intake.add(rows)
    upload.parts, upload.answer = upload.parts + 1, None


def _answer(
    campaign: Campaign, upload: _Upload, part: Part, source: str, once: bool
) -> dict[str, int]:
    intake: Any = upload.intake
    if not part.last:
        return {"rows": intake.rows, "events": intake.after}
    taken = campaign.finish_import(intake, source, once)
    upload.intake = None
    return {"rows": taken, "events": campaign.number}


def _digest(*content: Any) -> bytes:
    return hashlib.sha256(json.dumps(content).encode()).digest()


def _unknown(part: Part) -> Refusal:
    message = (
        f"part {part.number} of this import does not follow what this server has of it: begin again"
    )
    return Refusal(409, "conflict", message, "part.number")


def _another(part: Part) -> Refusal:
    message = (
        f"part {part.number} of this upload was another one before: "
        "send other data under a new upload id"
    )
    return Refusal(409, "conflict", message, "part.upload")

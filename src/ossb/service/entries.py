"""Campaigns in a list of them: one that cannot be shown says so."""

from collections.abc import Callable
from typing import Any

from ossb.campaigns import Corrupt, Unavailable
from ossb.campaigns.document import JUDGED
from ossb.errors import OssbError
from ossb.service.logs import LOG

FAILED = "the server failed to show it; its log says why"
DAMAGED: dict[str, Any] = {
    **dict.fromkeys(("instance", "seed", "created", "arms", "plays", "means", "leader", "retired")),
    **dict.fromkeys(("phases", "components", *JUDGED)),
    **dict.fromkeys(("rounds", "pending", "events"), 0),
    "policy": {"name": ""},
    "closed": False,
    "structure": "damaged",
}
UNSEEN = {**DAMAGED, "structure": "busy"}


def entry_of(name: str, look: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """A campaign in a list; one that cannot be shown says so, and keeps nobody from the others."""
    try:
        return look(name)
    except Corrupt as error:
        return {**DAMAGED, "name": name, "error": str(error)}
    except Unavailable:  # the store, and so all of them
        raise
    except Exception as error:
        reason = str(error)
        if not isinstance(error, OssbError):
            LOG.exception("failed", extra={"fields": {"campaign": name}})
            reason = FAILED
        return {**DAMAGED, "structure": "failed", "name": name, "error": reason}

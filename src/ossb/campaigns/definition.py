"""What a campaign is: its name, instance, policy and seed, checked and as plain data."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from ossb.campaigns import arrays
from ossb.campaigns.events import FORMATS, GENESIS, Event, chained
from ossb.campaigns.origin import origin
from ossb.campaigns.player import Player, player_of
from ossb.campaigns.rehearsal import rehearse
from ossb.campaigns.rosters import is_described
from ossb.campaigns.storage import Conflict, Storage
from ossb.errors import InputError
from ossb.errors import NoSigma as NoSigma
from ossb.fields import integer, seen, text
from ossb.instances import check_names, from_dict
from ossb.policies import POLICIES
from ossb.policies.base import stream_name
from ossb.simulation.seeds import instance_key, policy_stream
from ossb.structures.base import Instance

LONGEST_NAME = 200
PLAIN_NAMES = {"identify": "top-two"}  # what people call policies by what they are for


def label(value: Any, field: str) -> str:
    """A name or key: one line of up to 200 characters that can be seen."""
    found = text(value, field)
    if not 0 < len(found) <= LONGEST_NAME:
        raise InputError(field, f"have 1 to {LONGEST_NAME} characters", len(found))
    for character in found:
        if unicodedata.category(character)[0] == "C":
            must = "hold no control or formatting characters"
            raise InputError(field, must, f"U+{ord(character):04X}")
    return found


def is_label(value: str) -> bool:
    """Whether a text could be a name or key."""
    try:
        label(value, "name")
    except InputError:
        return False
    return True


def definition(
    name: str, instance: Instance | Mapping[str, Any], policy: str | Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """A campaign's definition, checked, as plain data."""
    if label(name, "name") in (".", ".."):
        raise InputError("name", "not be a path", name)
    known: Any = from_dict(dict(instance)) if isinstance(instance, Mapping) else instance
    if not isinstance(known, Instance):
        raise InputError("instance", "be an instance, or the keys of one", known)
    if is_described(known) and not known.shows_lists:
        must = "list its arms, or show their items: only sums over arms of a set are observed"
        raise InputError("instance", must)
    wanted = wanted_policy(policy)
    refuse_sets(known)
    player_of(known, wanted)
    return {
        "name": name,
        "instance": known.to_dict(),
        "policy": wanted,
        "seed": integer(seed, "seed"),
    }


def refuse_sets(instance: Any) -> None:
    """Refuse segments whose arms are not listed, one after the other."""
    if instance.has_segments and instance.n_arms is None:
        raise InputError("segments", "list their arms in a campaign")


def wanted_policy(policy: str | Mapping[str, Any]) -> dict[str, Any]:
    """A policy's name and parameters, as plain data; whether it fits is not looked at."""
    if not isinstance(policy, str | Mapping):
        raise InputError("policy", "be a name, or a table with a name", policy)
    chosen = {"name": policy} if isinstance(policy, str) else dict(policy)
    if "name" not in chosen:
        raise InputError("policy.name", "be given")
    parameters = {str(key): value for key, value in chosen.items() if key != "name"}
    own = PLAIN_NAMES.get(str(chosen["name"]), chosen["name"])
    return {"name": own, **dict(sorted(parameters.items()))}


def create(
    storage: Storage, wanted: dict[str, Any], now: float, seconds: float | None = None
) -> bool:
    """Enter a new campaign; False where one of this name was entered meanwhile.

    Parameters
    ----------
    seconds
        What an ask may take, where it is not for as long as it likes.
    """
    known: Any = from_dict(wanted["instance"])
    seen(wanted["name"], "name", LONGEST_NAME)
    check_names(known, "instance.")
    _refuse_silence(wanted["instance"])
    event, player = first_event(known, wanted, now)
    rehearse(event, player, seconds)
    try:
        storage.append(wanted["name"], [event]).result()
    except Conflict:
        return False
    return True


def first_event(
    instance: Any, wanted: dict[str, Any], now: float, left_out: Sequence[int] = ()
) -> tuple[Event, Player]:
    """What a campaign on an instance begins with, and its policy on the arms that are left."""
    player = player_of(instance, wanted["policy"], left_out)
    key = instance_key(instance.to_dict())
    rng = policy_stream(wanted["seed"], key, stream(wanted["policy"]), 0)
    content = {
        "format": FORMATS[-1],
        **wanted,
        "memory": arrays.packed(player.start()),
        "rng": arrays.rng_state(rng),
        **origin(),
    }
    return chained(GENESIS, 1, "created", now, content), player


def check_same(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """``Conflict`` where the campaign of a name has another definition.

    A campaign from before ``sigma`` had to be given has one of 1, whether it is given now or not.
    """
    instance = held["instance"]
    if "sigma" not in instance and wanted["instance"].get("sigma") == 1:
        instance = {**instance, "sigma": 1.0}
    elif "sigma" in instance:
        _refuse_silence(wanted["instance"])
    for key, found in (("instance", instance), ("policy", held["policy"]), ("seed", held["seed"])):
        if found != wanted[key]:
            raise Conflict(f"campaign {held['name']!r} exists with another {key}")


def _refuse_silence(instance: Mapping[str, Any]) -> None:
    """Refuse a σ that is no more than assumed: in another unit arms far apart look settled."""
    if instance["observation"] == "gaussian" and "sigma" not in instance:
        raise NoSigma()


def stream(chosen: Mapping[str, Any]) -> str:
    """The name of a policy's random stream: the one the simulator gives it."""
    parameters = {key: value for key, value in chosen.items() if key != "name"}
    return stream_name(POLICIES[chosen["name"]], parameters)

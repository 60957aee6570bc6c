"""Certificates: bounds with their proofs in a JSON file that anyone can check.

The file holds, for each bound, the instance, the claimed interval, the rates, the confusing
parameters with weights that prove the lower side, and the multipliers that prove the upper
one.  Checking it needs arithmetic only.
"""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.fields import check_keys, choice, extreme, integer, matrix, number, refuse_extreme, vector
from ossb.files import replacing
from ossb.graves_lai.answers import BEST, Answer, read_answer
from ossb.graves_lai.bound import Bound, Status, problem_of
from ossb.graves_lai.cost import SAMPLES, Cost
from ossb.graves_lai.proof import GAP, Alternative, Arm, Report
from ossb.instances import from_dict
from ossb.structures.base import cost_of
from ossb.structures.segments import Segmented
from ossb.structures.summed import SummedBound, summed

FORMAT = "ossb certificate"
VERSION = 1
# what stands in a file is checked: so it holds nothing else
CLAIM = ("instance", "cost", "lower", "upper", "status", "gap", "best_arm")
SUM = (*CLAIM, "segments")
PROOF = (*CLAIM, "answer", "chosen", "rates", "alternatives", "multipliers")
RATE = ("arm", "rate", "context")
ALTERNATIVE = ("arm", "parameter", "witness", "weight", "piece", "relative")


def to_certificate(bounds: Iterable[Bound]) -> dict[str, Any]:
    """The certificate of some bounds, as plain data."""
    return {"format": FORMAT, "version": VERSION, "bounds": [_entry(bound) for bound in bounds]}


def numbers_in(bound: Bound) -> int:
    """How many numbers the certificate of a bound holds, about: those of its alternatives."""
    if isinstance(bound, SummedBound):
        return sum(map(numbers_in, bound.parts))
    alternatives = bound.alternatives
    if not len(alternatives):
        return 0
    first = alternatives[0]
    return len(alternatives) * (np.size(first.parameter) + np.size(first.witness))


def write(bounds: Iterable[Bound], path: str | Path) -> None:
    """Write the certificate of some bounds to a file."""
    text = json.dumps(to_certificate(bounds), allow_nan=False)
    try:
        with replacing(path) as aside:
            aside.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError("certificate", f"be a writable file: {error}") from None


def read(path: str | Path) -> list[Bound]:
    """The bounds that a certificate file (``-``: standard input) claims, not yet checked."""
    try:
        text = sys.stdin.read() if str(path) == "-" else Path(path).read_text(encoding="utf-8")
        content = json.loads(text)
    except OSError as error:
        raise InputError("certificate", f"be a readable file: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            "certificate", f"be a file that `bound --certificate` wrote: {error}"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError("format", f"be {FORMAT!r}")
    if content.get("version") != VERSION or isinstance(content["version"], bool):
        raise InputError("version", f"be {VERSION}", content.get("version"))
    entries = _list(content, "bounds")
    if not entries:
        raise InputError("bounds", "hold at least one bound", "none")
    return [_bound(entry, f"bounds[{i}]") for i, entry in enumerate(entries)]


def verify(path: str | Path) -> list[tuple[Bound, Report]]:
    """Every bound of a certificate file with the outcome of its check."""
    return [(bound, bound.verify()) for bound in read(path)]


def _entry(bound: Bound) -> dict[str, Any]:
    return {"instance": bound.instance.to_dict(), **claims(bound)}


def claims(bound: Bound) -> dict[str, Any]:
    """What a certificate says of its instance."""
    content = bound.to_dict()
    head = {key: content[key] for key in ("cost", "lower", "upper", "status")}
    said = ("best_arm",) if bound.answer.is_best else ("answer", "chosen")
    head |= {"gap": bound.promised, **{key: content[key] for key in said}}
    if isinstance(bound, SummedBound):
        return {**head, "segments": [claims(part) for part in bound.parts]}
    return {
        **head,
        "rates": content["rates"],
        "alternatives": [
            {
                "arm": list(a.arm) if isinstance(a.arm, tuple) else int(a.arm),
                "parameter": np.asarray(a.parameter).tolist(),
                "witness": np.asarray(a.witness).tolist(),
                "weight": float(a.weight),
                "piece": a.piece,
                **({"relative": True} if a.relative else {}),
            }
            for a in bound.alternatives
        ],
        "multipliers": bound.multipliers,
    }


def _bound(entry: Any, where: str) -> Bound:
    if not isinstance(entry, dict):
        raise InputError(where, "be a table of keys", entry)
    refuse_extreme(extreme(entry.get("instance"), f"{where}.instance"))
    try:
        instance: Any = from_dict(entry.get("instance"))
    except InputError as error:
        raise InputError(f"{where}.instance", f"be valid: {error}") from None
    if not instance.known:
        raise InputError(f"{where}.instance.{instance.parameter}", "be given")
    return claimed(instance, entry, where)


def claimed(instance: Any, entry: dict[str, Any], where: str) -> Bound:
    """The bound of an instance that a certificate claims, not yet checked."""
    is_sum = isinstance(instance, Segmented)
    check_keys(entry, SUM if is_sum else PROOF, f"a key of {where}")
    asked = _answer(entry, instance, where)
    if asked.is_best and _arm(entry.get("best_arm"), f"{where}.best_arm") != instance.best_arm():
        raise InputError(f"{where}.best_arm", "be the best arm", entry.get("best_arm"))
    if is_sum:
        return _claimed_sum(instance, entry, where)
    shape = np.shape(getattr(instance, instance.parameter))
    return Bound(
        instance,
        number(entry.get("lower"), f"{where}.lower"),
        number(entry.get("upper"), f"{where}.upper"),
        [
            _rate(item, instance, f"{where}.rates[{i}]")
            for i, item in enumerate(_list(entry, "rates", where))
        ],
        [
            _alternative(item, shape, f"{where}.alternatives[{i}]")
            for i, item in enumerate(_list(entry, "alternatives", where))
        ],
        entry.get("multipliers"),
        _status(entry, where),
        promised=number(entry.get("gap", GAP), f"{where}.gap"),
        cost=_cost(entry, instance, asked, where),
        answer=asked,
    )


def _answer(entry: dict[str, Any], instance: Any, where: str) -> Answer:
    """What was asked for: the best arm, where the file does not say."""
    given = entry.get("answer", "best")
    refuse_extreme(extreme(given, f"{where}.answer"))
    try:
        asked = read_answer(given, instance.n_arms)
        if not asked.is_best:
            right = instance.answered(SAMPLES, asked)
            _ = right.pairs  # refused where something is level
    except InputError as error:
        raise InputError(f"{where}.answer", f"be valid: {error}") from None
    if not asked.is_best:
        chosen = asked.chosen(np.asarray(instance.rewards), instance.sign)
        if entry.get("chosen") != chosen:
            raise InputError(f"{where}.chosen", f"be {chosen}", entry.get("chosen"))
    return asked


def _claimed_sum(instance: Segmented, entry: dict[str, Any], where: str) -> Bound:
    """The bound of segments: that of each, at the cost that stands above them."""
    cost = _cost(entry, instance, BEST, where)
    entries = _list(entry, "segments", where)
    if len(entries) != len(instance.parts):
        raise InputError(f"{where}.segments", f"be {len(instance.parts)}", len(entries))
    parts = []
    for z, (part, own) in enumerate(zip(instance.parts, instance.costs(cost), strict=True)):
        place = f"{where}.segments[{z}]"
        found = claimed(part, entries[z], place)
        if found.cost != own:
            raise InputError(f"{place}.cost", f"be that of all, {own.plain}", found.cost.plain)
        if not found.answer.is_best:
            must = "be best: bounds add up where the best arm of every segment is asked for"
            raise InputError(f"{place}.answer", must, found.answer.plain)
        parts.append(found)
    return replace(
        summed(instance, parts),
        lower=number(entry.get("lower"), f"{where}.lower"),
        upper=number(entry.get("upper"), f"{where}.upper"),
        status=_status(entry, where),
        promised=number(entry.get("gap", GAP), f"{where}.gap"),
        cost=cost,
    )


def _status(entry: dict[str, Any], where: str) -> Status:
    status = choice(entry.get("status"), f"{where}.status", ("certified", "heuristic"))
    return "heuristic" if status == "heuristic" else "certified"


def _cost(entry: dict[str, Any], instance: Any, asked: Answer, where: str) -> Cost:
    """What plays cost: regret, where the file does not say."""
    refuse_extreme(extreme(entry.get("cost"), f"{where}.cost"))
    try:
        cost = cost_of(instance, entry.get("cost", "regret"), asked)
        problem_of(instance, cost, asked)
    except InputError as error:
        raise InputError(f"{where}.cost", f"be valid: {error}") from None
    return cost


def _alternative(item: dict[str, Any], shape: tuple[int, ...], where: str) -> Alternative:
    check_keys(item, ALTERNATIVE, f"a key of {where}")
    arrays = []
    for key in ("parameter", "witness"):
        reader = vector if len(shape) == 1 else matrix
        array = reader(item.get(key), f"{where}.{key}")
        if array.shape != shape:
            raise InputError(f"{where}.{key}", f"have the shape {list(shape)}", list(array.shape))
        arrays.append(array)
    return Alternative(
        _arm(item.get("arm"), f"{where}.arm"),
        arrays[0],
        arrays[1],
        number(item.get("weight"), f"{where}.weight"),
        integer(item.get("piece", 0), f"{where}.piece"),
        _flag(item.get("relative", False), f"{where}.relative"),
    )


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(where, "be true or false", value)
    return value


def _rate(item: dict[str, Any], instance: Any, where: str) -> tuple[Arm, float]:
    """An arm and its rate; the name of its context, which is for the reader, has to be right."""
    check_keys(item, RATE, f"a key of {where}")
    arm, rate = _arm(item.get("arm"), f"{where}.arm"), number(item.get("rate"), f"{where}.rate")
    if "context" in item:
        name = instance.context_name(arm) if instance.has_contexts else None
        if item["context"] != name:
            must = "be left out: there are no contexts" if name is None else f"be {name!r}"
            raise InputError(f"{where}.context", must, item["context"])
    return arm, rate


def _arm(value: Any, where: str) -> Arm:
    if isinstance(value, list):
        return tuple(_arm(entry, where) for entry in value)  # type: ignore[misc]
    return integer(value, where)


def _list(content: dict[str, Any], key: str, where: str = "") -> list[Any]:
    entries = content.get(key)
    field = f"{where}.{key}" if where else key
    if not isinstance(entries, list):
        raise InputError(field, "be a list", entries)
    if key != "bounds" and not all(isinstance(item, dict) for item in entries):
        raise InputError(field, "hold tables of keys")
    return entries

"""Instance files: TOML or JSON with the keys of an instance, or a list of them."""

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ossb import garbage
from ossb.errors import InputError
from ossb.fields import check_keys, choice, seen
from ossb.structures import STRUCTURES, Instance
from ossb.structures.base import keys_of, required_keys

WIDE = 1000
LONG = 200_000  # characters from which on a text is read by the quicker parser
LONGEST_UNIT = 20  # characters of the unit of rewards
LIST_KEY = "instances"  # a TOML file has no list at its top: it stands under this key


def load(source: str | Path) -> tuple[list[Instance], bool]:
    """Instances of a file (``-`` for standard input), and whether the file held a list.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import ossb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arms.json")
    ...     keys = {"structure": "classical", "observation": "bernoulli", "theta": [0.5, 0.6]}
    ...     _ = file.write_text(json.dumps(keys))
    ...     instances, several = ossb.load(file)
    >>> len(instances), several
    (1, False)
    """
    return instances_in(content_of(source))


def check_names(instance: Any, where: str = "") -> None:
    """Refuse names that do not show what they hold.

    Apart from reading an instance: journals of before may hold such names, and open.
    """
    if instance.name:
        seen(instance.name, f"{where}name")
    if instance.reward_unit:
        seen(instance.reward_unit, f"{where}reward_unit", LONGEST_UNIT)
    for i, name in enumerate(instance.arm_names):
        seen(name, f"{where}arm_names[{i}]")


def content_of(source: str | Path) -> Any:
    """What a file for instances holds (``-`` for standard input), before it is read as such."""
    with garbage.kept():  # a file is millions of numbers
        content = parse(_text(source), str(source))
        _refuse_others(content, str(source))
        return content


def instances_in(content: Any) -> tuple[list[Instance], bool]:
    """Instances that the content of a file describes, and whether it is a list."""
    with garbage.kept():
        found, is_list = _described(content)
    for i, instance in enumerate(found):
        check_names(instance, f"instances[{i}]." if is_list else "")
    return found, is_list


def _described(content: Any) -> tuple[list[Instance], bool]:
    if isinstance(content, list):
        return _entries(content), True
    if isinstance(content, dict) and LIST_KEY in content and "structure" not in content:
        extra = sorted(set(content) - {LIST_KEY})
        if extra:
            raise InputError(extra[0], f"not stand beside {LIST_KEY}")
        return _entries(content[LIST_KEY]), True
    return [from_dict(content)], False


def _refuse_others(content: Any, name: str) -> None:
    """Say what a file is for, where it is one of our others."""
    if not isinstance(content, dict) or "structure" in content:
        return
    if "policies" in content:
        raise InputError(name, "hold an instance: this is an experiment, for `ossb run`")
    if content.get("format") == "ossb certificate":
        raise InputError(name, "hold an instance: this is a certificate, for `ossb verify`")


def from_dict(content: Any) -> Instance:
    """The instance that a mapping of keys describes; unknown keys are errors.

    Examples
    --------
    >>> import ossb
    >>> keys = {"structure": "unimodal", "observation": "bernoulli", "theta": [0.1, 0.7, 0.3]}
    >>> ossb.from_dict(keys).kind
    'unimodal'
    """
    if not isinstance(content, Mapping):
        raise InputError("instance", "be a table of keys", content)
    if "structure" not in content:
        raise InputError("structure", f"be given: one of {', '.join(STRUCTURES)}")
    kind = content["structure"]
    if not (isinstance(kind, str) and kind in STRUCTURES):
        choice(kind, "structure", STRUCTURES)
    structure: Any = STRUCTURES[kind]
    keys = {key: value for key, value in content.items() if key != "structure"}
    for name in required_keys(structure) if "segments" not in keys else ():
        if keys.get(name) is None:
            check_keys(keys, keys_of(structure), f"a key of {structure.kind}")
            raise InputError(name, f"be given for {structure.kind}")
    instance: Instance = structure(**keys)
    return instance


def parse(text: str, name: str) -> Any:
    """The content of a TOML or JSON text."""
    text = text.removeprefix("\ufeff")
    stripped = text.lstrip()
    if stripped[:1] in ("{", "[") and not _is_toml_table(stripped):
        if len(stripped) > LONG:
            content = _long_list(stripped)
            if content is not None:
                return content
        try:
            return json.loads(
                stripped, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats
            )
        except InputError:
            raise
        except ValueError as error:  # bad JSON, or a number of thousands of digits
            raise InputError(name, f"be JSON or TOML: {error}") from None
        except RecursionError:
            raise InputError(name, "be nested less deeply") from None
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InputError(name, f"be JSON or TOML: {error}") from None
    except RecursionError:
        raise InputError(name, "be nested less deeply") from None


def _long_list(text: str) -> Any:
    """A long JSON text, read quickly; None where that leaves something to be looked at.

    As many colons as keys say that no key stands there twice: in strings there may be more.
    """
    import msgspec

    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return content if text.count(":") == _count_keys(content) else None


def _count_keys(content: Any) -> int:
    """How many keys there are; in lists and tables that begin with a number none is looked for."""
    if isinstance(content, dict):
        return len(content) + sum(map(_count_keys, content.values()))
    if not isinstance(content, list) or not content:
        return 0
    first = content[0]
    if isinstance(first, list) and first:
        first = first[0]
    return sum(map(_count_keys, content)) if isinstance(first, dict | list) else 0


def _is_toml_table(text: str) -> bool:
    """Whether a text that starts with a bracket is a TOML table header, not a JSON list."""
    line = text[:WIDE].splitlines()[0].strip()  # nobody's header is that wide
    inner = line.strip("[]").strip()
    return line.startswith("[") and line.endswith("]") and inner.replace("_", "a").isalpha()


def _refuse_constant(constant: str) -> Any:
    raise InputError("instance", "hold finite numbers only", constant)


def _without_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(items)
    if len(content) < len(items):
        keys = [key for key, _ in items]
        raise InputError(next(key for key in keys if keys.count(key) > 1), "stand there once only")
    return content


def _entries(contents: Any) -> list[Instance]:
    if not isinstance(contents, list):
        raise InputError(LIST_KEY, "be a list of instances", contents)
    if not contents:
        raise InputError(LIST_KEY, "hold at least one instance", "none")
    return [_entry(content, i) for i, content in enumerate(contents)]


def _entry(content: Any, place: int) -> Instance:
    try:
        return from_dict(content)
    except InputError as error:
        raise InputError(f"{LIST_KEY}[{place}]", f"be valid: {error}") from None


def _text(source: str | Path) -> str:
    try:
        if str(source) == "-":
            return sys.stdin.read()
        return Path(source).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(str(source), "be a file that exists") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(source), f"be a readable text file: {error}") from None

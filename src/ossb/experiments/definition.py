"""What an experiment file says.

An experiment is a few declarative lines: instances (inline, from a file or generated),
policies, a horizon, trials and a seed.
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ossb.errors import InputError
from ossb.experiments.generate import GENERATORS
from ossb.fields import check_keys, choice, integer, seen, text
from ossb.graves_lai.answers import BEST, Answer, read_question
from ossb.instances import check_names, from_dict, load
from ossb.policies import POLICIES
from ossb.policies.own import own_parameters
from ossb.simulation.chosen import read_policy, test_parameters
from ossb.simulation.simulate import CHECKPOINTS, log_spaced
from ossb.simulation.stops import readable_delta, readable_epsilon
from ossb.structures.base import Instance
from ossb.words import hint

BUNDLED = "ossb.experiments.bundled"


@dataclass(frozen=True)
class Named:
    """An instance with the name of its group, over which summaries are taken."""

    group: str
    instance: Instance


@dataclass(frozen=True)
class Experiment:
    """A grid of policies × instances × trials."""

    name: str
    horizon: int
    trials: int
    policies: tuple[tuple[str, dict[str, Any]], ...]
    instances: tuple[Named, ...]
    seed: int = 0
    block: int = 10  # trials in one cell
    batch: int = 1
    delay: int = 0
    note: str = ""
    title: str = ""
    output: str = ""  # folder of the results
    horizons: tuple[int, ...] = ()  # where tables quote the regret
    checkpoints: tuple[int, ...] = ()  # where the regret is noted, the horizon last
    labels: tuple[str, ...] = ()  # what to call each policy; empty for its name and parameters
    until: float = 0.0  # δ: trials end once their leader is ε-good, sure to 1 − δ; 0 for no end
    epsilon: float = 0.0
    answer: Answer = BEST  # what those who play for a test, and its stop, are asked for
    budgets: tuple[int, ...] = ()  # rounds after which the leader is noted

    @property
    def asks(self) -> bool:
        """Whether it is about the arm that trials answer with."""
        return self.until > 0.0 or bool(self.budgets)

    def label(self, place: int) -> str:
        """What a policy is to be called; empty for its name and parameters."""
        return self.labels[place] if self.labels else ""

    def to_dict(self) -> dict[str, Any]:
        """All that was said, with generated and loaded instances written out."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "horizon": self.horizon,
            "trials": self.trials,
            "seed": self.seed,
            "block": self.block,
            "batch": self.batch,
            "delay": self.delay,
            "output": self.output,
            "horizons": list(self.horizons),
            "checkpoints": list(self.checkpoints),
            **({"until": self.until} if self.until else {}),
            **({"epsilon": self.epsilon} if self.epsilon else {}),
            **({} if self.answer.is_best else {"answer": self.answer.plain}),
            **({"budgets": list(self.budgets)} if self.budgets else {}),
            "policies": [
                {"name": name, **parameters, **({"label": label} if label else {})}
                for (name, parameters), label in zip(
                    self.policies, self.labels or [""] * len(self.policies), strict=True
                )
            ],
            "instances": [
                {"group": named.group, **named.instance.to_dict()} for named in self.instances
            ],
        }


KEYS = (
    "name",
    "title",
    "note",
    "horizon",
    "horizons",
    "checkpoints",
    "until",
    "epsilon",
    "answer",
    "budgets",
    "trials",
    "seed",
    "block",
    "batch",
    "delay",
    "output",
    "policies",
    "instances",
)


def bundled() -> dict[str, str]:
    """The experiments that come with the package: their files' contents by name."""
    folder = resources.files(BUNDLED)
    return {
        item.name.removesuffix(".toml"): item.read_text(encoding="utf-8")
        for item in sorted(folder.iterdir(), key=lambda item: item.name.removesuffix(".toml"))
        if item.name.endswith(".toml")
    }


def read(source: str, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment of a file or a bundled name, with ``key=value`` overrides; ``-`` is stdin."""
    path, known = Path(source), bundled()
    if source == "-":
        content, folder = sys.stdin.read(), Path()
    elif source in known:
        content, folder = known[source], Path()
    elif path.is_file():
        try:
            content, folder = path.read_text(encoding="utf-8"), path.parent
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(source, f"be a readable text file: {error}") from None
    else:
        must = f"be a file or one of {', '.join(known)}{hint(source, known)}"
        raise InputError("experiment", must, source)
    try:
        keys = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise InputError(source, f"be TOML: {error}") from None
    given = dict(_override(item) for item in overrides)
    if "horizon" in given and "horizons" not in given:
        # those of the file were chosen for the file's horizon
        kept = (
            [t for t in keys.get("horizons", []) if t < given["horizon"]] if _whole(given) else []
        )
        given["horizons"] = [*kept, given["horizon"]]
        if "budgets" in keys and "budgets" not in given and _whole(given):
            given["budgets"] = [t for t in keys["budgets"] if t < given["horizon"]]
            given["budgets"].append(given["horizon"])
    if source not in known and str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))  # for policies in files beside the experiment's
    return parse({**keys, **given}, folder)


def _whole(given: Mapping[str, Any]) -> bool:
    return isinstance(given["horizon"], int)


def parse(keys: Mapping[str, Any], folder: Path = Path()) -> Experiment:
    """The experiment that a mapping of keys describes; unknown keys are errors."""
    if "structure" in keys:
        must = (
            "stand under [[instances]]; one instance alone is for `ossb bound` or `ossb simulate`"
        )
        raise InputError("structure", must)
    check_keys(keys, KEYS, "a key of an experiment")
    for key in ("name", "horizon", "trials", "policies", "instances"):
        if key not in keys:
            raise InputError(key, "be given")
    name = text(keys["name"], "name")
    if not name or not all(c.isalnum() or c in "-_." for c in name) or name.startswith("."):
        raise InputError("name", "be made of letters, digits, dots, - and _", name)
    horizon = integer(keys["horizon"], "horizon", least=1)
    horizons = tuple(_rounds(keys.get("horizons", [horizon]), "horizons", horizon))
    noted = keys.get("checkpoints", CHECKPOINTS)
    if isinstance(noted, list):
        points = [*_rounds(noted, "checkpoints", horizon)]
    else:
        points = log_spaced(horizon, integer(noted, "checkpoints", least=2)).tolist()
    until = readable_delta(keys["until"], "until") if "until" in keys else 0.0
    epsilon = readable_epsilon(keys.get("epsilon", 0.0))
    budgets: tuple[int, ...] = ()
    if "budgets" in keys:
        budgets = tuple(sorted({*_rounds(keys["budgets"], "budgets", horizon)}))
    answer = read_question(keys.get("answer"))
    for key, given in (("epsilon", epsilon > 0.0), ("answer", not answer.is_best)):
        if given and not (until or budgets):
            raise InputError(key, "stand beside until or budgets")
    entries = list(_policies(keys["policies"], budgets))
    policies = tuple(
        (name, {**test_parameters(name, epsilon, answer), **parameters})
        for name, parameters, _ in entries
    )
    labels = tuple(label for _, _, label in entries)
    return Experiment(
        name=name,
        horizon=horizon,
        trials=integer(keys["trials"], "trials", least=1),
        policies=policies,
        labels=labels if any(labels) else (),
        until=until,
        epsilon=epsilon,
        answer=answer,
        budgets=budgets,
        instances=tuple(_instances(keys["instances"], folder)),
        seed=integer(keys.get("seed", 0), "seed"),
        block=integer(keys.get("block", 10), "block", least=1),
        batch=integer(keys.get("batch", 1), "batch", least=1),
        delay=integer(keys.get("delay", 0), "delay"),
        note=text(keys.get("note", ""), "note"),
        title=text(keys.get("title", ""), "title"),
        output=text(keys.get("output", ""), "output"),
        horizons=horizons,
        checkpoints=tuple(sorted({*points, *horizons, horizon})),
    )


def _rounds(value: Any, field: str, horizon: int) -> Iterator[int]:
    if not isinstance(value, list) or not value:
        raise InputError(field, "be a list of rounds", value)
    for i, entry in enumerate(value):
        point = integer(entry, f"{field}[{i}]", least=1)
        if point > horizon:
            raise InputError(f"{field}[{i}]", f"be at most the horizon, {horizon}", point)
        yield point


def _policies(value: Any, budgets: Sequence[int]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, parameters and label of each policy; one that plans for a horizon has every budget."""
    if not isinstance(value, list) or not value:
        raise InputError("policies", "be a list of names", value)
    seen: list[tuple[str, dict[str, Any]]] = []
    titles: set[str] = set()
    for i, entry in enumerate(value):
        if not isinstance(entry, str | Mapping):
            raise InputError(f"policies[{i}]", "be a name or a table with one", entry)
        name, parameters = read_policy(entry)
        label = ""
        if isinstance(entry, Mapping) and "label" in parameters:
            label = text(parameters.pop("label"), f"policies[{i}].label")
            if not label.strip() or label in titles:
                raise InputError(f"policies[{i}].label", "be a text of its own", label)
            titles.add(label)
        if ":" not in name and name not in POLICIES:
            choice(name, f"policies[{i}]", POLICIES)
        chosen = name, own_parameters(name, parameters)
        if chosen in seen:
            raise InputError(f"policies[{i}]", "differ from those before it", entry)
        seen.append(chosen)
        if budgets and "horizon" not in parameters and is_planned(name):
            for budget in budgets:
                yield name, {**parameters, "horizon": budget}, label and f"{label}, {budget:,}"
        else:
            yield name, parameters, label


def is_planned(name: str) -> bool:
    """Whether a policy is told how many rounds there are."""
    return name in POLICIES and "horizon" in POLICIES[name].parameters


def _instances(value: Any, folder: Path) -> Iterator[Named]:
    if not isinstance(value, list) or not value:
        raise InputError("instances", "be a list of tables", value)
    for i, entry in enumerate(value):
        where = f"instances[{i}]"
        if not isinstance(entry, Mapping):
            raise InputError(where, "be a table of keys", entry)
        keys = dict(entry)
        group = text(keys.pop("group", "") or keys.get("name", ""), f"{where}.group")
        if group:
            seen(group, f"{where}.group")
        try:
            made = list(_made(keys, folder))
        except InputError as error:
            raise InputError(where, f"be valid: {error}") from None
        for number, instance in enumerate(made):
            kind = instance.kind if len(value) == 1 else f"{instance.kind} {i}"
            fallback = instance.name or kind
            if not instance.known:
                raise InputError(f"{where}.{instance.parameter}", "be given")
            yield Named(group or (fallback if len(made) == 1 else f"{fallback} {number}"), instance)


def _made(keys: dict[str, Any], folder: Path) -> Iterator[Instance]:
    if "file" in keys:
        path = folder / text(keys.pop("file"), "file")
        if keys:
            raise InputError(next(iter(keys)), "not stand beside file")
        yield from load(path)[0]
    elif "generate" in keys:
        generator = GENERATORS[choice(keys.pop("generate"), "generate", GENERATORS)]
        keys.pop("name", None)
        for content in generator(keys):
            yield from_dict(content)
    else:
        instance = from_dict(keys)
        check_names(instance)
        yield instance


def _override(item: str) -> tuple[str, Any]:
    key, equals, value = item.partition("=")
    if not equals:
        raise InputError(item, "be written key=value")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()

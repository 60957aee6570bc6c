"""The policies of a simulation as a user gives them: by name, as records, objects or classes."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ossb.errors import InputError
from ossb.graves_lai.answers import Answer
from ossb.policies import POLICIES
from ossb.policies.base import Kind, make, stream_name
from ossb.policies.base import own_parameters as differing
from ossb.policies.own import made_by, own_parameters, policy_of, stream_of
from ossb.policies.plain import playable

SEVERAL = "several are named one by one (--policy hgl --policy ucb1, or a list)"


class Chosen(NamedTuple):
    """One policy of a simulation."""

    name: str  # ours, module:Class, or what an object's class is called
    policy: Any  # a name, a Kind, a class or an object
    parameters: dict[str, Any]
    label: str  # what to call it, if not by its name and parameters

    def for_test(self, epsilon: float, answer: Answer) -> "Chosen":
        """A policy that is told what test it is to play for, if it can be told."""
        known = test_parameters(self.policy, epsilon, answer)
        return self._replace(parameters={**known, **self.parameters}) if known else self

    def made(self, instance: Any) -> Any:
        """The policy for an instance."""
        if isinstance(self.policy, str):
            return policy_of(self.policy, instance, self.parameters)
        if isinstance(self.policy, Kind):
            return make({self.name: self.policy}, self.name, instance, **self.parameters)
        if isinstance(self.policy, type):
            return made_by(self.policy, instance, self.parameters, self.name)
        return playable(self.policy, instance, self.name)

    def own(self) -> dict[str, Any]:
        """The parameters that are not at their defaults."""
        if isinstance(self.policy, str):
            return own_parameters(self.policy, self.parameters)
        if isinstance(self.policy, Kind):
            return differing(self.policy, self.parameters)
        return dict(sorted(self.parameters.items()))

    def stream(self) -> str:
        """The name of the policy's random stream; it is not that of its label."""
        if isinstance(self.policy, str):
            return stream_of(self.policy, self.parameters)
        if isinstance(self.policy, Kind):
            return stream_name(self.policy, self.parameters)
        return self.name + "".join(f",{key}={value!r}" for key, value in self.own().items())


def test_parameters(policy: Any, epsilon: float, answer: Answer) -> dict[str, Any]:
    """What of a test a policy is told that plays for one: ε and the answer, where not usual."""
    kind = POLICIES.get(policy) if isinstance(policy, str) else policy
    if not isinstance(kind, Kind) or "delta" not in kind.parameters:
        return {}
    told = {
        "epsilon": epsilon or None,
        "top": None if answer.is_best or answer.above is not None else answer.top,
        "above": answer.above,
    }
    return {k: v for k, v in told.items() if k in kind.parameters and v is not None}


def chosen_of(policies: Any) -> list[Chosen]:
    """The policies of a simulation, one or several; no two may be called the same."""
    alone = isinstance(policies, str | Mapping | type | Kind) or hasattr(policies, "select")
    several = not alone and isinstance(policies, Iterable)
    found = [_chosen(entry) for entry in (policies if several else [policies])]
    if not found:
        raise InputError("policies", "hold at least one policy", "none")
    taken: set[str] = set()
    for place, one in enumerate(found):
        if isinstance(one.policy, str) and not one.label:
            continue  # the same twice is the same
        title = one.label or _title(one)
        if title in taken:
            must = f'be told apart: {{"name": …, "label": "…"}} beside another {title}'
            raise InputError(f"policies[{place}]", must)
        taken.add(title)
    return found


def _title(one: Chosen) -> str:
    return one.name + "".join(f",{key}={value}" for key, value in one.own().items())


def _chosen(entry: Any) -> Chosen:
    if isinstance(entry, str):
        name, parameters = read_policy(entry)
        return Chosen(name, name, parameters, "")
    if not isinstance(entry, Mapping):
        return Chosen(_called(entry), entry, {}, "")
    keys = dict(entry)
    if "name" not in keys:
        raise InputError("policy", "have a name", dict(entry))
    policy, label = keys.pop("name"), keys.pop("label", "")
    if not isinstance(label, str):
        raise InputError("label", "be a text", label)
    if isinstance(policy, str | Kind | type):
        name = policy if isinstance(policy, str) else _called(policy)
        return Chosen(name, policy, keys, label)
    if keys:
        raise InputError(next(iter(keys)), "be left out: the policy is made already")
    return Chosen(_called(policy), policy, {}, label)


def _called(policy: Any) -> str:
    """What an object is called, where nothing else is said: a record with its fields."""
    if isinstance(policy, Kind):
        return policy.name
    if isinstance(policy, type):
        return policy.__name__
    if hasattr(policy, "_asdict"):
        fields = policy._asdict().items()
        plain = [f"{key}={value}" for key, value in fields if isinstance(value, int | float | str)]
        return type(policy).__name__ + (f"({', '.join(plain)})" if plain else "")
    return type(policy).__name__


def read_policy(entry: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a policy as a user writes it."""
    if isinstance(entry, Mapping):
        parameters = dict(entry)
        if "name" not in parameters:
            raise InputError("policy", "have a name", dict(entry))
        return str(parameters.pop("name")), parameters
    name, _, rest = str(entry).partition(":")
    if "," in name:
        raise InputError("policy", f"be one policy; {SEVERAL}", entry)
    head, _, tail = rest.partition(":")
    if head.isidentifier():
        name, rest = f"{name}:{head}", tail  # a user's own, module:Class
    parameters = {}
    for item in filter(None, rest.split(",")):
        key, equals, text = item.partition("=")
        if not equals:
            must = f"be written NAME:key=value,key=value; {SEVERAL}"
            raise InputError("policy", must, entry)
        parameters[key.strip()] = _value(text.strip())
    return name.strip(), parameters


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text

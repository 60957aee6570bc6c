"""Policies by name: ours, and a user's own as ``module:Class``."""

import hashlib
import importlib
import inspect
import os
import sys
from typing import Any

from ossb.errors import InputError
from ossb.policies import POLICIES, base, policy
from ossb.policies.plain import playable
from ossb.structures.base import Instance


def policy_of(name: str, instance: Instance, parameters: dict[str, Any]) -> Any:
    """The policy of a name for an instance.

    A name with a colon is a user's own class, made as ``Class.of(instance, **parameters)`` where it
    has such a method, else as ``Class(**parameters)``, with ``instance`` or ``n_arms`` where it
    takes one and no parameter says otherwise.
    """
    if ":" not in name:
        return policy(name, instance, **parameters)
    return made_by(class_of(name), instance, parameters, name)


def made_by(maker: Any, instance: Instance, parameters: dict[str, Any], name: str) -> Any:
    """The policy that a user's class makes for an instance; a plain one is made playable."""
    try:
        if hasattr(maker, "of"):
            return playable(maker.of(instance, **parameters), instance, name)
        return playable(maker(**{**_offered(maker, instance), **parameters}), instance, name)
    except TypeError as error:
        raise InputError("policy", f"be made from its parameters: {error}", name) from None


def _offered(maker: Any, instance: Any) -> dict[str, Any]:
    """What a class takes of an instance, by the names of its arguments."""
    try:
        taken = inspect.signature(maker).parameters
    except (TypeError, ValueError):  # of a built-in nothing is known
        return {}
    offers = {"instance": instance, "n_arms": instance.n_arms}
    return {key: offers[key] for key in taken if offers.get(key) is not None}


def own_parameters(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that differ from a policy's own, in a fixed order."""
    if ":" in name:
        return dict(sorted(parameters.items()))
    return base.own_parameters(POLICIES[name], parameters)


def stream_of(name: str, parameters: dict[str, Any]) -> str:
    """The name of a policy's random stream."""
    if ":" not in name:
        return base.stream_name(POLICIES[name], parameters)
    return name + "".join(f",{k}={parameters[k]!r}" for k in sorted(parameters))


def source_of(name: str) -> str:
    """Digest of the file of a user's policy, so that editing it runs it anew; empty for ours."""
    if ":" not in name:
        return ""
    source = inspect.getsource(importlib.import_module(class_of(name).__module__))
    return hashlib.sha256(source.encode()).hexdigest()


def class_of(name: str) -> Any:
    """The class that ``module:Class`` names."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError("policy", f"be an importable module:Class: {error}", name) from None

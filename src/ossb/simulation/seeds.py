"""Random streams keyed by names: adding a policy, a trial or a worker changes no other number."""

import hashlib
import json
from typing import Any

import numpy as np

UNTOLD = ("name", "note", "arm_names", "reward_unit")  # keys that decide nothing


def key(*parts: Any) -> list[int]:
    """Entropy for numpy's seed sequence from anything that JSON can write."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]


def noise_stream(seed: int, instance: str, trial: int) -> np.random.Generator:
    """The environment's stream: the same for every policy."""
    return np.random.Generator(np.random.PCG64(key("noise", seed, instance, trial)))


def context_stream(seed: int, instance: str, trial: int) -> np.random.Generator:
    """The stream of who comes: the same for every policy."""
    return np.random.Generator(np.random.PCG64(key("context", seed, instance, trial)))


def policy_stream(seed: int, instance: str, policy: str, trial: int) -> np.random.Generator:
    """A policy's own stream."""
    return np.random.Generator(np.random.PCG64(key("policy", seed, instance, policy, trial)))


def instance_key(content: dict[str, Any]) -> str:
    """Digest of what determines an instance; its names, notes and unit do not.

    Nor whether a ``sigma`` of 1 was given or left out.
    """
    telling = {k: v for k, v in content.items() if k not in UNTOLD}
    if telling.get("sigma") == 1:
        del telling["sigma"]
    return "".join(f"{word:08x}" for word in key("instance", telling))

"""What a version of the suite says: its instances, halves, horizons, seed and policies."""

import tomllib
from importlib import resources
from typing import Any, NamedTuple

from ossb.errors import InputError
from ossb.experiments.definition import Experiment, parse
from ossb.structures.base import Instance
from ossb.words import hint

HALVES = ("open", "held-out")
NEWEST = 1
BLOCK = 10  # trials that are played, and shared out, together


class SuiteInstance(NamedTuple):
    """One named instance of a version."""

    name: str
    half: str
    horizon: int
    instance: Instance
    policies: tuple[str, ...]  # those with frozen rows

    @property
    def arms(self) -> int:
        """How many arms there are; every instance of the suite lists them."""
        listed: Any = self.instance
        return int(listed.n_arms)


class Suite(NamedTuple):
    """A version: never changed once it is published."""

    version: int
    seed: int
    trials: int
    instances: tuple[SuiteInstance, ...]

    def named(self, name: str) -> SuiteInstance:
        """An instance by its name."""
        for one in self.instances:
            if one.name == name:
                return one
        known = [one.name for one in self.instances]
        must = f"be an instance of version {self.version}{hint(name, known)}: see ossb suite list"
        raise InputError("instance", must, name)

    def experiment(
        self, instances: list[SuiteInstance], policies: tuple[str, ...], trials: int
    ) -> Experiment:
        """The experiment that plays policies on instances of one horizon."""
        horizon = instances[0].horizon
        return parse(
            {
                "name": f"suite-{self.version}",
                "title": f"ossb-suite {self.version}",
                "horizon": horizon,
                "checkpoints": 2,  # the regret at the horizon is what counts
                "trials": trials,
                "seed": self.seed,
                "block": BLOCK,
                "policies": list(policies),
                "instances": [{"group": one.name, **one.instance.to_dict()} for one in instances],
            }
        )


def versions() -> list[int]:
    """The versions there are, oldest first."""
    return list(range(1, NEWEST + 1))


def suite(version: int = NEWEST) -> Suite:
    """A version of the suite."""
    if version not in versions():
        raise InputError("version", f"be one of {', '.join(map(str, versions()))}", version)
    content = tomllib.loads(_file(f"version-{version}.toml"))
    keys = {"name": "suite", "horizon": 1, "trials": 1, "policies": ["uniform"]}
    instances = []
    for entry in content["instances"]:
        name, half = entry.pop("name"), entry.pop("half")
        horizon = content["short" if entry.pop("short", False) else "horizon"]
        (named,) = parse({**keys, "instances": [{"group": name, **entry}]}).instances
        policies = tuple(content["policies"][named.instance.kind])
        instances.append(SuiteInstance(name, half, horizon, named.instance, policies))
    return Suite(content["version"], content["seed"], content["trials"], tuple(instances))


def trials_of(found: Suite, share: float) -> int:
    """How many trials a share of the version is, in whole blocks."""
    if not 0.0 < share <= 1.0:
        raise InputError("share", "lie in (0, 1]", share)
    return max(BLOCK, BLOCK * round(share * found.trials / BLOCK))


def _file(name: str) -> str:
    return resources.files("ossb.suite").joinpath(name).read_text(encoding="utf-8")

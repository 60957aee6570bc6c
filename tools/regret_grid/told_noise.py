"""Policies that are told another standard deviation of the noise than the true one."""

from dataclasses import replace
from typing import Any

from ossb.policies import policy as named


class ToldNoise:
    """Makes one of our policies as if for an instance with ``factor`` times the noise."""

    @staticmethod
    def of(instance: Any, policy: str, factor: float) -> Any:
        return named(policy, replace(instance, sigma=factor * instance.sigma))

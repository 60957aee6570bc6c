"""Frozen rows that are not of the code at hand."""

from ossb.suite.definition import Suite
from ossb.suite.frozen import Frozen
from ossb.suite.lines import Line, digests


def older(version: Suite, rows: Frozen, instance: str | None = None) -> list[Line]:
    """The frozen rows, of one instance or of all, whose digest the code at hand does not have.

    What differs is the policy's code, its parameters or its numbers: regrets may, and need not.
    """
    chosen = version.instances if instance is None else (version.named(instance),)
    found = []
    for one in chosen:
        lines = rows.of(one.name)
        policies = tuple(line.policy for line in lines)
        known = digests(version.experiment([one], policies, version.trials))
        found += [line for line in lines if known[one.name, line.policy] != line.digest]
    return found

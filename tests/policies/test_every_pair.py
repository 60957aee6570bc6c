"""Compiling changes nothing, bit for bit, and deciding changes nothing that was told.

Every policy × structure × family that fits.
"""

import sys

import pytest

from ossb import records
from ossb.policies import POLICIES, policy
from ossb.structures import STRUCTURES
from policies.contract import assert_compiling_changes_nothing, assert_select_only_reads
from policies.pairs import compiled_pairs, instances, pairs

PAIRS = list(compiled_pairs())
NEVER_LISTED = {"aescb", "glpg"}  # for arm sets behind an oracle, which are interpreted


def test_the_pairs_are_all_there_are():
    structures = {instance.kind for instance in instances().values()}
    assert structures == set(STRUCTURES)
    assert {name for name, _, _ in PAIRS} >= {kind for kind in POLICIES if ":" not in kind} - (
        NEVER_LISTED
    )
    families = {(i.kind, i.observation) for i in instances().values() if i.kind != "combinatorial"}
    for kind, found in STRUCTURES.items():
        if kind != "combinatorial":
            assert {family for k, family in families if k == kind} == set(found.observations)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "instance"), [pytest.param(p, i, id=f"{p} {n}") for p, n, i in PAIRS]
)
def test_compiled_and_interpreted_trials_are_identical(name, instance):
    assert_compiling_changes_nothing(instance, name, horizon=80)


@pytest.mark.parametrize(
    ("name", "instance"),
    [pytest.param(p, i, id=f"{p} {n}") for p, n, i in pairs()],
)
def test_deciding_leaves_the_tally_as_it_was(name, instance):
    assert_select_only_reads(instance, name, rounds=12)


def fields_of(memory):
    """Names of all fields in a memory, however deep."""
    for name, part in zip(getattr(memory, "_fields", ()), memory, strict=True):
        yield name
        if isinstance(part, tuple):
            yield from fields_of(part)


def our_methods():
    """Names of all methods of our records; tests have records of their own."""
    modules = [module for name, module in sys.modules.items() if name.startswith("ossb.")]
    found = [value for module in modules for value in list(vars(module).values())]
    classes = [value for value in found if isinstance(value, type) and hasattr(value, "_fields")]
    return {
        name
        for name in records._signatures
        if any(name in vars(c) and name not in c._fields for c in classes)
    }


def test_no_field_of_a_memory_is_a_method_of_a_record():
    """Compiled code could not tell one from the other."""
    methods = our_methods()
    assert {"select", "weigh", "kl"} <= methods
    for name, _, instance in pairs():
        taken = methods.intersection(fields_of(policy(name, instance).start()))
        assert not taken, (name, instance, taken)

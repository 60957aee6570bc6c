"""Compiling changes nothing, bit for bit, and deciding changes nothing that was told.

Every policy × structure × family that fits.
"""

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


def test_no_field_of_a_memory_is_a_method_of_a_record():
    """Compiled code could not tell one from the other."""
    for name, _, instance in pairs():
        taken = set(fields_of(policy(name, instance).start())) & set(records._signatures)
        assert not taken, (name, instance, taken)

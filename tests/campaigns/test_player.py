"""Slow policies are compiled aside, and then taken."""

import json
import time
from typing import NamedTuple

import numpy as np
import pytest

from ossb.campaigns import Campaign
from ossb.campaigns import compile as compile_module
from ossb.campaigns import player as player_module
from ossb.campaigns.arrays import apply, changes, leaves, packed, rebuilt, unpacked
from ossb.campaigns.player import Player, choose, draws
from ossb.campaigns.snapshots import fingerprint
from ossb.graves_lai.generic import minimise as programs
from ossb.graves_lai.generic.interior_point import solve_batch
from ossb.instances import from_dict
from ossb.policies import POLICIES
from ossb.policies.base import refusal
from ossb.quick import Quick
from ossb.tally import empty_tally

pytestmark = pytest.mark.aside

INSTANCE = {"structure": "classical", "observation": "bernoulli", "n_arms": 3}


def play(campaign, rounds):
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, float(rng.random() < 0.5))


def player_of(campaign):
    with campaign._journal.look() as state:
        return campaign._players.of(state, frozenset())


def test_a_slow_policy_is_compiled_aside_and_decides_the_same(monkeypatch, clock):
    plain = Campaign.open("memory://", "c", instance=INSTANCE, clock=clock)
    play(plain, 30)
    monkeypatch.setattr(player_module, "WORTH", 1e-9)
    monkeypatch.setattr(player_module, "SLOW", -1.0)
    campaign = Campaign.open("memory://", "c", instance=INSTANCE, clock=clock)
    rng = np.random.default_rng(0)
    for _ in range(30):
        (decision,) = campaign.ask()
        campaign.tell(decision.id, float(rng.random() < 0.5))
        compiling = player_of(campaign)._compiling
        if compiling is not None:
            compiling.join()
    assert player_of(campaign)._step is choose.compiled
    with campaign._journal.look() as one, plain._journal.look() as other:
        assert fingerprint(one) == fingerprint(other)


def test_without_a_compiler_it_goes_on_as_before(monkeypatch, clock):
    tries = []
    monkeypatch.setattr(player_module, "WORTH", 1e-9)
    monkeypatch.setattr(player_module, "SLOW", -1.0)
    monkeypatch.setattr(player_module, "compile_aside", lambda *keys: tries.append(keys))
    monkeypatch.setattr(type(choose), "is_compiled", lambda self, *arguments: False)
    campaign = Campaign.open("memory://", "c", instance=INSTANCE, clock=clock)
    for _ in range(10):
        play(campaign, 1)
        compiling = player_of(campaign)._compiling
        if compiling is not None:
            compiling.join()
    assert len(tries) == 1
    assert player_of(campaign)._step is choose


@pytest.mark.parametrize("slow", [False, True])
def test_a_rehearsal_finds_out_who_needs_compiling(monkeypatch, clock, slow):
    tries = []
    monkeypatch.setattr(player_module, "SLOW", -1.0 if slow else 1e9)
    monkeypatch.setattr(player_module, "compile_aside", lambda *keys: tries.append(keys))
    monkeypatch.setattr(type(choose), "is_compiled", lambda self, *arguments: False)
    campaign = Campaign.open("memory://", "c", instance=INSTANCE, clock=clock)
    with campaign._journal.look() as state:
        before = fingerprint(state)
    campaign.prepare()
    rehearsing = player_of(campaign)._compiling
    if rehearsing is not None:
        rehearsing.join()
    assert len(tries) == int(slow)
    assert (player_of(campaign)._compiling is None) == (not slow)
    with campaign._journal.look() as state:
        assert fingerprint(state) == before  # a rehearsal leaves no trace


def test_campaigns_of_one_process_compile_one_after_the_other(monkeypatch, clock):
    """A service that starts again may have dozens of slow ones."""
    running, most, cached = [0], [0], set()

    def compiles(instance, chosen):
        running[0] += 1
        most[0] = max(most[0], running[0])
        time.sleep(0.02)
        cached.add(chosen["name"])
        running[0] -= 1

    monkeypatch.setattr(player_module, "SLOW", -1.0)
    monkeypatch.setattr(player_module, "compile_aside", compiles)
    monkeypatch.setattr(Player, "_is_cached", lambda self: self._chosen["name"] in cached)
    monkeypatch.setattr(Player, "compile", lambda self: None)
    players = [Player(from_dict(INSTANCE), {"name": name}) for name in ("hgl", "ucb1", "imed")]
    for player in players:
        player.prepare()
    for player in players:
        player._compiling.join()
    assert most == [1]
    assert cached == {"hgl", "ucb1", "imed"}


def test_the_compiling_process_compiles():
    compile_module.main(json.dumps({"instance": INSTANCE, "policy": {"name": "hgl"}}))
    player = Player(from_dict(INSTANCE), {"name": "hgl"})
    assert choose.is_compiled(*player._first_step())


POLYTOPE = {"structure": "polytope", "observation": "bernoulli", "A": [[1, 1, 1]], "b": [2.2]}


def test_of_a_policy_on_polytopes_the_programs_are_compiled_aside(monkeypatch, clock):
    monkeypatch.setattr("ossb.quick.WORTH", 1e9)  # seconds: asks alone never turn to it
    monkeypatch.setitem(solve_batch.__dict__, "quick", Quick(solve_batch))
    plain = Campaign.open("memory://", "c", instance=POLYTOPE, policy="ossb", clock=clock)
    play(plain, 12)
    assert not programs.is_ready()
    monkeypatch.setattr(player_module, "SLOW", -1.0)
    campaign = Campaign.open("memory://", "c", instance=POLYTOPE, policy="ossb", clock=clock)
    campaign.prepare()
    player_of(campaign)._compiling.join()
    assert programs.is_ready()
    assert player_of(campaign)._step is choose
    play(campaign, 12)
    with campaign._journal.look() as one, plain._journal.look() as other:
        assert fingerprint(one) == fingerprint(other)


def test_the_compiling_process_compiles_programs(monkeypatch):
    monkeypatch.setitem(solve_batch.__dict__, "quick", Quick(solve_batch))
    compile_module.main(json.dumps({"instance": POLYTOPE, "policy": {"name": "ossb"}}))
    assert programs.is_ready()


def test_changes_of_arrays_are_bit_for_bit():
    before = [np.array([0.0, 1.0, np.nan, 2.0]), np.zeros((2, 3), np.int64), np.ones(5)]
    after = [array.copy() for array in before]
    after[0][0] = -0.0
    after[1][1, 2] = 7
    after[2][:] = [np.nan, np.inf, 1e-300, 0.1, -1.0]
    found = changes(after, before)
    assert [change["array"] for change in found] == [0, 1, 2]
    assert "all" in found[2]
    folded = [array.copy() for array in before]
    apply(folded, json.loads(json.dumps(found)))
    assert [array.tobytes() for array in folded] == [array.tobytes() for array in after]
    assert changes(after, after) == []


def test_memories_are_rebuilt_around_saved_arrays():
    template = (np.zeros(2), (np.ones((2, 2)), 0.5), np.zeros(1, np.int64))
    saved = unpacked(json.loads(json.dumps(packed(list(leaves(template))))))
    memory = rebuilt(template, saved)
    assert memory[1][0] is saved[1]
    assert memory[1][1] == 0.5
    assert rebuilt(template, saved[:2]) is None
    assert rebuilt(template, [saved[0], saved[1].T.ravel(), saved[2]]) is None
    with pytest.raises(TypeError, match="got str"):
        list(leaves((np.zeros(1), "x")))


class Scrap(NamedTuple):
    rough: np.ndarray

    scratch = True


def test_scratch_is_not_saved():
    template = (np.zeros(2), Scrap(np.ones(3)), np.zeros(1))
    assert [leaf.size for leaf in leaves(template)] == [2, 1]
    memory = rebuilt(template, [np.ones(2), np.ones(1)])
    assert memory[1].rough is template[1].rough
    assert memory[2][0] == 1.0


def test_a_generator_is_handed_to_compiled_code_that_names_it_alone():
    """It takes longer to hand over than most steps; who draws is seen from the code."""
    instance = from_dict({"structure": "classical", "observation": "bernoulli", "n_arms": 3})
    drawing = {}
    for name, kind in POLICIES.items():
        if refusal(kind, instance) is None:
            drawing[name] = draws(Player(instance, {"name": name}).policy)
    assert {name for name, does in drawing.items() if does} >= {"thompson", "mints"}
    assert not any(drawing[name] for name in ("hgl", "ossb", "ucb1", "kl-ucb", "top-two"))
    for name, does in drawing.items():
        rng, given = np.random.default_rng(0), []
        player = Player(instance, {"name": name})
        tally = empty_tally(3, 3)
        for leaf in (tally.counts, tally.plays):
            leaf[:] = 4
        tally.means[:], tally.clock[0] = [0.2, 0.5, 0.6], 12
        memory = player.bind(player.start())
        for _ in range(9):
            before = rng.bit_generator.state
            player.select(tally, memory, rng)
            given.append(rng.bit_generator.state != before)
        assert does or not any(given), name


class Handed(NamedTuple):
    """Draws in a function of its own."""

    def select(self, tally, memory, chance):
        return (lambda: chance)()


class Kept(NamedTuple):
    def select(self, tally, memory, chance):
        return tally


def test_names_of_generators_do_not_matter():
    assert draws(Handed())
    assert not draws(Kept())
    assert draws(object())

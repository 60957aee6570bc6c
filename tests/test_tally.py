"""Means lent for a decision to what was asked for and not told of yet."""

import numpy as np

from ossb.tally import empty_tally, impute_pending, observe, restore_pending


def waiting_tally():
    tally = empty_tally(4, 4)
    for component, value in ((0, -100.0), (0, -104.0), (1, -99.0)):
        observe(tally, component, value)
    tally.plays[:] = [2, 1, 1, 0]
    tally.pending[2], tally.clock[0] = 1, 3
    return tally


def test_what_is_not_told_of_gets_the_average_of_the_others_and_gives_it_back():
    tally = waiting_tally()
    before = [np.copy(part) for part in tally]
    assert impute_pending(tally)
    assert tally.means.tolist() == [-102.0, -99.0, -100.5, -100.5]
    assert tally.counts.tolist() == [2, 1, 0, 0]
    restore_pending(tally)
    for part, kept in zip(tally, before, strict=True):
        assert (part == kept).all()
    observe(tally, 2, 0.1)
    assert tally.means[2] == 0.1  # to the last bit


def test_nothing_is_lent_before_anything_is_told_or_where_nothing_is_on_its_way():
    tally = waiting_tally()
    tally.pending[:] = 0
    assert not impute_pending(tally)
    fresh = empty_tally(2, 2)
    fresh.pending[0] = fresh.plays[0] = 1
    assert not impute_pending(fresh)
    assert fresh.means.tolist() == [0.0, 0.0]

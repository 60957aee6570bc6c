"""Fewer of each fault than ``benchmarks/reliability.py`` runs on demand."""

import pytest

import store_faults


def test_a_damaged_log_leaves_a_prefix_of_the_commits(tmp_path):
    places, prefixes = store_faults.damage_log(tmp_path, 150)
    assert places == 150
    assert prefixes > 20


def test_a_flipped_bit_in_the_file_is_found_or_harmless(tmp_path):
    found, harmless, named = store_faults.flip_file(tmp_path, 150)
    assert found > 30
    assert named > 10
    assert found + harmless == 150


def test_a_flipped_bit_in_a_key_does_not_hide_which_event_is_bad(tmp_path):
    """Where a search is led astray, the events before the damage are still read."""
    where = store_faults.keys_between_pages
    found, harmless, named = store_faults.flip_file(tmp_path, 40, where=where, bit=7)
    assert (found, harmless, named) == (40, 0, 40)


@pytest.mark.parametrize("after", [False, True])
def test_no_statement_that_fails_loses_what_was_acknowledged(tmp_path, after):
    reached, fail_at = True, 0
    while reached:
        fail_at += 1
        reached, refused = store_faults.fail_statement(tmp_path, fail_at, after, steps=4)
        assert refused == int(reached)
    assert fail_at > 10


def test_a_full_disk_loses_nothing_and_recovers_alone(tmp_path):
    process = store_faults.run_aside("fill_disk", tmp_path / "full.db")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert "acknowledged" in output


def test_a_killed_process_loses_nothing(tmp_path):
    acknowledged, _ = store_faults.kill_loops(tmp_path, 4)
    assert acknowledged > 0


def test_a_killed_database_loses_nothing(postgresql, database):
    acknowledged, refused = store_faults.kill_postgresql(postgresql, database, 2)
    assert acknowledged >= 6
    assert refused >= 2

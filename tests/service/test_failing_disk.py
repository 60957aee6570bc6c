"""A few writes and syncs that fail, and a full disk, under a real server (more: benchmarks)."""

import pytest

import failing_disk

pytestmark = pytest.mark.skipif(failing_disk.compiler() is None, reason=failing_disk.ABSENT)


def assert_nothing_lost(row):
    for key in ("lost", "twice", "invented", "unaccounted", "otherwise", "exit_code"):
        assert row[key] == 0, (key, row)


def test_the_nth_write_or_sync_fails(tmp_path):
    row = failing_disk.fail_each(tmp_path, most=6, main=1)
    assert_nothing_lost(row)
    assert row["failures"] == row["orders"] == 21
    assert row["refused"] >= 18  # a checkpoint that fails is nobody's loss


def test_a_server_killed_right_after_a_failure(tmp_path):
    row = failing_disk.fail_each(tmp_path, most=3, kill_every=3)
    assert_nothing_lost(row)
    assert row["failures"] == 9


def test_a_full_disk_that_is_freed(tmp_path):
    row = failing_disk.fill(tmp_path, times=2, tries=20)
    assert_nothing_lost(row)
    assert row["refused"] > 30

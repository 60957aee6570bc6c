"""Arms numbered as they are met."""

from ossb.arm_sets.table import ArmTable, RenamedTable


def test_arms_are_numbered_in_the_order_they_come():
    table = ArmTable([(0, 1), (2,)])
    assert [table.place(arm) for arm in [(2,), (1, 3), (0, 1), (1, 3)]] == [1, 2, 0, 2]
    assert table.arms == [(0, 1), (2,), (1, 3)]


def test_a_table_on_fewer_items_is_the_same_table():
    table = ArmTable([(0, 1)])
    fewer = RenamedTable(table, [1, 3])
    assert fewer.place((0, 1)) == 1
    assert fewer.place((1,)) == 2
    assert table.arms == [(0, 1), (1, 3), (3,)]
    assert table.place((1, 3)) == 1

"""Words for people."""

from ossb.words import counted, hint


def test_one_is_not_several():
    assert counted(1, "trial") == "1 trial"
    assert counted(0, "trial") == "0 trials"
    assert counted(2000, "trial") == "2,000 trials"
    assert counted(1, "policy", "policies") == "1 policy"
    assert counted(3, "policy", "policies") == "3 policies"


def test_the_nearest_name_or_none():
    assert hint("teta", ["phi", "theta"]) == " (did you mean 'theta'?)"
    assert hint("zzz", ["phi", "theta"]) == ""
    assert hint(7, ("phi",)) == ""

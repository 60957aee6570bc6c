import numpy as np

from ossb.graves_lai.linear.agreement import disagreement, slips

TOP, PHI = np.array([1.0, 0.3]), np.array([1.0, 0.0])


def test_rounding_of_a_far_parameter_is_no_disagreement():
    far = PHI + 1e8 * np.array([-0.3, 1.0]) / 3.0
    assert disagreement(TOP, PHI, far) == 0.0
    assert disagreement(TOP, PHI, PHI) == 0.0


def test_anything_more_is_one():
    assert disagreement(TOP, PHI, PHI + [1e-12, 0.0]) > 9e-13


def test_taking_the_slips_away_agrees():
    parameter = PHI + np.array([0.2, -0.1])
    slip = slips(TOP, PHI, parameter, np.eye(2))
    assert abs((parameter - slip - PHI) @ TOP) < 1e-15
    assert not slips(np.zeros(2), PHI, parameter, np.eye(2)).any()

"""What a bound offers: its rates, its gap, Theorem 2's constant, JSON and a notebook table."""

import dataclasses
import json
import math

import numpy as np
import pytest

from ossb.errors import CertificationError, InputError
from ossb.graves_lai.bound import Bound
from ossb.structures import bound
from ossb.structures.classical import Classical
from ossb.structures.dueling import Dueling

THREE = Classical(theta=[1.0, 0.0, 0.5], name="three")
DUELS = Dueling(preferences=[[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]])


class Unlisted(Classical):
    """Arms that are not listed."""

    @property
    def n_arms(self):
        return None

    @n_arms.setter
    def n_arms(self, value):
        pass


def test_rates_stand_at_their_arms():
    answer = bound(THREE)
    assert answer.rates == pytest.approx([0.0, 2.0, 8.0])
    assert answer.value == pytest.approx(2.0 + 4.0)
    assert answer.best_arm == 0
    assert answer.seconds > 0.0
    duels = bound(DUELS)
    assert duels.rates.size == 6
    assert np.count_nonzero(duels.rates) == len(duels.support) == 2
    assert sum(duels.rates) == pytest.approx(sum(rate for _, rate in duels.support))


def test_the_gap_is_relative():
    answer = bound(THREE)
    assert answer.gap == 0.0
    assert dataclasses.replace(answer, lower=0.0, upper=0.0).gap == 0.0
    assert dataclasses.replace(answer, lower=0.75, upper=1.0).gap == 0.25


def test_theorem_two():
    answer = bound(THREE)
    psi = 3 * 8.0 * (1.0 + 0.5)
    assert answer.asymptotic_constant() == answer.value
    expected = (6.0 + 2 * 0.1 * psi) * 1.5
    assert answer.asymptotic_constant(epsilon=0.1, gamma=0.5) == pytest.approx(expected)
    for epsilon in (-0.1, 1 / 3, 1.0, math.nan):
        with pytest.raises(
            InputError, match=r"`epsilon` must lie in \[0, 1/3\), as Theorem 2 asks"
        ):
            answer.asymptotic_constant(epsilon)
    for gamma in (-0.1, math.inf, math.nan):
        with pytest.raises(InputError, match="`gamma` must be non-negative"):
            answer.asymptotic_constant(0.0, gamma)
    certain = bound(Classical(observation="bernoulli", theta=[1.0, 0.5]))
    assert certain.asymptotic_constant(0.4, 1.0) == 0.0


def test_what_needs_a_list_of_arms_says_so():
    answer = dataclasses.replace(bound(THREE), instance=Unlisted(theta=[1.0, 0.0, 0.5]))
    with pytest.raises(InputError, match="`rates` must be read from `support`"):
        _ = answer.rates
    with pytest.raises(InputError, match="`epsilon` must be used with listed arms only"):
        answer.asymptotic_constant(0.1)


def test_the_command_lines_keys():
    content = bound(DUELS).to_dict()
    keys = ["cost", "value", "lower", "upper", "best_arm", "rates", "status", "seconds"]
    assert list(content) == keys
    assert content["cost"] == "regret"
    assert content["best_arm"] == [0, 0]
    assert [set(entry) for entry in content["rates"]] == [{"arm", "rate"}] * 2
    assert content["rates"][0]["arm"] == [0, 1]
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_one_line_in_a_shell():
    assert repr(bound(THREE)) == "<Bound value=6 gap=0.0e+00 best_arm=0 support=2 certified>"


def test_a_table_in_a_notebook():
    html = bound(THREE)._repr_html_()
    assert html.startswith("<table><caption>C(θ) = 6, certified in [6, 6]; best arm 0</caption>")
    assert html.count("<tr>") == 3
    assert html.index("<td>2</td><td>0.5</td><td>8</td>") < html.index("<td>1</td><td>1</td>")


def test_names_are_escaped_in_a_notebook():
    names = ["<script>alert(1)</script>", "a & b"]
    html = bound(Classical(theta=[1.0, 0.0], arm_names=names))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html


def test_long_and_empty_tables():
    many = bound(Classical(theta=[1.0, *np.linspace(0.0, 0.9, 30)]))._repr_html_()
    assert "… 20 more" in many
    assert many.count("<tr>") == 1 + 10 + 1
    none = bound(Classical(theta=[1.0]))._repr_html_()
    assert "nothing needs exploring" in none


class Loose(Classical):
    """A solver that stops too early."""

    def solve(self, gap):
        answer = super().solve(gap)
        return dataclasses.replace(
            answer, lower=0.9 * answer.lower, status=self.note or "certified"
        )


def test_a_gap_that_is_too_wide_is_an_error_unless_heuristic():
    with pytest.raises(CertificationError, match=r"a relative gap of 1\.0e-01; 1\.0e-06 was asked"):
        bound(Loose(theta=[1.0, 0.0]))
    assert bound(Loose(theta=[1.0, 0.0]), gap=0.2).gap == pytest.approx(0.1)
    answer = bound(Loose(theta=[1.0, 0.0], note="heuristic"))
    assert isinstance(answer, Bound)
    assert (answer.status, answer.gap) == ("heuristic", pytest.approx(0.1))


class Endless(Classical):
    def solve(self, gap):
        return dataclasses.replace(super().solve(gap), lower=math.inf, upper=math.inf)


def test_an_infinite_bound_is_an_error():
    with pytest.raises(CertificationError, match=r"no upper side of C.* that doubles hold"):
        bound(Endless(theta=[1.0, 0.0]))


@pytest.mark.parametrize("gap", [0.0, 1.0, -1e-6, math.nan, math.inf, "small", True, None])
def test_gaps_that_cannot_be_meant(gap):
    with pytest.raises(InputError, match="`gap` must"):
        bound(THREE, gap)


def test_a_bound_needs_a_true_parameter():
    with pytest.raises(
        InputError, match="`theta` must be given: a bound is about a true parameter"
    ):
        bound(Classical(n_arms=3))
    with pytest.raises(InputError, match="`preferences` must be given"):
        bound(Dueling(n_items=3))

"""Every refusal, through the command line: exit code 2 and one line that names the field."""

import json
import re

import pytest

from ossb.instances import from_dict
from ossb.structures import bound

LINE = {"structure": "lipschitz", "points": [0.0, 0.5, 1.0], "lipschitz_constant": 1.0}
SQUARE = {"structure": "linear", "arms": [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]}
ITEMS = {"structure": "combinatorial", "feedback": "semi_bandit", "arms": [[1, 0], [0, 1]]}

REFUSED = {
    # no arms
    "classical, no arms": ({"structure": "classical", "theta": []}, "theta"),
    "linear, no arms": ({"structure": "linear", "arms": [], "phi": [1.0]}, "arms"),
    "linear, arms missing": ({"structure": "linear", "phi": [1.0]}, "arms"),
    "generalized linear, no arms": (
        {"structure": "generalized_linear", "arms": [], "link": "logistic", "phi": []},
        "arms",
    ),
    "lipschitz, no points": ({**LINE, "points": []}, "points"),
    "dueling, no items": ({"structure": "dueling", "preferences": []}, "preferences"),
    "combinatorial, no arms": ({**ITEMS, "arms": [], "phi": []}, "arms"),
    "finite, no parameters": (
        {"structure": "finite", "parameters": [], "theta": [1]},
        "parameters",
    ),
    "polytope, no arms": (
        {"structure": "polytope", "A": [[1.0]], "b": [1.0], "reveals": [], "theta": [0.0]},
        "reveals",
    ),
    "polytope, no parameter": ({"structure": "polytope", "A": [], "b": [], "theta": []}, "theta"),
    "polytope, no columns": ({"structure": "polytope", "A": [[]], "b": [1.0]}, "A"),
    "union, no parameter": (
        {"structure": "union", "pieces": [{"A": [], "b": []}], "theta": []},
        "theta",
    ),
    "union, no pieces": ({"structure": "union", "pieces": [], "theta": [0.0]}, "pieces"),
    # ragged arms
    "linear, ragged": ({**SQUARE, "arms": [[1.0, 0.0], [0.0]], "phi": [1.0, 0.0]}, "arms[1]"),
    "combinatorial, ragged": ({**ITEMS, "arms": [[1, 0], [0]], "phi": [0.5, 0.2]}, "arms[1]"),
    "lipschitz, ragged points": (
        {**LINE, "points": [[0.0, 0.0], [1.0]], "theta": [0.5, 0.2]},
        "points[1]",
    ),
    "finite, ragged": (
        {"structure": "finite", "parameters": [[1.0, 0.0], [1.0]], "theta": [1.0, 0.0]},
        "parameters[1]",
    ),
    "combinatorial, not 0/1": ({**ITEMS, "arms": [[1, 0], [0, 2]], "phi": [0.5, 0.2]}, "arms[1]"),
    # graphs
    "unimodal, disconnected": (
        {"structure": "unimodal", "theta": [0.1, 0.2, 0.3, 0.4], "edges": [[0, 1], [1, 0], [2, 3]]},
        "edges",
    ),
    "unimodal, too few edges": (
        {"structure": "unimodal", "theta": [0.1, 0.2, 0.3], "edges": [[0, 1]]},
        "edges",
    ),
    # an empty polytope
    "polytope, empty": (
        {
            "structure": "polytope",
            "A": [[1.0, 0.0], [-1.0, 0.0]],
            "b": [0.0, -1.0],
            "theta": [0, 1],
        },
        "",
    ),
    "union, one piece and that one empty": (
        {
            "structure": "union",
            "pieces": [{"A": [[1.0, 0.0], [-1.0, 0.0]], "b": [0.0, -1.0]}],
            "theta": [0, 1],
        },
        "pieces[0]",
    ),
    # preferences
    "dueling, sums": (
        {"structure": "dueling", "preferences": [[0.5, 0.6], [0.5, 0.5]]},
        "preferences[0][1]",
    ),
    "dueling, diagonal": (
        {"structure": "dueling", "preferences": [[0.4, 0.6], [0.4, 0.5]]},
        "preferences[0][0]",
    ),
    "dueling, no winner": (
        {
            "structure": "dueling",
            "preferences": [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]],
        },
        "preferences",
    ),
    # θ outside Θ
    "lipschitz, too steep": ({**LINE, "theta": [0.0, 0.9, 0.5]}, "theta"),
    "unimodal, two peaks": ({"structure": "unimodal", "theta": [0.5, 0.1, 0.9]}, "theta"),
    "finite, not listed": (
        {"structure": "finite", "parameters": [[1.0, 0.0]], "theta": [1.0, 0.1]},
        "theta",
    ),
    "polytope, outside": (
        {"structure": "polytope", "A": [[1.0, 0.0]], "b": [0.5], "theta": [1.0, 0.0]},
        "theta",
    ),
    "union, outside": (
        {"structure": "union", "pieces": [{"A": [[1.0, 0.0]], "b": [0.5]}], "theta": [1.0, 0.0]},
        "theta",
    ),
    # means outside the family's mean space
    "classical, mean 1.5": (
        {"structure": "classical", "observation": "bernoulli", "theta": [0.5, 1.5]},
        "theta[1]",
    ),
    "classical, negative count": (
        {"structure": "classical", "observation": "poisson", "theta": [0.5, -1.5]},
        "theta[1]",
    ),
    # two best arms
    "classical, tie": ({"structure": "classical", "theta": [0.5, 0.1, 0.5]}, "theta"),
    "unimodal, tie": ({"structure": "unimodal", "theta": [0.1, 0.5, 0.5]}, "theta"),
    "linear, tie": ({**SQUARE, "phi": [1.0, 1.0]}, "phi"),
    "lipschitz, tie": ({**LINE, "theta": [0.5, 0.2, 0.5]}, "theta"),
    "combinatorial, tie": ({**ITEMS, "phi": [0.5, 0.5]}, "phi"),
    "dueling, tie": (
        {"structure": "dueling", "preferences": [[0.5, 0.5], [0.5, 0.5]]},
        "preferences",
    ),
    "finite, tie": ({"structure": "finite", "parameters": [[1, 1]], "theta": [1, 1]}, "theta"),
    "polytope, tie": ({"structure": "polytope", "A": [[1, 0]], "b": [5], "theta": [1, 1]}, "theta"),
    # a duplicate of the best arm
    "linear, best twice": (
        {"structure": "linear", "arms": [[1, 0], [0, 1], [1, 0]], "phi": [1.0, 0.0]},
        "arms",
    ),
    "bandit, best twice": (
        {**ITEMS, "feedback": "bandit", "arms": [[1, 0], [0, 1], [1, 0]], "phi": [1.0, 0.0]},
        "arms[2]",
    ),
    "semi-bandit, best twice": (
        {**ITEMS, "arms": [[1, 0], [0, 1], [1, 0]], "phi": [1.0, 0.0]},
        "arms[2]",
    ),
    "combinatorial, no feedback": (
        {"structure": "combinatorial", "arms": [[1, 0], [0, 1]], "phi": [1.0, 0.0]},
        "feedback",
    ),
    "lipschitz, best twice": ({**LINE, "points": [0.0, 0.0, 1.0], "theta": [0.5, 0.5, 0.2]}, ""),
    # an observation that does not fit
    "dueling, gaussian": (
        {"structure": "dueling", "observation": "gaussian", "preferences": [[0.5]]},
        "observation",
    ),
    "linear, bernoulli": ({**SQUARE, "observation": "bernoulli", "phi": [1.0, 0.0]}, "observation"),
    "generalized linear, poisson and logistic": (
        {
            "structure": "generalized_linear",
            "arms": [[1.0]],
            "link": "logistic",
            "observation": "poisson",
            "phi": [1.0],
        },
        "observation",
    ),
    "polytope, exponential": (
        {
            "structure": "polytope",
            "observation": "exponential",
            "A": [[1, 0]],
            "b": [5],
            "theta": [1, 2],
        },
        "observation",
    ),
    # keys
    "unknown structure": ({"structure": "clasical"}, "structure"),
    "no structure": ({"theta": [1.0]}, "structure"),
    "unknown key": ({"structure": "classical", "tehta": [1.0]}, "tehta"),
    "no true parameter": ({"structure": "classical", "n_arms": 3}, "theta"),
    "phi of another length": ({**SQUARE, "phi": [1.0]}, "phi"),
    "a string for a number": ({"structure": "classical", "theta": ["0.5"]}, "theta[0]"),
    "true for a number": ({"structure": "classical", "theta": [True]}, "theta[0]"),
    "null for a number": ({"structure": "classical", "theta": [None]}, "theta[0]"),
}


@pytest.mark.parametrize(("content", "field"), REFUSED.values(), ids=list(REFUSED))
def test_refused_with_one_line_that_names_the_field(ossb, content, field):
    assert ossb("bound", "-", "--json", stdin=json.dumps(content)) == 2
    assert ossb.out == ""
    assert re.match(rf"ossb: (did you mean '\w+'\? )?`{re.escape(field)}", ossb.err)
    assert " must " in ossb.err
    assert ossb.err.count("\n") == 1
    assert "Traceback" not in ossb.err


def test_every_refusal_has_its_own_message(ossb):
    messages = []
    for content, _ in REFUSED.values():
        ossb("bound", "-", stdin=json.dumps(content))
        messages.append(ossb.err)
    alike = {message for message in messages if messages.count(message) > 1}
    # the same mistake in two structures may read the same
    assert len(alike) <= 6, alike


ACCEPTED = {
    "one arm": ({"structure": "classical", "theta": [0.3]}, 0.0),
    "one arm, linear": ({"structure": "linear", "arms": [[1.0, 2.0]], "phi": [0.5, 0.5]}, 0.0),
    "one item": ({"structure": "dueling", "preferences": [[0.5]]}, 0.0),
    "one point": ({**LINE, "points": [0.0], "theta": [0.3]}, 0.0),
    "one node": ({"structure": "unimodal", "theta": [0.3]}, 0.0),
    "one parameter": ({"structure": "finite", "parameters": [[0.3]], "theta": [0.3]}, 0.0),
    "duplicated suboptimal arms": (
        {"structure": "linear", "arms": [[1, 0], [0, 1], [0, 1]], "phi": [1.0, 0.0]},
        2.0,
    ),
    "arms that do not span": (
        {"structure": "linear", "arms": [[1, 0, 0], [0, 1, 0]], "phi": [1.0, 0.0, 0.0]},
        2.0,
    ),
    "items that cannot catch up": (
        {
            "structure": "combinatorial",
            "observation": "bernoulli",
            "feedback": "semi_bandit",
            "arms": [[1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]],
            "phi": [0.31, 0.87, 0.83, 0.55],
        },
        0.0,
    ),
    "means of 0 and 1": (
        {"structure": "classical", "observation": "bernoulli", "theta": [1.0, 0.0, 0.5]},
        0.0,
    ),
}


@pytest.mark.parametrize(("content", "value"), ACCEPTED.values(), ids=list(ACCEPTED))
def test_accepted(ossb, content, value):
    assert ossb("bound", "-", "--json", stdin=json.dumps(content)) == 0, ossb.err
    assert json.loads(ossb.out)["value"] == pytest.approx(value, abs=1e-9)
    assert bound(from_dict(content)).verify().valid


def test_a_distance_that_is_no_metric_is_closed_with_a_warning(ossb):
    content = {
        "structure": "lipschitz",
        "distances": [[0, 1, 5], [1, 0, 1], [5, 1, 0]],
        "theta": [0.9, 0.5, 0.1],
    }
    with pytest.warns(UserWarning, match="shortest paths|triangle"):
        assert ossb("bound", "-", "--json", stdin=json.dumps(content)) == 0
    closed = {**content, "distances": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}
    value = json.loads(ossb.out)["value"]
    assert ossb("bound", "-", "--json", stdin=json.dumps(closed)) == 0
    assert json.loads(ossb.out)["value"] == pytest.approx(value)


def test_means_are_named_in_two_best_arms(ossb):
    content = {"structure": "classical", "theta": [0.5, 0.5], "arm_names": ["red", "blue"]}
    assert ossb("bound", "-", stdin=json.dumps(content)) == 2
    assert "arms red and blue are both best" in ossb.err

"""Keys name the code that plays a cell."""

import pytest

from experiment_cases import experiment
from ossb.experiments import code
from ossb.experiments.cells import cells
from ossb.experiments.code import code_of, contents_of
from ossb.instances import from_dict
from ossb.policies import POLICIES, policy
from ossb.simulation.environment import environment_of

CLASSICAL = {"structure": "classical", "observation": "bernoulli", "theta": [0.2, 0.7]}
LINEAR = {"structure": "linear", "observation": "gaussian", "arms": [[1, 0], [0, 1]], "phi": [1, 2]}


def digest(name, content=CLASSICAL):
    instance = from_dict(content)
    return code_of(policy(name, instance), environment_of(instance))


@pytest.fixture
def forget():
    def clear():
        code._known.clear()
        code._package.cache_clear()

    clear()
    yield clear
    clear()


def test_each_policy_has_its_own_code():
    assert digest("ucb1") == digest("ucb1")
    assert len({digest(name) for name in ("ucb1", "kl-ucb", "hgl")}) == 3
    assert digest("hgl") != digest("hgl", LINEAR)


def test_numbers_are_not_code():
    other = {**CLASSICAL, "theta": [0.1, 0.2, 0.3]}
    assert digest("ossb") == digest("ossb", other) == digest("ossb-paper")


def test_numbers_are_contents():
    instance = from_dict(LINEAR)
    usual = contents_of((policy("ossb", instance), environment_of(instance)))
    assert usual == contents_of((policy("ossb", instance), environment_of(instance)))
    others = [
        contents_of((policy("ossb", instance, kappa=0.3), environment_of(instance))),
        contents_of(
            (policy("ossb", from_dict({**LINEAR, "phi": [1, 3]})), environment_of(instance))
        ),
        contents_of((policy("ossb", instance), environment_of(from_dict({**LINEAR, "sigma": 2})))),
    ]
    assert others[1] == usual  # a policy is not told the truth
    assert len({usual, others[0], others[2]}) == 3


def test_a_default_that_changes_changes_the_key(monkeypatch):
    found = experiment(policies=["ossb"])
    before = [cell.key for cell in cells(found)]
    monkeypatch.setitem(POLICIES["ossb"].parameters, "kappa", 0.3)
    after = [cell.key for cell in cells(found)]
    assert not set(before) & set(after)


def test_a_constant_that_changes_changes_what_reaches_it_alone(monkeypatch, forget):
    linear, classical = digest("hgl", LINEAR), digest("hgl")
    monkeypatch.setattr("ossb.models.least_squares.RIDGE", 2.0)
    forget()
    assert digest("hgl", LINEAR) != linear
    assert digest("hgl") == classical


def test_interpreted_policies_depend_on_all_of_it(monkeypatch, forget):
    assert code_of(object(), None) == code_of(object(), None)
    before = code_of(object(), None)
    monkeypatch.setattr(code, "INTERPRETED", code.INTERPRETED[:-1])
    forget()
    assert code_of(object(), None) != before


def test_what_does_not_run_does_not_count():
    plain = "def f(x):\n    return x + 1\n"
    dressed = (
        '    def f(x):  # one more\n        """Add one."""\n\n        return (x\n            + 1)\n'
    )
    assert code._bare(plain) == code._bare(dressed)
    assert code._bare(plain) != code._bare(plain.replace("1", "2"))
    assert code._bare("def f():\n    'only words'") == "def f():\n    pass"
    assert code._bare("K = float64 (3,) b'…") == "K = float64 (3,) b'…"


def test_keys_hold_it(monkeypatch):
    before = [cell.key for cell in cells(experiment())]
    assert before == [cell.key for cell in cells(experiment())]
    monkeypatch.setattr("ossb.experiments.cells.code_of", lambda *_: "other")
    after = [cell.key for cell in cells(experiment())]
    assert not set(before) & set(after)

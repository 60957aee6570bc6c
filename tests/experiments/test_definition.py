"""Experiment files: what they may say, and what is said of mistakes."""

import io
import json

import pytest

from experiment_cases import CLASSICAL, tiny
from ossb.errors import InputError
from ossb.experiments.cells import cells
from ossb.experiments.definition import bundled, parse, read
from ossb.experiments.generate import arms_in_contexts, unit_arms
from ossb.instances import from_dict

FILE = """
name = "first"
horizon = 20000
trials = 40
seed = 3
policies = ["hgl", "ossb", "kl-ucb", { name = "ossb-paper", epsilon = 0.01 }]

[[instances]]
structure = "classical"
observation = "bernoulli"
theta = [0.3, 0.45, 0.5]
"""


def test_a_file_and_its_overrides(tmp_path):
    path = tmp_path / "first.toml"
    path.write_text(FILE)
    found = read(str(path), ["trials=2", "horizon=500", "note=a b", "policies=['ucb1:proxy=2']"])
    assert (found.trials, found.horizon, found.note) == (2, 500, "a b")
    assert found.policies == (("ucb1", {"proxy": 2}),)
    assert found.horizons == (500,)
    assert found.checkpoints[-1] == 500
    assert [named.group for named in found.instances] == ["classical"]


def test_an_experiment_from_stdin(monkeypatch):
    text = (
        'name = "e"\nhorizon = 5\ntrials = 1\npolicies = ["ucb1"]\n'
        '[[instances]]\nstructure = "classical"\ntheta = [0.1, 0.2]\n'
    )
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert read("-", ["trials=2"]).trials == 2


def test_a_key_of_a_generator_that_is_nearly_right():
    keys = {"generate": "unit_arms", "n_arm": 9}
    with pytest.raises(InputError, match=r"did you mean 'n_arms'.* be a key of unit_arms: "):
        parse({"name": "e", "horizon": 5, "trials": 1, "policies": ["ucb1"], "instances": [keys]})


def test_quoted_times_follow_the_horizon():
    assert read("figure1", ["horizon=2000"]).horizons == (1000, 2000)
    assert read("figure1", ["horizon=2000", "horizons=[5]"]).horizons == (5,)


def test_a_definition_survives_the_folder():
    found = parse(tiny(horizons=[10, 60], checkpoints=7, output="there"))
    assert parse(json.loads(json.dumps(found.to_dict()))).to_dict() == found.to_dict()
    assert len(found.checkpoints) <= 8
    assert parse(tiny(checkpoints=[5, 20])).checkpoints == (5, 20, 60)


def test_instances_from_files_and_generators(tmp_path):
    (tmp_path / "inside.json").write_text(json.dumps([CLASSICAL, CLASSICAL | {"name": "b"}]))
    path = tmp_path / "e.toml"
    head = 'name = "e"\nhorizon = 9\ntrials = 1\npolicies = ["ucb1"]\n'
    path.write_text(head + '[[instances]]\nfile = "inside.json"\n')
    groups = [named.group for named in read(str(path)).instances]
    assert groups == ["classical 0", "b 1"]
    made = {"generate": "classical_means", "count": 3, "n_arms": 4, "group": "drawn"}
    found = parse(tiny(instances=[made])).instances
    assert [named.group for named in found] == ["drawn"] * 3
    assert len({tuple(named.instance.theta) for named in found}) == 3


@pytest.mark.parametrize("layout", ["random", "sphere_grid", "orthant_grid"])
def test_the_arms_of_the_paper(layout):
    found = list(unit_arms({"layout": layout, "seed": 5}))
    assert len(found) == 10
    for made in found:
        assert len(made["arms"]) == 81
        assert all(abs(sum(x * x for x in arm) - 1) < 1e-12 for arm in made["arms"])
        assert all(0.2 <= x <= 0.4 for x in made["phi"])
    assert found == list(unit_arms({"layout": layout, "seed": 5}))
    assert found[0]["phi"] != found[1]["phi"]


MISTAKES = [
    ({"horzon": 3}, r"did you mean 'horizon'\? `horzon` must be a key "),
    ({"horizon": -1}, "`horizon` must be at least 1, got -1"),
    ({"trials": 0}, "`trials` must be at least 1"),
    ({"trials": "many"}, "`trials` must be a whole number"),
    ({"name": "../up"}, "`name` must be made of letters"),
    ({"policies": []}, "`policies` must be a list"),
    ({"policies": [3]}, r"`policies\[0\]` must be a name"),
    ({"policies": ["hlg"]}, r"did you mean 'hgl'\? `policies\[0\]` must be one of "),
    ({"policies": ["ucb1", "ucb1"]}, r"`policies\[1\]` must differ"),
    ({"policies": ["thompson", {"parameters": 1}]}, "`policy` must have a name"),
    ({"instances": []}, "`instances` must be a list"),
    ({"instances": [3]}, r"`instances\[0\]` must be a table"),
    ({"instances": [{"structure": "clasical"}]}, r"`instances\[0\]` .*did you mean 'classical'"),
    ({"instances": [{"structure": "classical", "n_arms": 3}]}, "must be given"),
    ({"instances": [{"file": "nowhere.toml"}]}, r"`instances\[0\]` must be valid: .*nowhere"),
    ({"instances": [{"file": "a.toml", "theta": [1]}]}, "`theta` must not stand beside file"),
    ({"instances": [{"generate": "unit_arm"}]}, "did you mean 'unit_arms'"),
    ({"instances": [{"generate": "unit_arms", "arms": 3}]}, "`arms` must be a key of unit_arms"),
    ({"instances": [{"generate": "unit_arms", "low": 1.0}]}, "`low` must be below high"),
    (
        {"instances": [{"generate": "unit_arms", "layout": "sphere_grid", "n_arms": 80}]},
        "`layout` must be random unless",
    ),
    ({"horizons": [61]}, r"`horizons\[0\]` must be at most the horizon, 60"),
    ({"horizons": 5}, "`horizons` must be a list"),
    ({"checkpoints": []}, "`checkpoints` must be a list of rounds"),
    ({"checkpoints": 1}, "`checkpoints` must be at least 2"),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_mistakes_are_named(change, message):
    with pytest.raises(InputError, match=message):
        parse(tiny(**change))


def test_missing_keys_and_unreadable_files(tmp_path):
    keys = tiny()
    del keys["trials"]
    with pytest.raises(InputError, match="`trials` must be given"):
        parse(keys)
    with pytest.raises(InputError, match="did you mean 'figure1'"):
        read("figur1")
    path = tmp_path / "bad.toml"
    path.write_text("name = ")
    with pytest.raises(InputError, match="must be TOML"):
        read(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="readable text file"):
        read(str(path))
    with pytest.raises(InputError, match="be written key=value"):
        read("figure1", ["trials"])


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("linear-thompson", "linear-thompson"),
        ({"name": "ucb1", "proxi": 1.0}, "proxi"),
        ({"name": "ucb1", "proxy": -1.0}, "`proxy` must be positive"),
        ("nowhere:Policy", "importable"),
        ("experiment_cases:Nothing", "importable"),
    ],
)
def test_policies_that_do_not_fit(policy, message):
    with pytest.raises(InputError, match=message):
        list(cells(parse(tiny(policies=[policy]))))


def test_instances_that_cannot_be_played():
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    duels = {"structure": "dueling", "preferences": cycle}
    with pytest.raises(InputError, match="preferences"):
        list(cells(parse(tiny(instances=[duels], policies=["rmed1"]))))


def test_the_bundled_experiments_fit_together():
    assert {name for name in bundled() if not name.startswith("regret-")} == {
        "classical", "contexts-families", "contexts-grid", "contexts-optimism", "custom", "dueling",
        "end-of-optimism",
        "figure1", "figure1-long",
        "glm", "lipschitz", "semi-bandit", "unimodal", "identify-classical", "identify-custom",
        "identify-dueling", "identify-garivier-kaufmann", "identify-glm", "identify-linear",
        "identify-lipschitz", "identify-semi-bandit", "identify-unimodal",
    }  # fmt: skip
    for name in bundled():
        found = read(name)
        assert found.name == name
        assert list(cells(found))


def test_figure1_is_the_experiment_of_the_paper():
    found = read("figure1")
    assert (found.horizon, found.trials, len(found.instances)) == (10_000, 100, 30)
    assert len({named.group for named in found.instances}) == 3
    assert len(found.policies) == 8
    long = read("figure1-long")
    assert long.horizon == 100_000
    assert (long.policies, long.seed) == (found.policies, found.seed)


@pytest.mark.parametrize("layout", ["factors", "sphere", "slopes"])
def test_arms_in_contexts(layout):
    found = list(arms_in_contexts({"layout": layout, "n_contexts": 6, "count": 2, "seed": 5}))
    assert found == list(
        arms_in_contexts({"layout": layout, "n_contexts": 6, "count": 2, "seed": 5})
    )
    for keys in found:
        instance = from_dict(keys)
        assert instance.layout.n_contexts == len(instance.bests) == 6
        assert instance.layout.weights.sum() == pytest.approx(1.0)

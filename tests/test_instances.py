"""Instance files: TOML and JSON, one or a list, and every way to write them wrong."""

import io
import json
import sys

import pytest

import ossb
from ossb import instances
from ossb.errors import InputError
from ossb.instances import from_dict, load, parse

TOML = """
structure = "classical"
observation = "bernoulli"
theta = [0.9, 0.5]
"""
JSON = '{"structure": "classical", "observation": "bernoulli", "theta": [0.9, 0.5]}'
LIST = """
[[instances]]
structure = "classical"
theta = [0.9, 0.5]

[[instances]]
structure = "unimodal"
theta = [0.1, 0.5, 0.2]
"""


def write(folder, text, name="instance"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("text", [TOML, JSON, "\ufeff" + JSON, "\ufeff" + TOML, "# note\n" + TOML])
def test_one_instance(text, tmp_path):
    (instance,), is_list = load(write(tmp_path, text))
    assert not is_list
    assert instance.kind == "classical"
    assert instance.theta.tolist() == [0.9, 0.5]


@pytest.mark.parametrize("text", [LIST, f"[{JSON}, {JSON}]", f'{{"instances": [{JSON}, {JSON}]}}'])
def test_a_list(text, tmp_path):
    instances, is_list = load(write(tmp_path, text))
    assert is_list
    assert len(instances) == 2


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(TOML))
    (instance,), _ = ossb.load("-")
    assert instance.observation == "bernoulli"


def test_standard_input_that_is_no_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), "utf-8"))
    with pytest.raises(InputError, match="`-` must be a readable text file"):
        load("-")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`structure` must be given: one of classical, "),
        ("{}", "`structure` must be given"),
        ("[]", "`instances` must hold at least one instance, got none"),
        ("instances = []", "`instances` must hold at least one instance"),
        ("instances = 3", "`instances` must be a list of instances, got 3"),
        ("[3]", r"`instances\[0\]` must be valid: `instance` must be a table of keys, got 3"),
        ("3", "must be JSON or TOML"),
        ("null", "must be JSON or TOML"),
        ('"classical"', "must be JSON or TOML"),
        ("{", "must be JSON or TOML"),
        ("theta = [0.9", "must be JSON or TOML"),
        ("theta = [0.9]\ntheta = [0.8]", "must be JSON or TOML"),
        (b"\xff\xfe", "must be a readable text file"),
        ("[" * 100_000, "must be nested less deeply"),
        ("a = " + "[" * 100_000, "must be nested less deeply|must be JSON or TOML"),
        ('{"structure": "clasical"}', r"did you mean 'classical'\? `structure` must be one of "),
        ('{"structure": 3}', "`structure` must be one of"),
        ('{"structure": ["classical"]}', "`structure` must be one of"),
        ('{"structure": "classical", "tehta": [1]}', r"did you mean 'theta'\? `tehta` must be "),
        (
            '{"structure": "classical", "xyzzy": [1]}',
            "`xyzzy` must be a key of classical: .*n_arms$",
        ),
        ('{"structure": "classical", "kind": "x"}', "`kind` must be a key"),
        ('{"structure": "finite", "theta": [1]}', "`parameters` must be given for finite"),
        ('{"structure": "finite", "parameters": null}', "`parameters` must be given for finite"),
        ('{"structure": "classical", "theta": [NaN]}', "`instance` must hold finite numbers only"),
        ('{"structure": "classical", "theta": [-Infinity]}', "finite numbers only, got -Infinity"),
        ('{"structure": "classical", "theta": [1e999]}', r"`theta\[0\]` must be finite, got inf"),
        (
            '{"structure": "classical", "theta": [1' + "0" * 400 + "]}",
            r"`theta\[0\]` must be finite",
        ),
        ('{"structure": "classical", "theta": [1' + "0" * 5000 + "]}", "must be JSON or TOML"),
        ('structure = "classical"\ntheta = [nan]', r"`theta\[0\]` must be finite, got nan"),
        ('structure = "classical"\ntheta = [inf]', r"`theta\[0\]` must be finite, got inf"),
        ('structure = "classical"\ntheta = [2020-01-01]', r"`theta\[0\]` must be a number"),
        ('{"structure": "classical", "theta": [true]}', r"`theta\[0\]` must be a number, got True"),
        (
            '{"structure": "classical", "theta": ["0.5"]}',
            r"`theta\[0\]` must be a number, got '0\.5'",
        ),
        ('{"structure": "classical", "theta": [null]}', r"`theta\[0\]` must be a number, got None"),
        ('{"structure": "classical", "theta": "0.5"}', r"`theta` must be a list, got 0\.5"),
        ('{"structure": "classical", "theta": {}}', r"`theta` must be a list, got \{\}"),
        ('{"structure": "classical", "n_arms": 2.0}', "`n_arms` must be a whole number"),
        ('{"structure": "classical", "n_arms": -1}', "`n_arms` must be at least 1"),
        ('{"structure": "classical", "theta": [1], "theta": [2]}', "`theta` must stand"),
        (
            '{"structure": "classical", "theta": [1], "name": null}',
            "`name` must be a string, got N",
        ),
        (
            '{"structure": "classical", "theta": [1], "arm_names": null}',
            "`arm_names` must be a list",
        ),
        ('{"structure": "classical", "theta": [1], "sigma": null}', "`sigma` must be a number"),
        ("note = 3\n[[instances]]\nstructure = 'classical'", "`note` must not stand beside inst"),
    ],
)
def test_refusals(text, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        load(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_the_place_in_a_list_is_named(tmp_path):
    bad = json.dumps([json.loads(JSON), {"structure": "classical", "theta": [0.5, "x"]}])
    with pytest.raises(InputError, match=r"`instances\[1\]` must be valid: `theta\[1\]` must be a"):
        load(write(tmp_path, bad))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="must be a file that exists"):
        load(tmp_path / "none.toml")
    with pytest.raises(InputError, match="must be a readable text file"):
        load(tmp_path)


def test_tables_and_lists_are_told_apart():
    assert parse("[first_table]\na = 1", "x") == {"first_table": {"a": 1}}
    assert parse("[1]", "x") == [1]
    assert parse("  \n [[1]]", "x") == [[1]]


def test_instances_are_tables():
    for content in (None, 3, "x", [1]):
        with pytest.raises(InputError, match="`instance` must be a table of keys"):
            from_dict(content)


def long_text(*entries):
    return json.dumps([*entries, *[{"structure": "classical", "theta": [0.5, 0.25]}] * 6000])


def test_long_lists_are_read_the_same_way(monkeypatch):
    named = {"structure": "classical", "theta": [0.5, 0.25], "note": "a: b"}  # one more colon
    for text in (long_text(), long_text(named)):
        assert len(text) > instances.LONG
        quickly = instances.parse(text, "file")
        with monkeypatch.context() as patch:
            patch.setattr(instances, "LONG", len(text))
            assert instances.parse(text, "file") == quickly
    assert instances._long_list(long_text()) is not None
    assert instances._long_list(long_text(named)) is None  # looked at closely


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            '{"structure": "classical", "theta": [0.5], "theta": [0.2]}',
            "`theta` must stand",
        ),
        ('{"structure": "classical", "theta": [NaN]}', "hold finite numbers only, got NaN"),
        ('{"structure": "classical", "theta": [0.5,]}', "be JSON or TOML"),
        ('{"structure": "classical", "theta": [1, {"theta": 1, "theta": 2}]}', "once only"),
    ],
)
def test_what_is_wrong_with_a_long_list_is_said(wrong, said):
    text = long_text().replace("[", f"[{wrong}, ", 1)
    assert len(text) > instances.LONG
    with pytest.raises(InputError, match=said):
        instances.parse(text, "file")

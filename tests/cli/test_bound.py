"""``ossb bound`` and ``ossb verify``: tables, JSON, certificates and pictures."""

import json

import pytest

from ossb.cli.bound import SHOWN

THREE = {"structure": "classical", "observation": "bernoulli", "theta": [0.9, 0.5, 0.3]}
HARDLY = {
    "structure": "polytope",
    "theta": [0.5, 0.2],
    "A": [[0, 1]],
    "b": [0.5 + 2**-53],
}  # C = 6.7, and no proof that doubles hold
DUELS = {"structure": "dueling", "preferences": [[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]]}


@pytest.fixture
def write(tmp_path):
    def apply(content, name="instance.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return apply


def test_a_table_with_the_largest_rates_first(ossb, write):
    assert ossb("bound", write({**THREE, "name": "three"})) == 0
    assert ossb.err == ""
    assert "three: classical, bernoulli" in ossb.out
    assert "C(θ) = " in ossb.out
    assert "best arm 0" in ossb.out
    lines = ossb.out.splitlines()
    rows = [line.split("│")[1].strip() for line in lines if line.startswith("│")]
    assert rows == ["1", "2"]
    assert sum("%" in line for line in lines) == 2
    assert "\x1b" not in ossb.out


def test_names_are_printed_as_they_are(ossb, write):
    names = ["[bold]best[/bold]", "[/x]", "<b>"]
    assert ossb("bound", write({**THREE, "arm_names": names, "name": "[red]n[/red]"})) == 0
    for name in [*names, "[red]n[/red]"]:
        assert name in ossb.out


def test_nothing_to_explore_and_too_much_to_show(ossb, write):
    assert ossb("bound", write({"structure": "classical", "theta": [1.0]})) == 0
    assert "nothing needs exploring" in ossb.out
    theta = [1.0, *[k / 100 for k in range(SHOWN + 7)]]
    assert ossb("bound", write({"structure": "classical", "theta": theta})) == 0
    assert "… 7 more" in ossb.out


def test_json_holds_the_promised_keys_and_nothing_else(ossb, write):
    assert ossb("bound", write(DUELS), "--json") == 0
    assert ossb.err == ""
    content = json.loads(ossb.out)
    assert set(content) == {
        "cost", "value", "lower", "upper", "best_arm", "rates", "status", "seconds"
    }  # fmt: skip
    assert content["cost"] == "regret"
    assert content["status"] == "certified"
    assert content["best_arm"] == [0, 0]
    assert all(set(entry) == {"arm", "rate"} and entry["rate"] > 0 for entry in content["rates"])
    assert content["lower"] <= content["value"] == content["upper"]


def test_a_list_in_a_list_out(ossb, write):
    assert ossb("bound", write([THREE]), "--json") == 0
    (only,) = json.loads(ossb.out)
    assert only["best_arm"] == 0
    assert ossb("bound", write([THREE, DUELS]), "--json") == 0
    assert [entry["best_arm"] for entry in json.loads(ossb.out)] == [0, [0, 0]]
    toml = "[[instances]]\nstructure = 'classical'\ntheta = [0.9, 0.5]\n"
    assert ossb("bound", write(toml, "list.toml"), "--json") == 0
    assert isinstance(json.loads(ossb.out), list)
    assert ossb("bound", write([THREE, DUELS])) == 0
    assert ossb.out.count("C(θ) = ") == 2


def test_standard_input(ossb):
    assert ossb("bound", "-", "--json", stdin=json.dumps(THREE)) == 0
    assert json.loads(ossb.out)["best_arm"] == 0
    assert ossb("bound", "-", stdin="structure = 'classical'\ntheta = [1.0, 0.0]") == 0


def test_the_gap_asked_for(ossb, write):
    assert ossb("bound", write(THREE), "--gap", "1e-9") == 0
    for gap in ("0", "2", "nan", "-1"):
        assert ossb("bound", write(THREE), "--gap", gap) == 2
        assert ossb.err.startswith("ossb: `gap` must ")
    assert ossb("bound", write(THREE), "--gap", "small") == 2
    assert "gap" in ossb.err
    assert ossb.err.count("\n") == 1


def test_what_cannot_be_certified_exits_with_three(ossb, write):
    assert ossb("bound", write(HARDLY)) == 3
    assert ossb.err.startswith("ossb: the answer does not pass its own check")
    assert ossb.err.count("\n") == 1


def test_a_certificate_and_its_check(ossb, write, tmp_path):
    proof = tmp_path / "proof.json"
    assert ossb("bound", write([{**THREE, "name": "three"}, DUELS]), "--certificate", proof) == 0
    assert ossb("verify", proof) == 0
    assert ossb.out.splitlines()[0] == "three: valid"
    assert "bounds[1]: valid" in ossb.out
    assert "claimed" in ossb.out
    assert "rates    cost" in ossb.out
    assert ossb("verify", proof, "--json") == 0
    reports = json.loads(ossb.out)
    assert [report["valid"] for report in reports] == [True, True]
    assert set(reports[0]) == {"valid", "claimed", "status", "gap", "proved", "problems"}


def test_a_corrupted_certificate_exits_with_three(ossb, write, tmp_path):
    proof = tmp_path / "proof.json"
    ossb("bound", write(THREE), "--certificate", proof)
    content = json.loads(proof.read_text())
    content["bounds"][0]["rates"] = []
    content["bounds"][0]["alternatives"][0]["weight"] = -1
    proof.write_text(json.dumps(content))
    assert ossb("verify", proof) == 3
    assert "bounds[0]: NOT PROVED" in ossb.out
    assert "problem: rates: not feasible" in ossb.out
    assert ossb("verify", proof, "--json") == 3
    (report,) = json.loads(ossb.out)
    assert not report["valid"]
    assert report["proved"]["upper"] is None
    assert report["problems"]


@pytest.mark.parametrize("content", ["", "{}", "[1]", "no json", '{"format": "ossb certificate"}'])
def test_what_is_no_certificate_exits_with_two(ossb, write, content):
    assert ossb("verify", write(content, "proof.json")) == 2
    assert ossb.err.count("\n") == 1
    assert ossb.out == ""


def test_paths_that_cannot_be_used(ossb, write, tmp_path):
    instance = write(THREE)
    for arguments, field in (
        (["bound", tmp_path], str(tmp_path)),
        (["bound", tmp_path / "none"], "none"),
        (["bound", instance, "--certificate", tmp_path], "certificate"),
        (
            ["bound", instance, "--certificate", tmp_path / "no" / "such" / "proof.json"],
            "certificate",
        ),
        (["bound", instance, "--plot", tmp_path / "no" / "such" / "rates.png"], "plot"),
        (["bound", instance, "--plot", tmp_path / "rates.gif"], "plot"),
        (["verify", tmp_path], "certificate"),
        (["verify", tmp_path / "none"], "certificate"),
    ):
        assert ossb(*arguments) == 2
        assert ossb.err.startswith("ossb: `")
        assert field in ossb.err
        assert ossb.err.count("\n") == 1
        assert ossb.out == ""


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg", "PNG"])
def test_a_picture(ossb, write, tmp_path, suffix):
    path = tmp_path / f"rates.{suffix}"
    assert ossb("bound", write([THREE, DUELS]), "--plot", path, "--json") == 0
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix.lower()]
    assert path.read_bytes().startswith(start)


def test_an_error_in_a_list_says_where(ossb, write):
    good = {"structure": "classical", "theta": [1.0, 0.0]}
    path = write([good, {**good, "theta": [1.0, 1.0]}])
    assert ossb("bound", path) == 2
    assert "`instances[1]` must be valid: `theta` must have one best arm" in ossb.err
    path = write([good, {**good, "theta": [1e200, -1e200]}])
    assert ossb("bound", path) == 2
    assert "`theta[0]` must be 0, or from 1e-100 to 1e+100 in size" in ossb.err
    path = write([good, HARDLY])
    assert ossb("bound", path) == 3
    assert "instances[1]: the answer does not pass its own check" in ossb.err
    assert ossb("bound", path, "--gap", "0") == 2
    assert "ossb: `gap` must lie in (0, 1)" in ossb.err


def test_the_noise_is_shown_given_or_not(ossb):
    keys = "structure = 'classical'\ntheta = [1.0, 0.0]\n"
    assert ossb("bound", "-", stdin=keys) == 0
    assert "gaussian with σ = 1" in ossb.out
    assert ossb("bound", "-", "--json", stdin=keys) == 0
    assert json.loads(ossb.out)["sigma"] == 1.0
    play = ("simulate", "-", "--policy", "ucb1", "--horizon", 20, "--trials", 2, "--interpreted")
    assert ossb(*play, stdin=keys) == 0
    assert ossb.out.splitlines()[-1] == "gaussian observations with σ = 1"
    assert ossb(*play, "--json", stdin=keys + "sigma = 0.5\n") == 0
    assert json.loads(ossb.out)["sigma"] == 0.5
    bernoulli = keys.replace("[1.0, 0.0]", "[0.5, 0.2]") + "observation = 'bernoulli'\n"
    assert ossb("bound", "-", "--json", stdin=bernoulli) == 0
    assert "sigma" not in json.loads(ossb.out)
    assert ossb(*play, stdin=bernoulli) == 0
    assert "σ" not in ossb.out


def test_other_costs_have_weights_and_a_certificate(ossb, write, tmp_path):
    proof = tmp_path / "proof.json"
    file = write(THREE)
    for cost, plain in (("samples", "samples"), ("0.5", 0.5), ("1,2,3", [1.0, 2.0, 3.0])):
        assert ossb("bound", file, "--cost", cost, "--certificate", proof, "--json") == 0
        content = json.loads(ossb.out)
        assert content["cost"] == plain
        assert [entry["arm"] for entry in content["weights"]] == [0, 1, 2]
        assert sum(entry["weight"] for entry in content["weights"]) == pytest.approx(1.0)
        assert ossb("verify", proof) == 0
    assert ossb("bound", file, "--cost", "samples") == 0
    assert "T*(θ) = " in ossb.out
    for wrong in ("fast", "1,2", "-1", "1,x,2", "1,0,1"):
        assert ossb("bound", file, f"--cost={wrong}") == 2
        assert "cost" in ossb.err

"""The page of ossb-suite: what it is, how to enter it, and the standing."""

from pathlib import Path
from string import Template

from ossb.suite.card import table
from ossb.suite.definition import HALVES, Suite
from ossb.suite.frozen import Frozen
from ossb.suite.standing import HEADS, rows, standing

MARK = "<!-- written by tools/suite.py -->"


def page(version: Suite, frozen: Frozen) -> str:
    """The page, from the frozen rows."""
    scores = standing(version, frozen)
    horizons = sorted({f"{one.horizon:,}" for one in version.instances})
    template = (Path(__file__).parent / "suite_page.md").read_text("utf-8")
    text = Template(template).substitute(
        mark=MARK,
        count=len(version.instances),
        policies=len(scores),
        version=version.version,
        trials=version.trials,
        horizons=" or ".join(horizons),
    )
    made = ", ".join(f"{name} {number}" for name, number in frozen.made["with"].items())
    lines = [
        text,
        "## The standing",
        "",
        f"Rows frozen on {frozen.made['on']}, with {made}. Regret over the least mean of the "
        "instance's rows, less is better, 95 % intervals. A policy is scored on the instances that "
        "it fits: those who played the same ones can be compared, and the tables below have "
        "every instance.",
        "",
    ]
    for half in HALVES:
        lines += [f"### {half.capitalize()}", "", *table(HEADS, _coded(rows(scores, half))), ""]
    lines += ["## Every instance", ""]
    for kind in dict.fromkeys(one.instance.kind for one in version.instances):
        lines += _kind(version, frozen, kind)
    lines += [
        "Mean regret at the horizon over the least of the instance. An empty cell: the policy does "
        "not fit, or has no row. `tools/suite.py` plays the rows and writes this page.",
        "",
    ]
    return "\n".join(lines)


def _coded(found: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(f"`{first}`", *rest) for first, *rest in found]


def _kind(version: Suite, frozen: Frozen, kind: str) -> list[str]:
    """Ratios to the least mean, a column for each instance of a structure."""
    part = [one for one in version.instances if one.instance.kind == kind]
    means = {
        one.name: {line.policy: float(line.regret.mean()) for line in frozen.of(one.name)}
        for one in part
    }
    policies = dict.fromkeys(policy for found in means.values() for policy in found)
    body = [
        (f"`{policy}`", *(_ratio(means[one.name], policy, frozen.least(one.name)) for one in part))
        for policy in policies
    ]
    least = ("least mean regret", *(f"{frozen.least(one.name):.4g}" for one in part))
    heads = ("policy", *(one.name for one in part))
    return [f"### {kind}", "", *table(heads, [*body, least]), ""]


def _ratio(means: dict[str, float], policy: str, least: float) -> str:
    return f"{means[policy] / least:.3g}" if policy in means else ""

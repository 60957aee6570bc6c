"""Slope of regret against ln t beside the Graves–Lai constant, on every structure.

    python benchmarks/slope.py [--quick] [--only NAME] [--policy ossb] [--trials N] [--out DIR]
        [--page docs/optimality.md]

For ``ossb`` and ``hgl``: (R(t) − R(t/10)) / (C(θ) ln 10) with its standard error over trials, for
each of the last decades, and plays of each arm over c(x, θ) ln T.  The instances have one best
arm, unique rates, and gaps so large that the logarithmic regime is reached early.  Polytopes and
unions are interpreted, and have fewer trials.  What was found for each structure is kept in the
folder ``--out``, from where the picture of all is drawn, and the page written if one is asked for
(``--only none --page …`` writes it from what is there).
"""

import argparse
import itertools
import json
import math
import pathlib
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import ossb
from ossb.cli.progress import RoundProgress
from ossb.figures.canvas import new_figure, paper_style, save
from ossb.figures.regret import draw_curve
from ossb.structures import bound

DECADES = (10**4, 10**5, 10**6, 10**7)
BAND = (0.7, 1.3)
SHOWN, COLOURS = (1100, 800), 32  # the picture of the page
NONE = 1e-4  # a rate this small beside the largest is a solver's zero
COMPILED = {"ossb": (10**6, 60), "hgl": (10**6, 200)}
LATER = {"ossb": (10**7, 60), "hgl": (10**7, 200)}  # after what the opening has bought
INTERPRETED = {"ossb": (10**5, 60), "hgl": (10**6, 60)}
QUICK = {"ossb": (10**4, 20), "hgl": (10**5, 40)}


class Case(NamedTuple):
    instance: Any
    runs: dict[str, tuple[int, int]]  # policy: horizon, trials


def m_sets(n_items, size):
    chosen = itertools.combinations(range(n_items), size)
    return [[int(i in items) for i in range(n_items)] for items in chosen]


def cases():
    ahead = {"A": [[-1, 1, 0], [-1, 0, 1]], "b": [0, 0]}  # the first arm is best
    behind = {"A": [[1, -1, 0], [0, -1, 1], [0, 0, 1]], "b": [0, 0, -0.5]}  # the second
    far = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    return {
        "classical": Case(
            ossb.Classical(observation="bernoulli", theta=[0.9, 0.5, 0.3]), COMPILED
        ),
        "linear": Case(
            ossb.Linear(arms=[[1, 0], [0, 1], [0.5, 0.8]], phi=[1.0, 0.0]), COMPILED
        ),
        "generalised linear": Case(
            ossb.GeneralizedLinear(
                arms=[[1, 0], [0, 1], [0.5, 0.8]],
                phi=[2.0, -1.0],
                link="logistic",
                observation="bernoulli",
            ),
            COMPILED,
        ),
        "dueling": Case(
            ossb.Dueling(preferences=[[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]]),
            COMPILED,
        ),
        "lipschitz": Case(
            ossb.Lipschitz(
                observation="bernoulli",
                theta=[0.2, 0.5, 0.8, 0.4],
                points=[0.0, 1.0, 2.0, 3.0],
                lipschitz_constant=0.45,
            ),
            COMPILED,
        ),
        "unimodal": Case(
            ossb.Unimodal(observation="bernoulli", theta=[0.2, 0.5, 0.85, 0.5, 0.3]), COMPILED
        ),
        "semi-bandit": Case(
            ossb.Combinatorial(
                feedback="semi_bandit", arms=m_sets(4, 2), phi=[1.5, 1.2, 0.3, 0.0]
            ),
            COMPILED,
        ),
        "bandit": Case(
            ossb.Combinatorial(
                feedback="bandit", arms=m_sets(3, 1) + m_sets(3, 2), phi=[1.5, 1.0, -1.0]
            ),
            COMPILED,
        ),
        "finite": Case(
            ossb.Finite(
                observation="bernoulli",
                parameters=[[0.8, 0.5, 0.3], [0.8, 0.5, 0.9], [0.8, 0.9, 0.3], [0.4, 0.5, 0.3]],
                theta=[0.8, 0.5, 0.3],
            ),
            LATER,
        ),
        "polytope": Case(
            ossb.Polytope(
                observation="gaussian",
                A=[*far, [-1, 1, 1]],
                b=[3, 3, 3, 3, 3, 3, 1],
                theta=[1.0, -0.5, -0.6],
            ),
            INTERPRETED,
        ),
        "union": Case(
            ossb.Union(
                observation="gaussian", pieces=[ahead, behind], theta=[1.0, 0.0, -1.0]
            ),
            INTERPRETED,
        ),
    }  # fmt: skip


class Slopes(NamedTuple):
    """Slopes over the decades that end at some rounds, in units of C(θ)."""

    ends: list[int]
    means: list[float]
    errors: list[float]


def slopes(result, constant):
    """Those of one policy's trials; a trial's regret is paired with its own a decade before."""
    at, curves = result.checkpoints, result.curves
    found = Slopes([], [], [])
    for end in DECADES:
        if end > at[-1]:
            break
        last, first = np.argmin(np.abs(at - end)), np.argmin(np.abs(at - end / 10))
        rise = curves[:, last] - curves[:, first]
        each = rise / (constant * math.log(at[last] / at[first]))
        found.ends.append(end)
        found.means.append(float(each.mean()))
        found.errors.append(float(each.std(ddof=1) / math.sqrt(each.size)))
    return found


def plays(result, rates):
    """N(x) / (c(x) ln T) of the arms with a rate, and the most N(x) / ln T of others."""
    scale = math.log(result.checkpoints[-1])
    needed = rates > NONE * rates.max()
    best = int(np.argmax(result.plays))
    idle = [n for x, n in enumerate(result.plays) if not needed[x] and x != best]
    return result.plays[needed] / (rates[needed] * scale), max(idle, default=0.0) / scale


def told(each, end):
    """The slope over the decade that ends there, and its error."""
    if end not in each["ends"]:
        return ""
    place = each["ends"].index(end)
    return f"{each['means'][place]:.2f} ± {each['errors'][place]:.2f}"


def inside(each):
    return "yes" if BAND[0] <= each["means"][-1] <= BAND[1] else "NO"


def row(name, policy, each):
    cells = "  ".join(f"{told(each, end):>12}" for end in DECADES)
    shown = " ".join(f"{ratio:.2f}" for ratio in each["ratios"])
    head = f"{name:18} {policy:6} {each['trials']:4} {each['constant']:6.2f}"
    return f"{head}  {cells}  {inside(each):6}  {shown} ({each['idle']:.2f})"


def kept(result, constant, rates):
    """What the table and the picture need of a policy's trials, in units of C(θ)."""
    half = 2 * result.curves.std(axis=0) / (constant * len(result.curves) ** 0.5)
    ratios, idle = plays(result, rates)
    return {
        "trials": len(result.curves),
        "constant": constant,
        **slopes(result, constant)._asdict(),
        "ratios": ratios.tolist(),
        "idle": float(idle),
        "checkpoints": result.checkpoints.tolist(),
        "mean": (result.curves.mean(axis=0) / constant).tolist(),
        "half": half.tolist(),
    }


PAGE = """\
# Optimality, measured

<!-- written by benchmarks/slope.py -->

The bound says that regret grows at least as C(θ) ln t; here is how fast it does grow. On one
instance of each structure, with one best arm and gaps so large that the
logarithmic regime is reached early: the growth of mean regret over each tenfold of rounds that
ends at the head of a column, (R(t) − R(t/10)) / (C(θ) ln 10) ± its standard error over trials,
which should come near 1, and whether the last one lies between 0.7 and 1.3; and the plays N(x) /
(c(x) ln T) of each arm with a rate at the last round, with the most N(x) / ln T of an arm without
one in brackets. Growth need not come to 1 from one side, nor at one pace: `hgl` buys less than
the bound asks while its horizon is short, and makes up for it slowly; `ossb` makes more plays at
first, which shows in N(x). Plays come to c(x) ln T more slowly than regret to C(θ) ln T: where an
arm tells more in one play at nearly the price of the plan, as on the linear instance (28 % dearer
for what it tells), `hgl` long buys from both. On finite sets both have bought in their opening what
the first rounds would, and growth begins later.

"""


def write(found, path):
    """The page, beside its picture."""
    heads = " | ".join(f"10{'⁰¹²³⁴⁵⁶⁷'[round(math.log10(end))]}" for end in DECADES)
    lines = [
        f"| structure | policy | trials | C(θ) | {heads} | inside | plays |",
        "|---" * (len(DECADES) + 6) + "|",
    ]
    for name, policies in found.items():
        for policy, each in sorted(policies.items()):
            cells = " | ".join(told(each, end) for end in DECADES)
            shown = ", ".join(f"{ratio:.2f}" for ratio in each["ratios"])
            shown += f" ({each['idle']:.2f})"
            head = f"{name} | `{policy}` | {each['trials']} | {each['constant']:.2f}"
            lines.append(f"| {head} | {cells} | {inside(each)} | {shown} |")
    picture = "![Mean regret over C(θ) against ln t, by structure](slope.png)"
    path.write_text(PAGE + "\n".join([*lines, "", picture]) + "\n", encoding="utf-8")
    shown = path.with_name("slope.png")
    draw(found, shown)
    drawn = Image.open(shown).convert("RGB")
    drawn.thumbnail(SHOWN)
    drawn.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(shown, optimize=True)


def draw(found, path):
    """Mean regret over C(θ) against ln t, one panel for each structure."""
    with paper_style():
        columns = 4
        rows = math.ceil(len(found) / columns)
        figure = new_figure(9.0, 2.0 * rows)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, (name, policies) in zip(panels, found.items(), strict=False):
            for place, (policy, each) in enumerate(sorted(policies.items())):
                mean, half = np.array(each["mean"]), np.array(each["half"])
                at = np.array(each["checkpoints"])
                draw_curve(panel, place, policy, at, mean, mean - half, mean + half)
            times = np.geomspace(1, max(each["checkpoints"][-1] for each in policies.values()))
            panel.plot(times, np.log(times), color="black", linewidth=0.8, label="ln t")
            panel.set_xscale("log")
            panel.set_title(name)
        panels[0].legend(frameon=False)
        panels[0].set_ylabel("mean regret / C(θ)")
        for panel in panels[len(found) :]:
            panel.set_axis_off()
        save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="compiled structures, few rounds")
    parser.add_argument("--only", help="one structure")
    parser.add_argument("--policy", choices=sorted(COMPILED), help="one policy")
    parser.add_argument("--trials", type=int, help="trials of each policy")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/slope"))
    parser.add_argument("--page", type=pathlib.Path, help="write this page too")
    options = parser.parse_args()
    known = [*cases(), "none"]
    if options.only and options.only not in known:
        parser.error(f"--only must be one of {', '.join(known)}, got {options.only!r}")
    if options.quick or options.trials:
        options.out /= "short"  # not among the whole runs
    options.out.mkdir(parents=True, exist_ok=True)
    heads = "  ".join(f"{f'T = 1e{round(math.log10(end))}':>12}" for end in DECADES)
    print(f"{'structure':18} {'policy':6} runs {'C':>6}  {heads}  inside  N / (c ln T), (idle)")
    found = {}
    for name, case in cases().items():
        path = options.out / f"{name.replace(' ', '-')}.json"
        if not options.only or options.only == name:
            if options.quick and case.runs is INTERPRETED:
                continue
            solution = bound(case.instance)
            answers = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            for policy, run in case.runs.items():
                if options.policy and options.policy != policy:
                    continue
                horizon, trials = QUICK[policy] if options.quick else run
                trials = options.trials or trials
                with RoundProgress(horizon * trials) as progress:
                    result = ossb.simulate(
                        case.instance, [policy], horizon, trials, 1, progress=progress
                    ).policies[0]
                answers[policy] = kept(result, solution.value, solution.rates)
                print(row(name, policy, answers[policy]), flush=True)
            path.write_text(json.dumps(answers), encoding="utf-8")
        if path.exists():
            found[name] = json.loads(path.read_text(encoding="utf-8"))
    if not found:
        parser.error(f"{options.out} holds no run")
    draw(found, options.out / "slope.png")
    print(f"drawn: {options.out / 'slope.png'}")
    if options.page:
        write(found, options.page)
        print(f"written: {options.page}")


if __name__ == "__main__":
    main()

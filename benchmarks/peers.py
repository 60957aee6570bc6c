"""Side by side with other packages, each in an environment of its own; writes the page.

    python benchmarks/peers.py [--quick] [--page docs/benchmarks.md] [--only SCRIPT ...]

Peers are installed from ``benchmarks/peers/*.txt`` into ``build/peers``.  One that does not
install is said to, and left out.  A quick run writes no page unless it is told where.  With
``--only``, the sections of these scripts are written anew, and the rest of the page stays;
``policies`` is the table of other packages.
"""

import argparse
import ast
import datetime
import json
import os
import platform
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "peers"))

from rounds import MEANS, microseconds  # noqa: E402

from ossb import Classical, simulate  # noqa: E402
from ossb.adapters.learner import Learner  # noqa: E402

PEERS = {"smpybandits": "SMPyBandits", "river": "river", "mabwiser": "MABWiser"}
POLICIES = ("ossb", "kl-ucb", "thompson", "dmed", "ucb1", "hgl")
SOLVERS = {
    "Linear arms: the semidefinite program by Clarabel, and through CVXPY": (
        "linear.py", "--part", "b",
    ),
    "Linear arms, as users call them: one by one, in a list, from the command line": (
        "bounds.py",
    ),
    "What a bound of tests takes beside one of regret": (
        "costs.py",
    ),
    "Sets of items, semi-bandit feedback: the convex program through CVXPY": (
        "semi_bandit.py", "--quick", "--part", "sizes",
    ),
    "Polytopes: cutting planes with each alternative through CVXPY": (
        "generic.py", "--repeats", "3",
    ),
    "Polytopes: the solvers inside, against Clarabel and HiGHS called directly": (
        "interior_point.py",
    ),
    "Lipschitz means: the linear program by HiGHS, cold and from the last basis": (
        "lipschitz.py", "--quick", "--no-compile",
    ),
}  # fmt: skip
FIRST = {"The first bound, simulation and campaign, with nothing cached": ("first_use.py",)}
POLICIES_TABLE = "policies"
QUICK = 500
FULL = 5000


def installed(name):
    """The interpreter of a peer's environment, made where it is missing; None with a reason."""
    folder = ROOT / "build" / "peers" / name
    wanted = (HERE / "peers" / f"{name}.txt").read_text()
    stamp = folder / "installed.txt"
    python = folder / "bin" / "python"
    if not (stamp.is_file() and stamp.read_text() == wanted):
        print(f"installing {PEERS[name]} into {folder.relative_to(ROOT)}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "peers" / f"{name}.txt"]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode != 0:
            return None, made.stderr.strip().splitlines()[-1]
        stamp.write_text(wanted)
    return python, ""


def theirs(name, rounds):
    """CPU µs a round of a peer's policies, or why there are none."""
    python, reason = installed(name)
    if python is None:
        return {}, reason
    script = HERE / "peers" / f"play_{name}.py"
    run = subprocess.run([python, script, str(rounds)], capture_output=True, text=True)
    if run.returncode != 0:
        return {}, run.stderr.strip().splitlines()[-1]
    return json.loads(run.stdout.strip().splitlines()[-1]), ""


def ours(policy, rounds):
    """CPU µs a round: interpreted and compiled steps called from Python, and the simulator."""
    instance = Classical(observation="bernoulli", theta=MEANS)

    def called(compiled):
        def make(seed):
            learner = Learner(instance, policy, seed, compiled)
            return learner.choose, learner.learn

        return microseconds(make, rounds)

    # as many rounds as the others: policies take longer while they explore
    trials = 20
    result = simulate(instance, [policy], rounds, trials=trials).policies[0]
    return called(False), called(True), 1e6 * result.seconds / (trials * rounds)


def policy_rows(rounds):
    """Rows of the first table (policy, package or None, its µs, our µs), and what to note."""
    peers = {name: theirs(name, rounds) for name in PEERS}
    rows = []
    for policy in POLICIES:
        mine = ours(policy, rounds)
        found = [
            (PEERS[name], times[policy]) for name, (times, _) in peers.items() if policy in times
        ]
        rows += [(policy, package, taken, mine) for package, taken in found or [(None, None)]]
    notes = [
        f"{PEERS[name]} does not run here: {reason}"
        for name, (_, reason) in peers.items()
        if reason
    ]
    return rows, notes


def policy_table(rows):
    """The first table in Markdown."""
    lines = [
        "| policy | package | its µs | ours: interpreted step | compiled step | simulating "
        "| its ÷ interpreted | ÷ compiled step | ÷ simulating |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for policy, package, taken, (plain, step, loop) in rows:
        mine = f"{plain:.1f} | {step:.1f} | {loop:.2f}"
        if package is None:
            lines.append(f"| {policy} | none | | {mine} | | | |")
        else:
            ratios = f"{taken / plain:.1f} | {taken / step:.1f} | {taken / loop:.0f}"
            lines.append(f"| {policy} | {package} | {taken:.1f} | {mine} | {ratios} |")
    return lines


def explained(script):
    """What a benchmark measures and what its columns are: its docstring, without its usage."""
    text = ast.get_docstring(ast.parse((HERE / script).read_text("utf-8")))
    parts = [part for part in text.split("\n\n")[1:] if not part.startswith("    ")]
    return "\n\n".join(parts).replace("``", "`")


def tables_of(scripts, quick):
    """What benchmarks print, by title."""
    found = {}
    for title, (script, *arguments) in scripts.items():
        if quick and "--quick" not in arguments and "--quick" in (HERE / script).read_text("utf-8"):
            arguments = [*arguments, "--quick"]
        command = [sys.executable, "-W", "ignore", HERE / script, *arguments]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{script} failed:\n{run.stderr}")
        found[title] = (" ".join([script, *arguments]), run.stdout.strip("\n"))
        print(f"\n{title}\n{found[title][1]}", flush=True)
    return found


METHOD = """\
# Benchmarks

Written by `make bench` (`python benchmarks/peers.py`): nothing here is typed by hand.

## Policies, by the round

{n_arms} Bernoulli arms with means from {low} to {high}.  A round is one choice and one update.
Every package runs in an environment of its own, with the versions of `benchmarks/peers/*.txt`,
in the same loop (`benchmarks/peers/rounds.py`) over rewards drawn beforehand; times are CPU times
of one core, medians of three runs of {rounds:,} rounds.  Compare ratios: they are of one run on one
machine.

Ours stand there three times: *interpreted step*, called from Python as the others are, which is
what the [adapters](ecosystem.md) do by themselves; *compiled step*, the same with `compiled=True`;
and *simulating*, `ossb.simulate`, where the whole loop is compiled and the time of drawing the
rewards and noting the regret is included, as many rounds long.  Compiling is not counted; it is
done once, then cached.  A ratio below 1 says that the other package is faster.

Policies of one name share an idea; constants may differ, and river's `ucb1` is its
`UCB(delta=1)`.
"""


BOUNDS = """\
## Bounds, against general solvers

The same value by a general solver, in the same run.  *Ratio* and × are its time over
ours; *difference* is how far its value is from ours, which is certified.

The solvers are CVXPY {cvxpy}, Clarabel {clarabel} and HiGHS {highspy}.  They are libraries, called
from the same process on the same arrays, so that they run in the project's own environment, whose
versions are those of `constraints.txt`: another environment would be another process, and time
would go into handing the problems over.
"""


def sections(tables, day):
    """Tables, each with its command, day and method, in lines of Markdown."""
    lines = []
    for title, (command, printed) in tables.items():
        lines += [f"### {title}", "", f"`python benchmarks/{command}`, {day}", ""]
        lines += [explained(command.split()[0]), "", "```text", printed, "```", ""]
    return lines


def policy_section(rows, notes, day):
    """The first table with its day, in lines of Markdown."""
    return [*policy_table(rows), "", f"Measured on {day}.", "", *(f"{note}\n" for note in notes)]


def page(rows, notes, tables, first, rounds):
    """The page, whole."""
    text = METHOD.format(n_arms=len(MEANS), low=min(MEANS), high=max(MEANS), rounds=rounds)
    day = datetime.date.today().isoformat()
    lines = [text, *policy_section(rows, notes, day)]
    lines += [BOUNDS.format(**{name: version(name) for name in ("cvxpy", "clarabel", "highspy")})]
    lines += sections(tables, day)
    lines += ["## First use", "", *sections(first, day)]
    lines += [
        "## Where",
        "",
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; each table has its day.",
        "",
    ]
    return "\n".join(lines)


def replaced(text, begins, ends, lines):
    """A page with what stands from one beginning of a line to the next of some replaced."""
    start = text.index(f"\n{begins}") + 1
    end = start + min(at for end in ends if (at := text[start + 1 :].find(f"\n{end}")) >= 0) + 2
    return text[:start] + "\n".join(lines) + "\n" + text[end:]


def renewed(text, only, rounds, quick):
    """A page with the sections of some scripts written anew."""
    day = datetime.date.today().isoformat()
    if POLICIES_TABLE in only:
        rows, notes = policy_rows(rounds)
        text = replaced(text, "| policy |", ["## "], policy_section(rows, notes, day))
    scripts = {t: words for t, words in (SOLVERS | FIRST).items() if words[0] in only}
    for title, table in tables_of(scripts, quick).items():
        lines = sections({title: table}, day)
        text = replaced(text, f"### {title}\n", ["## ", "### "], lines)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds and instances")
    parser.add_argument("--page", type=Path, help="where the page goes")
    known = [POLICIES_TABLE, *(words[0] for words in (SOLVERS | FIRST).values())]
    parser.add_argument("--only", nargs="+", choices=known, help="sections to write anew")
    options = parser.parse_args()
    rounds = QUICK if options.quick else FULL
    target = options.page or (None if options.quick else ROOT / "docs" / "benchmarks.md")
    if options.only:
        kept = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
        whole = renewed(kept, options.only, rounds, options.quick)
    else:
        rows, notes = policy_rows(rounds)
        print("\n".join([*policy_table(rows), *notes]), flush=True)
        tables, first = (tables_of(which, options.quick) for which in (SOLVERS, FIRST))
        whole = page(rows, notes, tables, first, rounds)
    if target is not None:
        target.write_text(whole, encoding="utf-8")
        print(f"\nwrote {target}")


if __name__ == "__main__":
    main()

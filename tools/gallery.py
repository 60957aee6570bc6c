"""Write the gallery: a page with figure, table and timing for each bundled experiment.

    python tools/gallery.py [NAME ...] [key=value ...]

Without names, all of them but the parts of the regret grid, which has a page of its own.  What is
missing is run first, into ``results/NAME``; a run that is there already is used as it is.
Overrides, such as ``trials=20``, shorten a run, and its page says so.
"""

import argparse
import math
import tomllib
from itertools import takewhile
from pathlib import Path
from typing import Any

import paper_claim
from few_colours import saved
from ossb.cli.run_progress import play
from ossb.experiments import ends
from ossb.experiments.definition import bundled, read
from ossb.experiments.ledger import Ledger
from ossb.experiments.results import Results
from ossb.experiments.tables import Row, comparisons, rows, statement
from ossb.words import counted, rounded
from regret_grid.grid import PREFIX

ROOT = Path(__file__).resolve().parents[1]
DRAWN_DPI = 220  # sharp at twice the size
COLOURS = 250
LONGEST = 300  # letters of a comparison: what comes after says little with many policies
FEWEST = 10  # trials whose worst says something of the tail
HEAVY = 3.0  # times the median that a worst trial may have before it is worth a word
MARK = "<!-- written by tools/gallery.py -->"


def draw(results: Results, path: Path) -> None:
    """What it is about: when trials stopped, or the regret of all policies."""
    from ossb.figures.canvas import paper_style
    from ossb.figures.experiment import draw_regrets, draw_tests

    shown = draw_tests if results.experiment.until else draw_regrets
    with paper_style():
        saved(shown(results, "confidence"), path, DRAWN_DPI, COLOURS)


def table(found: list[Row], group: str) -> list[str]:
    """Regret at each quoted time, best first at the horizon."""
    part = [row for row in found if row.group == group]
    times = sorted({row.t for row in part})
    head = [f"T = {t:,}" for t in times]
    lines = [
        f"| policy | {' | '.join(head)} | median | worst |",
        "|---" * (len(head) + 3) + "|",
    ]
    for last in sorted((row for row in part if row.t == times[-1]), key=lambda row: row.mean):
        at = {row.t: row for row in part if row.policy == last.policy}
        cells = [f"{rounded(at[t].mean)} ± {rounded(at[t].sem, 2)}" for t in times]
        ends = f"{rounded(last.median)} | {rounded(last.worst)}"
        lines.append(f"| `{last.policy}` | {' | '.join(cells)} | {ends} |")
    return lines


def finding(found: list[Row], group: str) -> str:
    """What the table shows at the last time: the best policy, `hgl`, the bound, the tail."""
    last = max(row.t for row in found)
    part = sorted((r for r in found if r.group == group and r.t == last), key=lambda r: r.mean)
    best = part[0]
    said = f"`{best.policy}` has the least mean regret at T = {last:,}, {_number(best.mean)}"
    if best.bound_at_t > 0:  # neither unknown nor 0
        said += f", {best.mean / best.bound_at_t:.2g} times C(θ) ln T = {_number(best.bound_at_t)}"
    return " ".join([f"{said}.", *_standing(part), *_tail(part)])


def _standing(part: list[Row]) -> list[str]:
    """Where `hgl` is, or who is next to it."""
    places = [place for place, row in enumerate(part) if row.policy == "hgl"]
    if len(part) < 2 or not places or part[0].mean <= 0:
        return []
    if places[0] == 0:
        return [f"`{part[1].policy}` is next, with {part[1].mean / part[0].mean:.2f} times that."]
    times = part[places[0]].mean / part[0].mean
    return [f"`hgl` is number {places[0] + 1} of {len(part)}, with {times:.2f} times that."]


def _tail(part: list[Row]) -> list[str]:
    """Whose worst trial is furthest from its median: a policy that locks shows there."""
    if part[0].trials < FEWEST:
        return []
    heaviest = max(part, key=_spread)
    if _spread(heaviest) <= HEAVY:
        return [f"No policy has a trial with more than {HEAVY:g} times its median."]
    ends = f"{_number(heaviest.worst)}, where its median is {_number(heaviest.median)}"
    return [f"The heaviest tail is that of `{heaviest.policy}`: its worst trial has {ends}."]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else rounded(value)


def _spread(row: Row) -> float:
    if row.median > 0:
        return row.worst / row.median
    return math.inf if row.worst > 0 else 0.0


def took(results: Results) -> tuple[float, int]:
    """CPU seconds of the trials, and their rounds."""
    played = results.ledger.seconds()
    # a folder may hold cells of another number of trials as well
    seconds = sum(played[cell["part"]] for cell in results.ledger.index() if cell["part"] in played)
    return seconds, results.trials.height * results.experiment.horizon


def shortened(results: Results, full: Any) -> str:
    """How the run differs from the bundled one, if it does."""
    experiment = results.experiment
    differ = [
        f"{key} {getattr(experiment, key):,} in place of {getattr(full, key):,}"
        for key in ("trials", "horizon")
        if getattr(experiment, key) != getattr(full, key)
    ]
    return f" This run is shorter than the bundled one: {', '.join(differ)}." if differ else ""


def tests_table(results: Results, group: str) -> list[str]:
    """When trials stopped, quickest first."""
    lines = [
        "| policy | mean rounds | median | 90 % | errors | unfinished | regret until then |",
        "|---" * 7 + "|",
    ]
    for row in (row for row in ends.stop_rows(results) if row.group == group):
        cells = [
            f"{row.mean:,.0f} ± {rounded(row.sem, 2)}",
            *(f"{row.median:,.0f}", f"{row.p90:,.0f}"),
            *(f"{row.errors:.1%}", f"{row.unfinished:.1%}"),
            f"{rounded(row.regret)} ± {rounded(row.regret_sem, 2)}",
        ]
        lines.append(f"| `{row.policy}` | {' | '.join(cells)} |")
    return lines


def answers_table(results: Results, group: str) -> list[str]:
    """Errors and simple regret after each budget."""
    found = [row for row in ends.answer_rows(results) if row.group == group]
    times = sorted({row.t for row in found})
    if not times:
        return []
    lines = [
        f"| share of wrong answers, simple regret | {' | '.join(f't = {t:,}' for t in times)} |",
        "|---" * (len(times) + 1) + "|",
    ]
    for policy in dict.fromkeys(row.policy for row in found):
        at = {row.t: row for row in found if row.policy == policy}
        cells = [f"{at[t].errors:.1%}, {at[t].simple_regret:.2g}" for t in times]
        lines.append(f"| `{policy}` | {' | '.join(cells)} |")
    return ["", *lines]


def tests_page(name: str, results: Results, text: str) -> str:
    """The page of an experiment whose trials end."""
    experiment, full = results.experiment, read(name)
    seconds, _ = took(results)
    lines = [
        f"# {full.title or name}",
        "",
        MARK,
        "",
        text,
        "",
        f"`ossb run {name}`: {counted(len(experiment.instances), 'instance')}, "
        f"{counted(experiment.trials, 'trial')}, each until its leader is best with confidence "
        f"{1 - experiment.until:g} or to round {experiment.horizon:,}, seed {experiment.seed}."
        f"{shortened(results, full)}",
        "",
        "![Share of trials that have stopped by each round, and plays of each arm beside w*]"
        f"({name}.png)",
        "",
        f"It took {seconds:,.0f} s of CPU time on one core, compilation not counted.",
        "",
    ]
    for group in results.groups:
        first = next(row for row in ends.stop_rows(results) if row.group == group)
        said = ends.floors(first).removeprefix(", ").replace(", C(θ)", "; C(θ)")
        lines += [f"## {group}", "", f"No such test stays below, on average: {said}.", ""]
        lines += [*tests_table(results, group), *answers_table(results, group), ""]
    lines += [
        "Mean ± its standard error; trials that did not end count with the last round. All "
        "policies are stopped by one rule, see [when to stop](../stopping.md). T* kl(δ, 1 − δ) is "
        "about mean rounds, C(θ) kl(δ, 1 − δ) about mean regret until the stop.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def page(name: str, results: Results, text: str) -> str:
    if results.experiment.until:
        return tests_page(name, results, text)
    experiment, found = results.experiment, rows(results)
    seconds, rounds = took(results)
    full = read(name)
    arguments = f"ossb run {name}"
    lines = [
        f"# {full.title or name}",
        "",
        MARK,
        "",
        text,
        "",
        f"`{arguments}`: {counted(len(experiment.instances), 'instance')}, "
        f"{counted(len(results.policies), 'policy', 'policies')}, "
        f"{counted(experiment.trials, 'trial')} of {counted(experiment.horizon, 'round')}, "
        f"seed {experiment.seed}."
        f"{shortened(results, full)}",
        "",
        f"![Regret of all policies against t and ln t, with C(θ) ln t]({name}.png)",
        "",
        f"It took {seconds:,.0f} s of CPU time on one core, "
        f"{rounded(1e6 * seconds / rounds, 2)} µs a round, compilation not counted.",
        "",
    ]
    for group in results.groups:
        constant = results.constants[group]
        lines += [f"## {group}", "", finding(found, group), ""]
        lines += [f"Mean of C(θ): {rounded(constant)}.", ""]
        lines += [*table(found, group), "", _told_apart(statement(comparisons(results, group))), ""]
    lines += [
        "Mean regret ± its standard error; median and worst at the last time. Trials of all "
        "instances of a group are pooled. A mean below C(θ) ln T is no contradiction: the bound is "
        "about large T.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def _told_apart(said: str) -> str:
    if not said:
        return "One policy only: nothing to compare."
    first, rest, method = said.partition("; of the others")
    if len(said) > LONGEST and rest:
        said = f"{first} ({method.rpartition('(')[2]}"
    return f"Told apart: {said}"


def introduction(name: str) -> str:
    """What an experiment is about: written for the gallery, or the comment its file begins with."""
    texts = tomllib.loads((ROOT / "tools" / "gallery.toml").read_text("utf-8"))
    if name in texts:
        return str(texts[name]["text"]).strip()
    first = takewhile(lambda line: line.startswith("#"), bundled()[name].splitlines())
    return "\n".join(line.removeprefix("#").strip() for line in first)


def claim(name: str) -> dict[str, Any] | None:
    """What a paper says of an experiment, if its page is to begin with that."""
    texts = tomllib.loads((ROOT / "tools" / "gallery.toml").read_text("utf-8"))
    found: dict[str, Any] | None = texts.get(name, {}).get("claim")
    return found


def shown() -> list[str]:
    """The experiments that have a page."""
    return [name for name in bundled() if not name.startswith(PREFIX)]


def index(folder: Path) -> str:
    """A row for each experiment, run or not."""
    lines = [
        "# Gallery",
        "",
        MARK,
        "",
        "The experiments that come with the package, with figure, table, time taken and what they "
        "show. `make gallery` writes these pages; only their introductions are typed by hand.",
        "",
        "| experiment | | |",
        "|---|---|---|",
    ]
    for name in shown():
        title = read(name).title or name
        there = (folder / f"{name}.md").exists()
        link = f"[`{name}`]({name}.md)" if there else f"`{name}`"
        small = f"[![]({name}.png){{ width=220 loading=lazy }}]({name}.md)" if there else ""
        lines.append(f"| {link} | {title} | {small} |")
    lines += [
        "",
        "The parts of the regret grid, `regret-*`, have [a page of their own](../regret.md).",
        "",
    ]
    return "\n".join(lines)


def is_finished(folder: Path) -> bool:
    """Whether every cell of the experiment in a folder was played."""
    ledger = Ledger(folder)
    return {cell["part"] for cell in ledger.index()} <= ledger.finished()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="names, and key=value pairs")
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "gallery")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 takes all cores")
    chosen = parser.parse_args(arguments)
    overrides = [word for word in chosen.words if "=" in word]
    names = [word for word in chosen.words if "=" not in word] or list(shown())
    chosen.docs.mkdir(parents=True, exist_ok=True)
    for name in names:
        folder = chosen.results / name
        if overrides or not (folder / "experiment.json").exists():
            print(f"running {name}", flush=True)
            play(read(name, overrides), folder, chosen.workers)
        elif not is_finished(folder):
            print(f"going on with {name}", flush=True)
            play(Ledger(folder).experiment(), folder, chosen.workers)
        results = Results(folder)
        draw(results, chosen.docs / f"{name}.png")
        text, claimed = introduction(name), claim(name)
        if claimed is not None:
            text = f"{paper_claim.said(results, claimed, f'{name}-paper.png')}\n\n{text}"
            with paper_claim.style():
                drawn = paper_claim.drawn(results, claimed)
                saved(drawn, chosen.docs / f"{name}-paper.png", DRAWN_DPI, COLOURS)
        said = page(name, results, text)
        (chosen.docs / f"{name}.md").write_text(said, "utf-8")
        print(f"wrote {chosen.docs / name}.md", flush=True)
    (chosen.docs / "index.md").write_text(index(chosen.docs), "utf-8")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None

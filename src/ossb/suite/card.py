"""A card of a score: as text for a terminal, and as Markdown to be shown."""

from collections.abc import Iterable, Sequence

from ossb.suite.definition import Suite
from ossb.suite.frozen import Frozen
from ossb.suite.score import BESIDE, Contest, Entry, Half, Score
from ossb.words import counted, rounded, spread

ENTRY_HEADS = (
    "instance",
    "mean ± sem",
    "ratio",
    "best of the frozen",
    "place",
    "95 %",
    "worst",
    "of C(θ) ln T",
    "µs a round",
)


def text(version: Suite, found: Score, refused: dict[str, str]) -> str:
    """The score for a terminal."""
    lines = [said(half) for half in found.halves]
    lines.append("")
    lines += aligned([ENTRY_HEADS, *(_cells(entry) for entry in found.entries)])
    lines += ["", *(_contest(contest) for contest in found.contests)]
    return "\n".join([*lines, *_notes(version, found, refused)])


def markdown(version: Suite, rows: Frozen, found: Score, refused: dict[str, str]) -> str:
    """The card."""
    trials = found.entries[0].trials
    lines = [
        f"# `{found.policy}` on ossb-suite {version.version}",
        "",
        f"{counted(len(found.entries), 'instance')} of {len(version.instances)}, "
        f"{counted(trials, 'trial')} each, beside rows frozen on {rows.made['on']}.",
        "",
        *(f"- {said(half)}" for half in found.halves),
        "",
        *table(ENTRY_HEADS, [_cells(entry) for entry in found.entries]),
        "",
        *(f"- {_contest(contest)}" for contest in found.contests),
        *_notes(version, found, refused),
        "",
    ]
    return "\n".join(lines)


def said(half: Half) -> str:
    """One half in a sentence."""
    beside = "" if half.beside is None else f"; less regret than {BESIDE} with chance {half.beside}"
    return (
        f"{half.half}, {half.instances} of {counted(half.of, 'instance')}: regret over the least "
        f"of frozen rows, geometric mean {half.geometric}, interquartile mean {half.middle}, "
        f"at most {half.worst_ratio:.3g} ({half.worst}){beside}"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _cells(entry: Entry) -> tuple[str, ...]:
    return (
        entry.instance,
        f"{rounded(entry.mean)} ± {spread(entry.sem, entry.trials)}",
        rounded(entry.ratio, 3),
        entry.best,
        str(entry.place),
        rounded(entry.p95),
        rounded(entry.worst),
        rounded(entry.to_bound, 3),
        f"{entry.microseconds:.3g}",
    )


def _contest(contest: Contest) -> str:
    return (
        f"against {contest.policy}: less regret on {contest.won}, more on {contest.lost}, "
        f"not told apart on {contest.open}"
    )


def _notes(version: Suite, found: Score, refused: dict[str, str]) -> list[str]:
    trials = found.entries[0].trials
    notes = [
        "",
        "Contests are paired on common noise, Holm-corrected, 5 %; places are among frozen rows.",
    ]
    if trials < version.trials:
        notes.append(
            f"A share: {trials} of {version.trials} trials. What is compared is the first {trials} "
            "trials of the frozen rows; ratios are to the means of all of them."
        )
    for why in dict.fromkeys(refused.values()):
        names = ", ".join(name for name, reason in refused.items() if reason == why)
        notes += ["", f"Not played: {names}: {why}"]
    return notes


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines: words to the left, numbers to the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numbers = [all(cell[:1].isdigit() or not cell for cell in column[1:]) for column in columns]
    return [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        ).rstrip()
        for row in rows
    ]

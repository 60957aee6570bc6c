"""The reliability table's lines, a few of them at counts that take no time (more: benchmarks)."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def reliability(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import reliability as found

    return found


def test_every_line_can_be_named_and_counted(reliability):
    keys = [line.key for line in reliability.LINES]
    assert len(keys) == len(set(keys))
    for line in reliability.LINES:
        full, quick = (reliability.counts_of(line, share) for share in (1, 50))
        assert full == line.counts
        assert all(0 < quick[key] <= full[key] for key in full)
        assert "{" not in line.what.format(**full)


def test_lines_are_run_and_kept(reliability, monkeypatch, tmp_path, capsys):
    command = ["reliability", "--share", "1000", "--only", "clients,tokens", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    assert reliability.main() == 0
    table = (tmp_path / "table.md").read_text()
    assert "| 100 tells counted, 0 lost, 0 errors" in table
    assert "0 otherwise than declared | yes |" in table
    monkeypatch.setattr(sys, "argv", [*command, "--resume"])
    assert reliability.main() == 0
    assert (tmp_path / "table.md").read_text() == table


def quick(row):
    """A line that takes no time and found something."""

    class Line:
        key, promised, least = row, "nothing", 1
        what, counts = "{n} of them", {"n": 2000}

        def needs(self):
            return None

        def run(self, folder, counts):
            return True, f"{row} at {counts['n']}"

    return Line()


def test_a_run_of_some_lines_keeps_the_others(reliability, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reliability, "LINES", [quick("a"), quick("b"), quick("c")])

    def main(*arguments):
        page = ["--page", str(tmp_path / "page.md")]
        monkeypatch.setattr(sys, "argv", ["reliability", "--out", str(tmp_path), *page, *arguments])
        assert reliability.main() == 0
        table = (tmp_path / "table.md").read_text()
        return [row.split(" | ") for row in table.splitlines()[4:]]

    main("--only", "c")
    rows = main("--only", "a", "--share", "10")
    assert [row[0] for row in rows] == ["| a", "| c"]
    assert [row[3] for row in rows] == ["a at 200", "c at 2000"]
    assert [row[-1] for row in rows] == ["fewer |", "full |"]
    page = (tmp_path / "page.md").read_text()
    assert "| a | 200 of them |" in page
    assert page.endswith("Not run yet:\n\n- `b`: 2,000 of them\n")
    main("--only", "b")
    assert "Not run yet" not in (tmp_path / "page.md").read_text()
    assert [row[3] for row in main("--only", "a")] == ["a at 2000", "b at 2000", "c at 2000"]


def test_runs_at_a_share_of_the_counts_are_kept_apart(reliability, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reliability, "LINES", [quick("a")])
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--quick"]):
        monkeypatch.setattr(sys, "argv", ["reliability", *arguments])
        assert reliability.main() == 0
    assert "a at 2000" in Path("results/reliability/table.md").read_text()
    assert "a at 40" in Path("results/reliability-share-50/table.md").read_text()


def test_loads_are_small_here_and_lose_nothing(reliability, monkeypatch, tmp_path, capsys):
    """How fast they are is for the benchmark to say: a machine under test is no measure."""
    lines = ["load", "ask-ossb", "million"]
    if not reliability_lines_postgresql():
        lines.append("load-postgresql")
    command = ["reliability", "--share", "1000", "--only", ",".join(lines), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", command)
    reliability.main()
    table = (tmp_path / "table.md").read_text()
    rows = {row.split("|")[1].strip(): row for row in table.splitlines() if row.startswith("| ")}
    for name in lines:
        assert "Error" not in rows[name], rows[name]
    for name in set(lines) & {"load", "load-postgresql"}:
        assert " 0 errors" in rows[name], rows[name]


def reliability_lines_postgresql():
    from reliability_lines import no_postgresql

    return no_postgresql()


def test_a_line_that_does_not_hold_is_told(reliability, monkeypatch, tmp_path, capsys):
    def fails(folder, counts):
        raise AssertionError("lost 1")

    lines = [reliability.LINES[0]._replace(run=fails)]
    monkeypatch.setattr(reliability, "LINES", lines)
    monkeypatch.setattr(sys, "argv", ["reliability", "--out", str(tmp_path)])
    assert reliability.main() == 1
    assert "AssertionError: lost 1 | **no** |" in (tmp_path / "table.md").read_text()

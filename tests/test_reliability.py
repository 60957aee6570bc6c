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

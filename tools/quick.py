"""The inner loop of a change: style, types, layers, and the nearest tests, in about a minute.

    make quick                   what differs from main, or the last commit where nothing does
    make quick SECONDS_FOR_TESTS=120

Tests are found in the graph of imports: a test file is as near to a change as it takes imports to
reach it, and of those that are equally near the ones that name it come first.  They run until the
time is over; those known to be slow are left to `make test`.  What was left out is said.
"""

import argparse
import ast
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TREES = {
    "src": "src",
    "tests": "tests",
    "tools": "tools",
}  # folder → where its modules' names begin
SECONDS = 30.0
SLOW = 2.0  # seconds that a test took when it last ran here, from which on it is left out


def changed(root: Path = ROOT) -> list[str]:
    """Files that differ from where this branch left main, or those of the last commit."""
    base = _git(root, "merge-base", "HEAD", "main") or ["HEAD"]
    found = _git(root, "diff", "--name-only", base[0])
    found += _git(root, "ls-files", "--others", "--exclude-standard")
    return found or _git(root, "diff", "--name-only", "HEAD~1")


def graph(root: Path = ROOT) -> dict[str, set[str]]:
    """File → files of this repository that it imports, anywhere in it."""
    files = {}
    for folder in TREES:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            files[name] = path.relative_to(root).as_posix()
    return {
        path: {
            files[target]
            for module in imported((root / path).read_text("utf-8"))
            for target in _prefixes(module)
            if target in files
        }
        - {path}
        for path in files.values()
    }


def imported(source: str) -> Iterator[str]:
    """Full names of what a program imports; of ``from a import b`` both a and a.b."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def distances(imports: Mapping[str, set[str]], starts: Iterable[str]) -> dict[str, int]:
    """How many imports lie between each file that reaches one of the starts and the nearest."""
    importers: dict[str, set[str]] = {}
    for path, targets in imports.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        path = waiting.popleft()
        for importer in importers.get(path, ()):
            if importer not in found:
                found[importer] = found[path] + 1
                waiting.append(importer)
    return found


def nearest_tests(files: list[str], root: Path = ROOT) -> list[str]:
    """Test files that reach a change, the nearest first.

    A file that is not a program, such as a page, is reached by the tests that name it.
    """
    far = distances(graph(root), [path for path in files if path.endswith(".py")])
    stems = [re.compile(rf"\b{re.escape(_subject(path))}\b") for path in files]
    others = [Path(path).name for path in files if not path.endswith(".py")]
    ranked = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        name, text = path.relative_to(root).as_posix(), path.read_text("utf-8")
        named = any(other in text for other in others)
        if name not in far and not named:
            continue
        is_own = any(stem.search(path.stem.replace("_", "-")) for stem in stems)
        is_named = named or any(stem.search(text.replace("_", "-")) for stem in stems)
        far_away = 1 if is_own else far.get(name, 2)
        ranked.append((far_away if name not in files else 0, not is_named, name))
    return [name for _, _, name in sorted(ranked)]


class Within:
    """A plugin: stops in time, and leaves out what was slow when it last ran here."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.end = seconds, 0.0  # the end is known when the first test begins
        self.slow = self.late = 0
        self.took: dict[str, float] = {}

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        self.took = config.cache.get("ossb/took", {}) if config.cache else {}
        kept = [item for item in items if self.took.get(item.nodeid, 0.0) < SLOW]
        self.slow = len(items) - len(kept)
        items[:] = kept

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.end = self.end or time.monotonic() + self.seconds
        if time.monotonic() >= self.end:
            self.late += 1
            pytest.skip("the time is over")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.took[report.nodeid] = report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.cache:
            session.config.cache.set("ossb/took", self.took)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the tests")
    seconds = parser.parse_args().seconds
    began = time.monotonic()
    scripts = Path(sys.executable).parent
    for command in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]):
        if subprocess.run([scripts / command[0], *command[1:]], cwd=ROOT, check=False).returncode:
            return 1
    if subprocess.run([scripts / "lint-imports"], cwd=ROOT, capture_output=True).returncode:
        return subprocess.run([scripts / "lint-imports"], cwd=ROOT, check=False).returncode
    files = changed()
    tests = nearest_tests(files)
    print(f"{len(files)} files changed; {len(tests)} test files reach them", flush=True)
    if not tests:
        return 0
    within = Within(seconds)
    code = pytest.main(["-q", "--no-header", "-p", "no:randomly", *tests], plugins=[within])
    print(
        f"{within.late} tests left out as the time was over, {within.slow} as known to be slow; "
        f"{time.monotonic() - began:.0f} s in all"
    )
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else int(code)


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _prefixes(module: str) -> tuple[str, ...]:
    """A name and what it stands in, as ``a.b`` may be a module or a name in one."""
    return module, module.rpartition(".")[0]


def _subject(path: str) -> str:
    """What a file is about, by its name."""
    stem = Path(path).stem
    stem = Path(path).parent.name if stem == "__init__" else stem.removeprefix("test_")
    return stem.replace("_", "-")


if __name__ == "__main__":
    sys.exit(main())

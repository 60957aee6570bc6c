"""Files about the project say what the software says."""

import re
import tomllib

import yaml

from docs_pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_citation_file():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == PROJECT["version"]
    assert cited["license"] == PROJECT["license"]
    assert cited["authors"] == PROJECT["authors"]
    assert cited["references"][0]["year"] == 2017


def test_pre_commit_runs_what_the_checks_run():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert [hook["entry"] for hook in repository["hooks"]] == ["make check"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test: check$", makefile, re.MULTILINE)
    steps = (ROOT / ".ci" / "run").read_text("utf-8")
    made = re.findall(r"^make ([\w-]+)$", steps, re.MULTILINE)
    assert made == ["check", "coverage", "uncovered", "release-check"]
    assert "\nset -euo pipefail\n" in steps  # a step that fails ends it


def test_every_link_between_files_leads_somewhere():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
            if not re.match(r"https?://|#|mailto:", target):
                assert (path.parent / target.partition("#")[0]).exists(), f"{path}: {target}"

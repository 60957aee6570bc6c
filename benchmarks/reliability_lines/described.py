"""Schemathesis over the service's own description: an adversary that reads the OpenAPI document.

It is no dependency of this project: ``pip install schemathesis`` anywhere, and have its command
``st`` on the path, or its own path in ``OSSB_SCHEMATHESIS``.
"""

import json
import os
import shutil
import subprocess

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
)
PER_TURN = 150  # cases of each operation in one turn
OPERATIONS = 21


def command():
    return os.environ.get("OSSB_SCHEMATHESIS") or shutil.which("st")


def missing():
    return None if command() else "schemathesis is not installed (pip install schemathesis)"


def attack(url, token, cases, folder):
    """Run it until so many cases were tried: how many, of what, and what it found."""
    done, operations, failures, seed = 0, 0, [], 1
    while done < cases and not failures:
        wanted = max(3, min(PER_TURN, (cases - done) // OPERATIONS))
        found = turn(url, token, wanted, seed, folder / f"turn{seed}.ndjson")
        done, operations, seed = done + found["cases"], found["operations"], seed + 1
        failures += found["failures"]
    return {"cases": done, "operations": operations, "failures": failures}


def turn(url, token, examples, seed, report):
    options = ["--checks", ",".join(CHECKS), "--max-examples", str(examples), "--seed", str(seed)]
    options += ["--phases", "examples,coverage,fuzzing", "--report", "ndjson"]
    options += ["--report-ndjson-path", str(report), "--generation-database", "none"]
    options += ["--exclude-path-regex", "/events$", "--no-color", "--request-timeout", "20"]
    options += ["--continue-on-failure", "-H", f"Authorization: Bearer {token}"]
    run = [command(), "run", f"{url}/openapi.json", *options]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=report.parent)
    if not report.exists():
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    found = read(report)
    if done.returncode and not found["failures"]:
        found["failures"].append(f"exit code {done.returncode}: {done.stdout[-300:]}")
    return found


def read(report):
    """What a run tried, and which checks failed on what."""
    cases, operations, failures = 0, 0, set()
    for line in report.read_text(encoding="utf-8").splitlines():
        ((kind, event),) = json.loads(line).items()
        if kind == "LoadingFinished":
            operations = event["statistic"]["operations"]["selected"]
        if kind == "ScenarioFinished":
            recorder = event["recorder"]
            cases += len(recorder.get("cases", ()))
            for checks in recorder.get("checks", {}).values():
                failed = (check["name"] for check in checks if check["status"] != "success")
                failures.update(f"{recorder['label']}: {name}" for name in failed)
    return {"cases": cases, "operations": operations, "failures": sorted(failures)}

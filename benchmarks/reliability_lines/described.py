"""Schemathesis over the service's own description: an adversary that reads the OpenAPI document.

Half of its cases are made from the document as it is served, and hit campaigns only where they take
its examples; for the other half paths name campaigns that there are, tells decisions that were
made, and creations instances that can be played, among whatever else fits the document.

It is no dependency of this project: ``pip install schemathesis`` anywhere, and have its command
``st`` on the path, or its own path in ``OSSB_SCHEMATHESIS``.
"""

import json
import os
import shutil
import subprocess
import urllib.request

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
OPERATIONS = 22
ONE_FEATURE = {"structure": "linear", "sigma": 1.0, "arms": [[1.0], [0.5], [-0.5]]}
OF_TWO = {"observation": "bernoulli", "observes": "reward", "link": "logistic"}
INSTANCES = {
    "headlines": {"structure": "classical", "observation": "bernoulli", "n_arms": 3},
    "prices": ONE_FEATURE,
    "clicks": {"structure": "generalized_linear", "arms": [[1.0, 0.0], [0.0, 1.0]], **OF_TWO},
    "visitors": {
        "structure": "linear",
        "sigma": 1.0,
        "contexts": [{"arms": [[1.0], [0.5]]}, {"arms": [[0.2], [0.7], [1.0]]}],
    },
    "shops": {
        "structure": "classical",
        "observation": "bernoulli",
        "segments": [{"n_arms": 2}, {"n_arms": 3}],
    },
    "duels": {"structure": "dueling", "n_items": 3},
    "spare": ONE_FEATURE,
}


def command():
    return os.environ.get("OSSB_SCHEMATHESIS") or shutil.which("st")


def missing():
    return None if command() else "schemathesis is not installed (pip install schemathesis)"


def aimed(document, ids):
    """The document, by which half of what is sent hits something."""
    found = json.loads(json.dumps(document))
    for path, calls in found["paths"].items():
        names = ["spare"] if path.endswith("/close") else list(INSTANCES)
        for call in calls.values():
            for parameter in call.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["schema"] = {"enum": names}
    known = {"anyOf": [{"enum": ids}, {"type": "string"}]}
    for rest in ("tell", "void"):
        body = _body(found, f"/v1/campaigns/{{name}}/{rest}")
        for one in body.get("oneOf", [body]):
            inner = one["properties"].get("tells", {}).get("items", one)
            inner["properties"]["id"] = known
    played = {"anyOf": [{"enum": list(INSTANCES.values())}, {"type": "object"}]}
    _body(found, "/v1/campaigns")["properties"]["instance"] = played
    return found


def _body(document, path):
    return document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]


def attack(url, token, cases, folder, ids):
    """Run it until so many cases were tried: how many, of what, and what it found."""
    done, operations, failures, seed = 0, 0, [], 1
    document = f"{url}/openapi.json"
    file = folder / "aimed.json"
    with urllib.request.urlopen(document) as served:
        file.write_text(json.dumps(aimed(json.load(served), ids)))
    while done < cases and not failures:
        wanted = max(3, min(PER_TURN, (cases - done) // (2 * OPERATIONS)))
        for source in (str(file), document):  # who reads the document alone closes campaigns soon
            report = folder / f"turn{seed}.ndjson"
            found = turn(source, url, token, wanted, seed, report)
            done, seed = done + found["cases"], seed + 1
            operations = max(operations, found["operations"])
            failures += found["failures"]
    return {"cases": done, "operations": operations, "failures": failures}


def turn(source, url, token, examples, seed, report):
    options = ["--checks", ",".join(CHECKS), "--max-examples", str(examples), "--seed", str(seed)]
    options += ["--phases", "examples,coverage,fuzzing", "--report", "ndjson"]
    options += ["--report-ndjson-path", str(report), "--generation-database", "none"]
    options += ["--exclude-path-regex", "/events$", "--no-color", "--request-timeout", "20"]
    options += ["--continue-on-failure", "-H", f"Authorization: Bearer {token}"]
    run = [command(), "run", source, "--url", url, *options]
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

"""Reference values, kept beside the checkout; tests that need them are skipped without."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "golden"


def golden(*structures):
    """Parameters (instance, expected) of the reference list, for ``pytest.mark.parametrize``."""
    found = []
    for name in ("graves_lai.json", "known_values.json"):
        if not (FOLDER / name).exists():
            reason = f"reference values are not at {FOLDER}"
            return [pytest.param(None, None, marks=pytest.mark.skip(reason=reason))]
        for case in json.loads((FOLDER / name).read_text()):
            if case["instance"]["structure"] in structures:
                found.append(pytest.param(case["instance"], case["expected"], id=case["name"]))
    return found

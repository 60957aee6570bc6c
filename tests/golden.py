"""Reference values, kept beside the checkout and never copied into it.

``OSSB_GOLDEN`` names another folder; tests that need the values are skipped without one.
"""

import json
import os
from pathlib import Path

import pytest

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "golden"
FOLDER = Path(os.environ.get("OSSB_GOLDEN", DEFAULT))
FILES = ("graves_lai.json", "known_values.json", "dueling_public.json")
ABSENT = f"reference values are not at {FOLDER}; OSSB_GOLDEN names their folder"


def cases(*structures):
    """Every reference case by name, or those of some structures."""
    found = {}
    for name in FILES:
        for case in json.loads((FOLDER / name).read_text(encoding="utf-8")):
            if not structures or case["instance"]["structure"] in structures:
                assert case["name"] not in found
                found[case["name"]] = case
    return found


def parameters(*structures):
    """(instance, expected) for ``pytest.mark.parametrize``; one skipped entry without a folder."""
    if not all((FOLDER / name).is_file() for name in FILES):
        return [pytest.param(None, None, marks=pytest.mark.skip(reason=ABSENT), id="absent")]
    return [
        pytest.param(case["instance"], case["expected"], id=name)
        for name, case in cases(*structures).items()
    ]

"""Reference values: by an independent slow solver, with a proof, or of public data."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "golden_data"
FILES = ("graves_lai.json", "known_values.json", "dueling_public.json")


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
    """(instance, expected) for ``pytest.mark.parametrize``."""
    return [
        pytest.param(case["instance"], case["expected"], id=name)
        for name, case in cases(*structures).items()
    ]

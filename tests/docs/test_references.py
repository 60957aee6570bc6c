"""The page of references names sources as the policies do."""

import re

import pytest

from docs_pages import ROOT
from ossb.policies import POLICIES

ENTRIES = re.split(r"\n(?=- )", (ROOT / "docs" / "references.md").read_text("utf-8"))
NAMED = [
    (name.partition(":")[0], entry)
    for entry in ENTRIES[1:]
    for name in re.findall(r"`([^`]+)`", entry)
]


@pytest.mark.parametrize(("name", "entry"), NAMED, ids=[name for name, _ in NAMED])
def test_a_policy_cites_what_the_page_says(name, entry):
    authors, years = entry.partition("(")[0], re.findall(r"\((\d{4})\)", entry)
    first = re.search(r"[\w-]+$", authors.split(", ")[0].strip())[0]
    source = POLICIES[name].reference
    assert first in source
    assert any(f"({year})" in source for year in years)


def test_all_policies_of_the_field_are_on_the_page():
    assert len({name for name, _ in NAMED}) >= 30

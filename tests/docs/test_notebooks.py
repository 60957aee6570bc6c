"""Every notebook of the documentation does what it shows."""

import json

import pytest

from docs_notebooks import NOTEBOOKS, cells, run, shown
from docs_pages import same


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(notebook, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "notebook"}
    for cell in cells(notebook):
        printed = run("".join(cell["source"]), names)
        assert same(shown(cell), printed), f"{printed!r} where {shown(cell)!r} is shown"


def test_notebooks_keep_text_alone():
    """No pictures, no counts of executions, no names of machines."""
    assert {path.stem for path in NOTEBOOKS} == {"analyst", "operator", "researcher"}
    for notebook in NOTEBOOKS:
        whole = json.loads(notebook.read_text("utf-8"))
        assert whole["metadata"]["kernelspec"]["name"] == "python3"
        for cell in cells(notebook):
            assert cell["execution_count"] is None
            assert all(output["output_type"] == "stream" for output in cell["outputs"])

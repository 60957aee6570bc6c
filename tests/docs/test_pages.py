"""Every page of the documentation does what it shows."""

import pytest

import postgresql_server
from cli_runner import Runner
from docs_pages import ROOT, Walk, blocks, same

RUN = {"python", "console"}
CONTRIBUTING = "docs/contributing/"  # followed in a copy of the source tree, in a test of its own
PAGES = [
    page
    for page in sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    if any(block.language in RUN for block in blocks(page)) and not page.startswith(CONTRIBUTING)
]
KNOWN = {"python", "console", "toml", "json", "csv", "text", "diff", "bibtex", ""}
OTHERS = {"nginx", "caddyfile", "ini", "sql"}  # see test_configuration.py


@pytest.fixture(scope="module")
def database():
    """Where the pages' PostgreSQL is; a file where there is no server to try it on."""
    if postgresql_server.binaries() is None:
        yield "sqlite:///shared.db"
        return
    server = postgresql_server.Server()
    server.start()
    yield server.url
    server.stop()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(page, tmp_path, monkeypatch, capsys, database):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    swaps = {"postgresql://ossb@localhost/ossb": database}
    with Walk(page, tmp_path, Runner(monkeypatch, capsys), capsys, swaps) as walk:
        walk.run()


def test_every_block_is_of_a_language_that_something_checks():
    for path in (ROOT / "docs").rglob("*.md"):
        for block in blocks(str(path.relative_to(ROOT))):
            where = f"{path}, line {block.line}"
            assert block.language in KNOWN | OTHERS, where
            assert block.language not in OTHERS or block.title, where


def test_what_is_shown_must_be_what_was_printed():
    assert same("a  b\nc", "a b c\n")
    assert same("value … certified", "value 3.1 of 4 certified")
    assert not same("value 3.1", "value 3.2")
    assert not same("value", "value 3.2")
    assert not same("value 3.1\nother 2", "other 2\nvalue 3.1")

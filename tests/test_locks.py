"""One lock for all links to a file."""

from ossb.locks import lock_of


def test_every_link_has_the_lock_beside_the_file(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "folder")
    (tmp_path / "link").symlink_to(tmp_path / "way" / "file")
    monkeypatch.chdir(tmp_path)
    beside = str(tmp_path.resolve() / "folder" / "file.lock")
    for path in ("folder/file", tmp_path / "way" / "file", "link", "./way/../link"):
        assert lock_of(path) == beside


def test_a_link_that_goes_round_in_circles_has_a_lock_too(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    assert lock_of(tmp_path / "link").endswith(".lock")

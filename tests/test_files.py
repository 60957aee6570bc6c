"""Files written whole or not at all."""

import os

import pytest

from ossb.files import replacing


def test_a_new_file_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "keep.csv"
    path.write_text("precious")
    path.chmod(0o640)
    with replacing(path) as aside:
        assert aside.suffix == ".csv"
        aside.write_text("new")
        assert path.read_text() == "precious"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["keep.csv"]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "keep.csv"
    path.write_text("precious")
    with pytest.raises(UnicodeEncodeError), replacing(path) as aside:
        aside.write_text("half é", encoding="ascii")
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["keep.csv"]


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "none" / "keep.csv"
    with pytest.raises(FileNotFoundError) as caught, replacing(path) as aside:
        aside.write_text("new")
    assert caught.value.filename == str(path)


def test_links_and_devices_stay_what_they_are(tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    with replacing(link) as aside:
        aside.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    with replacing("/dev/null") as device:
        device.write_text("nothing")
    assert not os.path.isfile("/dev/null")

"""Pictures: any number of arms, any name, the same bytes every time."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest

from ossb.errors import InputError
from ossb.figures import draw_rates
from ossb.figures.canvas import save
from ossb.figures.rates import SHOWN
from ossb.structures import bound
from ossb.structures.classical import Classical


def drawn(folder, bounds, name="rates.svg"):
    path = folder / name
    draw_rates(bounds, str(path))
    return path.read_text(encoding="utf-8") if name.endswith("svg") else path.read_bytes()


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_bound_gives_the_same_bytes(suffix, tmp_path):
    answer = bound(Classical(theta=[1.0, 0.5, 0.2]))
    first = drawn(tmp_path, [answer], f"a.{suffix}")
    assert first == drawn(tmp_path, [answer], f"b.{suffix}")


def test_no_arm_one_arm_and_many(tmp_path):
    for theta in ([1.0], [1.0, 0.5], [1.0, *np.linspace(0.0, 0.9, SHOWN + 10)]):
        answer = bound(Classical(theta=theta))
        assert len(drawn(tmp_path, [answer])) > 1000
    assert "48 more instances" in drawn(tmp_path, [bound(Classical(theta=[1.0, 0.5]))] * 60)


def test_names_of_any_kind(tmp_path):
    names = ["a$b$c_^{", "x" * 300, "<b>&amp;", "two\nlines"]
    answer = bound(Classical(theta=[1.0, 0.5, 0.2, 0.1], arm_names=names, name="$\\frac$ " * 40))
    assert len(drawn(tmp_path, [answer])) > 1000


def test_the_backend_of_a_session_stays(tmp_path):
    before = dict.__getitem__(matplotlib.rcParams, "backend")
    drawn(tmp_path, [bound(Classical(theta=[1.0, 0.5]))])
    assert dict.__getitem__(matplotlib.rcParams, "backend") is before


def test_formats_are_known_by_the_name(tmp_path):
    with pytest.raises(InputError, match=r"`plot` must end in one of \.png, \.pdf, \.svg, got "):
        draw_rates([bound(Classical(theta=[1.0, 0.5]))], str(tmp_path / "rates.gif"))
    with pytest.raises(InputError, match="`plot` must be a writable file"):
        draw_rates([bound(Classical(theta=[1.0, 0.5]))], str(tmp_path / "no" / "rates.png"))


def test_a_picture_that_fails_leaves_what_was_there(tmp_path):
    class Half:
        def savefig(self, path, **_):
            Path(path).write_text("half")
            raise OSError(28, "No space left on device", str(path))

    keep = tmp_path / "keep.png"
    keep.write_text("precious")
    with pytest.raises(InputError, match=r"No space left.*keep\.png"):
        save(Half(), keep)
    assert keep.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [keep]

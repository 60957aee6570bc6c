"""What is installed: the wheel, as the build backend makes it; and the source distribution."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (found,) = folder.glob("ossb-*.whl")
    with zipfile.ZipFile(found) as archive:
        yield archive


def test_it_holds_the_package_whole(wheel):
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "ossb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == wanted
    assert "ossb/py.typed" in held  # so that type checkers read our annotations


def test_its_metadata_names_the_command_and_the_extras(wheel):
    read = {name.rpartition("/")[2]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "ossb = ossb.cli:main" in wheel.read(read["entry_points.txt"]).decode()
    metadata = wheel.read(read["METADATA"]).decode()
    for extra in ("gymnasium", "river", "frames", "convex", "cluster", "service"):
        assert f"Provides-Extra: {extra}" in metadata
    assert "Classifier: Typing :: Typed" in metadata


def test_the_source_distribution_holds_what_its_tests_read(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=ROOT)
    (found,) = tmp_path.glob("ossb-*.tar.gz")
    with tarfile.open(found) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    wanted = ("Makefile", "constraints.txt", "CITATION.cff", "mkdocs.yml", "tools/release_check.py")
    assert {*wanted, ".pre-commit-config.yaml", ".ci/run", "tests/test_wheel.py"} <= held


def test_the_client_alone_is_small_and_is_the_one_of_the_package(tmp_path):
    for kind in ("sdist", "wheel"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT / "client", capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
    (found,) = tmp_path.glob("ossb_client-*.whl")
    assert found.stat().st_size < 100_000
    with zipfile.ZipFile(found) as archive:
        for name in ("client.py", "served.py", "errors.py", "pairs.py", "words.py"):
            assert archive.read(f"ossb_client/{name}") == (ROOT / "src/ossb" / name).read_bytes()
        (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        assert b"Requires-Dist" not in archive.read(metadata)
    (source,) = tmp_path.glob("ossb_client-*.tar.gz")
    with tarfile.open(source) as archive:
        assert any(name.endswith("ossb_client/client.py") for name in archive.getnames())
    # with neither this checkout nor any other package in sight
    program = (
        f"import sys; sys.path.insert(0, {str(found)!r}); import ossb_client as found; "
        "assert not {'ossb', 'numpy'} & set(sys.modules); found.Client('http://127.0.0.1:1')"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, timeout=60)


def test_both_packages_have_one_version():
    versions = [
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
        for folder in (ROOT, ROOT / "client")
    ]
    assert len(set(versions)) == 1

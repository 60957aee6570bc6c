"""Build the packages, install them in clean environments, and run the quick start outside the tree.

The quick start is the README's: its ``pip`` commands, its Python programs, and its ``ossb``
commands, with the files it shows.  Nothing of this checkout can be imported there.  The client's
own package is tried against a service of the other, from an environment that has nothing else.
"""

import os
import re
import shlex
import socket
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WANTED = ("ossb/py.typed", "ossb/experiments/bundled/figure1.toml", "ossb/service/page/")
CLIENT = "ossb_client-"
MOST_OF_CLIENT = 100_000  # bytes
MOST_OF_CORE = 400_000_000  # of an environment with what is installed without extras
USED = """
from ossb_client import Client, Told, Unknown

with Client("URL") as client:
    for id_, value, expected in ((decision.id, 0, Told), ("7-x", 1, Unknown)):
        try:
            client.tell("headlines", id_, value)
        except expected:
            continue
        raise SystemExit(f"no {expected.__name__}")
"""
CORE = """
import ossb

arms = ossb.Classical(observation="bernoulli", theta=[0.2, 0.5])
assert ossb.bound(arms).status == "certified"
assert ossb.simulate(arms, ["hgl"], horizon=50, trials=2, seed=1, compiled=False).policies
campaign = ossb.Campaign.open("memory://", "core", instance={**arms.to_dict(), "note": "core"})
(decision,) = campaign.ask()
campaign.tell(decision.id, 1)
"""
SHIPPED = ("LICENSE", "README.md", "CHANGELOG.md", "tests/conftest.py", ".ci/run")


def blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(program: str) -> list[list[str]]:
    """The README's commands that begin with a program's name, in words."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    found = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    return [words for words in found if words[0] == program]


def run(command: list[str | Path], folder: Path) -> None:
    """Run a command with nothing of this checkout in sight; its failure is ours."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    shown = " ".join(str(word).split("\n")[0] for word in command[1:])
    print(f"  {Path(command[0]).name} {shown}", flush=True)
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
    if done.returncode:
        sys.exit(f"failed: {shown}\n{done.stdout.decode()}\n{done.stderr.decode()}")


def built(folder: Path) -> Path:
    """The wheel, built from the source distribution, with what has to be in each."""
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT], folder)
    (wheel,) = folder.glob("ossb-*.whl")
    (source,) = folder.glob("ossb-*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    for wanted in WANTED:
        if not any(name.startswith(wanted) for name in inside):
            sys.exit(f"{wanted} is missing in {wheel.name}")
    if any(name.startswith("tests") or name.endswith((".nbi", ".nbc")) for name in inside):
        sys.exit(f"{wheel.name} holds what is not for users")
    with tarfile.open(source) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    for wanted in SHIPPED:
        if wanted not in names:
            sys.exit(f"{wanted} is missing in {source.name}")
    return wheel


def client_built(folder: Path) -> Path:
    """The client's wheel: small, and with no requirements."""
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT / "client"], folder)
    (wheel,) = folder.glob(f"{CLIENT}*.whl")
    if wheel.stat().st_size >= MOST_OF_CLIENT:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size} bytes")
    inside = zipfile.ZipFile(wheel)
    (about,) = [name for name in inside.namelist() if name.endswith("METADATA")]
    if b"Requires-Dist" in inside.read(about):
        sys.exit(f"{wheel.name} needs other packages")
    print(f"  {wheel.name}: {wheel.stat().st_size} bytes")
    return wheel


def try_client(wheel: Path, service: Path, folder: Path) -> None:
    """Run the client's README against a service, from an environment with nothing else."""
    venv.create(folder / "empty", with_pip=True)
    programs = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
    run([programs / "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store = f"sqlite:///{folder / 'client.db'}"
    command = [service, "serve", "--storage", store, "--port", str(port), "--log-level", "warning"]
    server = subprocess.Popen(command, cwd=folder)
    try:
        text = (ROOT / "client/README.md").read_text("utf-8")
        (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        url = f"http://127.0.0.1:{port}"
        whole = (program + USED).replace("http://127.0.0.1:8090", url).replace("URL", url)
        run([programs / "python", "-I", "-W", "error", "-c", whole], folder)
    finally:
        server.terminate()
        server.wait(30)


def try_core(programs: Path, folder: Path) -> None:
    """What is installed without extras is small, works, and names what is missing."""
    size = sum(path.lstat().st_size for path in programs.parent.rglob("*"))
    print(f"  without extras: {size / 1e6:.0f} MB")
    if size > MOST_OF_CORE:
        sys.exit(f"an environment without extras has {size} bytes")
    run([programs / "python", "-I", "-W", "error", "-c", CORE], folder)
    for words, extra in ((("run", "figure1"), "experiments"), (("serve",), "service")):
        done = subprocess.run(
            [programs / "ossb", *words], cwd=folder, check=False, capture_output=True, text=True
        )
        if done.returncode != 2 or f'pip install "ossb[{extra}]"' not in done.stderr:
            sys.exit(f"ossb {' '.join(words)} without extras: {done.returncode}, {done.stderr}")


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        print("building")
        wheel = built(folder)
        print("installing in a clean environment")
        venv.create(folder / "clean", with_pip=True)
        programs = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
        pinned = ["--quiet", "--constraint", ROOT / "constraints.txt"]
        for count, words in enumerate(commands("pip")):
            wanted = [re.sub(r"^\.", str(wheel), word) for word in words[2:]]
            run([programs / "pip", "install", *pinned, *wanted], folder)
            if count == 0:
                try_core(programs, folder)
        print("the quick start")
        work = folder / "work"
        work.mkdir()
        for block in blocks("toml"):
            name = block.splitlines()[0].removeprefix("# ")
            (work / name).write_text(block, "utf-8")
        home = "import ossb, pathlib; print(pathlib.Path(ossb.__file__))"
        where = subprocess.run(
            [programs / "python", "-c", home], cwd=work, check=True, capture_output=True, text=True
        ).stdout
        if str(folder / "clean") not in where:
            sys.exit(f"ossb was imported from {where}")
        for program in blocks("python"):
            run([programs / "python", "-c", program], work)
        for words in commands("ossb"):
            run([programs / "ossb", *words[1:]], work)
        run([programs / "ossb", "doctor"], work)
        print("the client by itself")
        try_client(client_built(folder), programs / "ossb", folder)
    print("the package is fit to be released")


if __name__ == "__main__":
    main()

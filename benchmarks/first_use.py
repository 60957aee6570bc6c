"""The first bound, simulation and campaign on a machine that has nothing cached.

    python benchmarks/first_use.py [--quick]

An environment is made for this, with what `pip install ossb` brings and no extras.  Every
program is a process of its own that begins with the import: `first` has no compiled code to load,
and `again` is the same program once more.  `s` are seconds by the clock, `cpu` of processor
time, compiling included, which is most of a first simulation; a bound and a campaign compile
nothing.  The three policies are those of the README's first lines.  `MB` is the environment on
disk, with pip, and `load` how many processes the machine had at work at the end, in the last
minute: with more than there are cores, seconds by the clock are as many times too long.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARMS = "instance = ossb.Unimodal(observation='bernoulli', theta=[.05, .1, .2, .35, .5, .4, .25])"
PLAYED = "ossb.simulate(instance, {policies}, horizon=2000, trials=100, seed=1)"
PROGRAMS = {
    "import ossb": "",
    "a bound, unimodal": f"{ARMS}; ossb.bound(instance)",
    "a bound, linear": "ossb.bound(ossb.Linear(arms=[[1, 0], [0, 1], [.9, .2]], phi=[1, 0]))",
    "a campaign, one decision": (
        "arms = ossb.Classical(observation='bernoulli', n_arms=3)\n"
        "with ossb.Campaign.open('sqlite:///campaign.db', 'c', instance=arms, seed=1) as found:\n"
        "    found.tell(found.ask()[0].id, 1)"
    ),
    "a simulation of ucb1": f"{ARMS}; {PLAYED.format(policies=['ucb1'])}",
    "a simulation of hgl": f"{ARMS}; {PLAYED.format(policies=['hgl'])}",
    "hgl, thompson and ucb1": f"{ARMS}; {PLAYED.format(policies=['hgl', 'thompson', 'ucb1'])}",
}
QUICK = ("import ossb", "a bound, linear", "a campaign, one decision")


def installed(folder):
    """The interpreter of a new environment without extras, and its megabytes."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pinned = ["--quiet", "--constraint", ROOT / "constraints.txt"]
    subprocess.run([python, "-m", "pip", "install", *pinned, ROOT], check=True)
    return python, sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def taken(python, program, cache):
    """Seconds by the clock and of processor time of a program in an empty folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        process = subprocess.Popen(
            [python, "-I", "-c", f"import ossb\n{program}"], cwd=folder, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        passed = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {program}")
    return passed, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without simulations")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as made:
        python, size = installed(Path(made) / "environment")
        print(f"{size:.0f} MB\n")
        print(f"{'':26}  first s     cpu  again s     cpu")
        for name in QUICK if quick else PROGRAMS:
            cache = Path(made) / name.replace(" ", "-")
            first, again = (taken(python, PROGRAMS[name], cache) for _ in range(2))
            times = "  ".join(f"{clock:7.2f}  {cpu:6.2f}" for clock, cpu in (first, again))
            print(f"{name:26}  {times}", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

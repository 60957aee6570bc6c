"""How long kernels take to compile: ``python benchmarks/compilation.py``.

Every kernel that is compiled on its own, from an empty cache, in CPU seconds of a process that
does nothing else; what it calls and is compiled on its own is counted there, not here.
"""

import argparse
import os
import subprocess
import sys
import tempfile

STRUCTURES = ("linear", "semi-bandit", "generalised linear", "lipschitz", "classical", "unimodal")

CHILD = """
import sys, time
import numpy as np
import ossb
from ossb import _numba
from ossb.policies import policy
from ossb.simulation.simulate import run
from ossb.simulation.environment import environment_of

inner, found, compile_one = [0.0], [], _numba._compile

def timed(dispatcher, separate, signature):
    inner.append(0.0)
    begun = time.process_time()
    entry = compile_one(dispatcher, separate, signature)
    whole = time.process_time() - begun
    own = whole - inner.pop()
    inner[-1] += whole
    if own > 0.05:
        found.append((own, dispatcher.py_func.__module__, dispatcher.py_func.__name__))
    return entry

_numba._compile = timed
rng = np.random.default_rng(0)
arms = rng.normal(size=(81, 3))
few = rng.normal(size=(30, 3))
instances = {
    "linear": lambda: ossb.Linear(arms=arms, phi=[0.3, 0.2, 0.4]),
    "semi-bandit": lambda: ossb.Combinatorial(
        arms=[[1 * (e in (i, j, k)) for e in range(6)]
              for i in range(6) for j in range(i) for k in range(j)],
        phi=[0.1, 0.2, 0.3, 0.5, 0.6, 0.7], feedback="semi_bandit", observation="gaussian"),
    "generalised linear": lambda: ossb.GeneralizedLinear(
        arms=few, phi=[0.5, -0.2, 0.4], link="logistic", observes="reward",
        observation="bernoulli"),
    "lipschitz": lambda: ossb.Lipschitz(
        points=np.linspace(0, 1, 20)[:, None], theta=0.8 - 0.5 * abs(np.linspace(0, 1, 20) - 0.4),
        lipschitz_constant=1.0, observation="bernoulli"),
    "classical": lambda: ossb.Classical(theta=[0.3, 0.5, 0.8], observation="bernoulli"),
    "unimodal": lambda: ossb.Unimodal(theta=[0.3, 0.5, 0.8, 0.4], observation="bernoulli"),
}
instance = instances[sys.argv[1]]()
streams = np.random.default_rng(1), np.random.default_rng(2)
run(policy("ossb", instance), environment_of(instance), np.array([2]), *streams)
for own, module, name in sorted(found, reverse=True):
    print(f"{own:7.1f} s  {module}.{name}")
print(f"{inner[0]:7.1f} s  all of it")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="linear only")
    options = parser.parse_args()
    for name in STRUCTURES[:1] if options.quick else STRUCTURES:
        print(f"\n`ossb` on {name} arms", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.run([sys.executable, "-c", CHILD, name], env=environment, check=True)


if __name__ == "__main__":
    main()

"""Rates held while their certified gap is below κ, beside rates solved for in every round.

    python benchmarks/kappa.py [--quick] [--only NAME] [--kappa 0.001]

Mean regret of ``ossb-paper`` (with the bare means and with the projected estimate) and ``ossb``
with κ and with κ = 0, on one instance of each structure; both see the same noise, and the
difference is in standard errors of the paired trials.  Where the rates have a closed form κ
changes nothing, and the difference is 0.
"""

import argparse
import math

import numpy as np

from ossb.simulation import simulate
from slope import INTERPRETED, cases

POLICIES = ("ossb-paper", "ossb-paper:estimate=projected", "ossb")
COMPILED = (10_000, 200)  # rounds, trials
GENERAL = (300, 10)  # of polytopes and unions, which are interpreted


def paired(instance, policy, kappa, horizon, trials):
    """Regret of every trial with κ and without, in one order of the same noise."""
    joint = "," if ":" in policy else ":"
    return [
        simulate(instance, [f"{policy}{joint}kappa={value}"], horizon, trials, seed=3)
        .policies[0]
        .regret
        for value in (kappa, 0.0)
    ]


def difference(held, solved):
    """Mean of the paired differences, and its standard error."""
    each = held - solved
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(each.size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds and trials")
    parser.add_argument("--only", help="one structure")
    parser.add_argument("--kappa", type=float, default=1e-3)
    options = parser.parse_args()
    print(f"{'structure':18} {'policy':30} {'κ':>9} {'0':>9} {'difference':>16}  within 2 s.e.")
    for name, case in cases().items():
        if options.only and options.only != name:
            continue
        horizon, trials = GENERAL if case.runs is INTERPRETED else COMPILED
        if options.quick:
            horizon, trials = max(horizon // 10, 100), max(trials // 10, 4)
        for policy in POLICIES:
            held, solved = paired(case.instance, policy, options.kappa, horizon, trials)
            mean, error = difference(held, solved)
            inside = "yes" if abs(mean) <= 2 * error or not np.any(held != solved) else "NO"
            print(
                f"{name:18} {policy:30} {held.mean():9.2f} {solved.mean():9.2f} "
                f"{mean:8.3f} ± {error:5.3f}  {inside}",
                flush=True,
            )


if __name__ == "__main__":
    main()

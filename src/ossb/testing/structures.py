"""Contracts of structures: what bounds, certificates, files and policies rely on.

Each is a function of an instance with its true parameter.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ossb.campaigns.rosters import restricted
from ossb.errors import InputError
from ossb.policies import POLICIES
from ossb.structures.base import Instance, bound
from ossb.tally import empty_tally, observe
from ossb.testing.checks import Check
from ossb.testing.policies import fits_or_refuses

SAME = 2.1e-6  # two values of one quantity, each certified to a relative gap of 10⁻⁶


def structure_checks(instances: Mapping[str, Instance]) -> list[Check]:
    """All contracts of structures on some instances of one, each with its true parameter.

    With pytest, this is all that a package needs to test a structure of its own::

        @pytest.mark.parametrize("check", structure_checks({"three arms": Mine(...)}), ids=str)
        def test_my_structure_keeps_the_contracts(check):
            check()
    """
    return [
        Check(contract, name, (instance,))
        for name, instance in instances.items()
        for contract in CONTRACTS
    ]


def files_hold_all(instance: Any) -> None:
    """``to_dict`` is plain data, and from it the same instance is made, the parameter included."""
    written = json.loads(json.dumps(instance.to_dict(), allow_nan=False))
    again = _from(instance, written)
    assert again.known, f"the parameter `{instance.parameter}` is lost in {written}"
    assert again.to_dict() == instance.to_dict(), f"{again.to_dict()} is not {instance.to_dict()}"
    if instance.n_arms is not None:
        assert np.array_equal(again.gaps, instance.gaps), "the gaps are others after a file"


def unknown_keys_are_refused(instance: Any) -> None:
    """A misspelt key, or a family that does not fit, is an ``InputError``, not left unread."""
    content = instance.to_dict()
    for wrong in ({"no_such_key": 1}, {"observation": "cauchy"}):
        try:
            _from(instance, {**content, **wrong})
        except InputError:
            continue
        raise AssertionError(f"{wrong} is not refused")


def bounds_are_certified(instance: Any) -> None:
    """The bound is finite, certified to 10⁻⁶, and what its rates cost; its proof is valid."""
    answer = bound(instance)
    assert math.isfinite(answer.lower), f"the lower side is {answer.lower}"
    assert math.isfinite(answer.upper), f"the upper side is {answer.upper}"
    assert answer.lower <= answer.upper, f"{answer.lower} > {answer.upper}"
    if instance.may_certify:
        assert answer.status == "certified", answer.status
        assert answer.gap <= 1e-6, f"the sides are {answer.gap:.1e} apart"
    for arm, rate in answer.support:
        assert 0.0 < rate < math.inf, f"arm {arm} has the rate {rate}"
        assert arm != answer.best_arm, f"the best arm, {arm}, has a rate"
    cost = math.fsum(rate * instance.gap_of(arm) for arm, rate in answer.support)
    near = math.isclose(answer.value, cost, rel_tol=1e-9, abs_tol=1e-300)
    assert near, f"the value is {answer.value}, and its rates cost {cost}"
    report = answer.verify()
    assert report.valid, f"the proof is refused: {report.problems}"


def false_bounds_are_refused(instance: Any) -> None:
    """A proof of one interval is none of a smaller one, on either side."""
    answer = bound(instance)
    step = 1e-3 * answer.value if answer.value > 0.0 else 1e-3
    higher = replace(answer, lower=answer.lower + step, upper=answer.upper + step)
    assert not higher.verify().valid, f"a lower side of {higher.lower} is taken for proved"
    if answer.support:
        fewer = [(arm, 0.99 * rate) for arm, rate in answer.support]
        cheaper = replace(
            answer, lower=0.99 * answer.lower, upper=0.99 * answer.upper, support=fewer
        )
        assert not cheaper.verify().valid, "rates that are too small are taken for enough"


def variances_scale_bounds(instance: Any) -> None:
    """With three times the σ of Gaussian observations a bound is nine times as large."""
    if instance.noise is None:
        return
    wide = _from(instance, {**instance.to_dict(), "sigma": 3.0 * instance.sigma})
    value, wider = bound(instance).value, bound(wide).value
    near = math.isclose(wider, 9.0 * value, rel_tol=SAME, abs_tol=1e-12)
    assert near, f"C is {value} with σ = {instance.sigma}, and {wider} with three times that"


def gaps_are_losses(instance: Any) -> None:
    """The best arm has gap 0, all others more; components are as many as the arms show."""
    if instance.n_arms is None:
        return
    best, gaps = instance.best_arm(), instance.gaps
    assert gaps.shape == (instance.n_arms,), f"{gaps.shape} gaps of {instance.n_arms} arms"
    place = instance.position(best)
    assert gaps[place] == 0.0, f"the best arm, {best}, has the gap {gaps[place]}"
    assert (np.delete(gaps, place) > 0.0).all(), f"a gap is not positive: {gaps}"
    shown = instance.showing()
    assert len(shown) == instance.n_arms, f"{len(shown)} arms show, of {instance.n_arms}"
    components = {component for arm in shown for component in arm}
    last = len(instance.components) - 1
    assert components <= set(range(last + 1)), f"arms show {components}, of 0, …, {last}"


def models_find_the_best_arm(instance: Any) -> None:
    """Told the true means often, a model estimates them, leads with the best arm, and has rates."""
    if instance.n_arms is None or not hasattr(instance, "model"):
        return
    model, best = instance.model(), instance.position(instance.best_arm())
    tally, memory = empty_tally(len(instance.components), instance.n_arms), model.start()
    for component, mean in enumerate(instance.components):
        for _ in range(100):
            observe(tally, component, float(mean))
    tally.plays[:] = 100
    tally.clock[0] = 100 * instance.n_arms
    first = model.unseen(tally)
    assert first == -1, f"arm {first} is said to be unseen after a hundred plays of each"
    leaders = [model.plug_in(tally, memory)]
    if instance.unprojected() is None:
        leaders.append(model.project(tally, memory))
    assert leaders == [best] * len(leaders), f"{leaders} lead, and {best} is best"
    rates = np.zeros(instance.n_arms)
    gap = model.rates(best, 1e-6, memory, rates)
    assert math.isfinite(gap), "no rates are found at the truth"
    assert rates[best] == 0.0, f"the leader has the rate {rates[best]}"
    assert (rates >= 0.0).all(), f"a rate is negative: {rates}"
    assert np.isfinite(rates).all(), f"a rate is not finite: {rates}"


def estimates_are_instances(instance: Any) -> None:
    """From what its model estimates at the truth the same instance is made: its best arm leads."""
    if instance.n_arms is None or not hasattr(instance, "model") or instance.unprojected():
        return
    model, tally = instance.model(), empty_tally(len(instance.components), instance.n_arms)
    memory = model.start()
    tally.counts[:], tally.means[:] = 100, instance.components
    tally.plays[:], tally.clock[0] = 100, 100 * instance.n_arms
    model.project(tally, memory)
    means = instance.observed_sign * memory.estimate
    found = instance.parameter_from(memory, means, tally.counts)
    again = _from(instance, {**instance.to_dict(), instance.parameter: found.tolist()})
    assert again.best_arm() == instance.best_arm(), f"{again.best_arm()} is best at {found}"
    leader = instance.leading(tally, tally.means)
    assert leader == instance.position(instance.best_arm()), f"arm {leader} leads by the truth"


def units_come_and_go(instance: Any) -> None:
    """Where its arms (or items) can be retired, any but one is, and what remains is an instance."""
    if not instance.can_restrict:
        return
    units = instance.unit_count()
    whole = instance.places(range(units))
    if instance.n_arms is not None:
        assert whole[0].tolist() == list(range(instance.n_arms)), "with all units arms are missing"
    for gone in range(units):
        kept = [unit for unit in range(units) if unit != gone]
        try:
            smaller = restricted(instance, kept)
        except InputError:
            assert instance.n_arms is None, f"without {gone} there is no instance"
            continue  # no arm of a set is without this item
        assert smaller.unit_count() == units - 1, f"{smaller.unit_count()} left of {units}"
        if instance.n_arms is not None:
            arms = instance.places(kept)[0]
            assert len(arms) == smaller.n_arms, f"{len(arms)} places of {smaller.n_arms} arms"


def policies_fit_or_refuse(instance: Any) -> None:
    """Every policy is made for the instance, or refuses it with an ``InputError``."""
    for kind in POLICIES.values():
        fits_or_refuses(kind, instance, {})


CONTRACTS: tuple[Callable[[Any], None], ...] = (
    files_hold_all,
    unknown_keys_are_refused,
    bounds_are_certified,
    false_bounds_are_refused,
    variances_scale_bounds,
    gaps_are_losses,
    models_find_the_best_arm,
    estimates_are_instances,
    units_come_and_go,
    policies_fit_or_refuse,
)


def _from(instance: Any, content: Mapping[str, Any]) -> Any:
    return type(instance)(**{key: value for key, value in content.items() if key != "structure"})

"""Policies: one file each, one line here."""

from typing import Any

from ossb.plugins import Registry
from ossb.policies.aescb import AESCB
from ossb.policies.base import Kind, Policy, make
from ossb.policies.burnetas_katehakis import BURNETAS_KATEHAKIS
from ossb.policies.ckl_ucb import CKL_UCB
from ossb.policies.combinatorial_thompson import COMBINATORIAL_THOMPSON
from ossb.policies.confidence_ball import CONFIDENCE_BALL
from ossb.policies.cucb import CUCB
from ossb.policies.dmed import DMED
from ossb.policies.double_thompson import DOUBLE_THOMPSON
from ossb.policies.e4 import E4_KIND
from ossb.policies.end_of_optimism import END_OF_OPTIMISM
from ossb.policies.escb import ESCB
from ossb.policies.frank_wolfe import FRANK_WOLFE
from ossb.policies.game import GAME
from ossb.policies.glm_ucb import GLM_UCB
from ossb.policies.glpg import GLPG
from ossb.policies.graves_lai import GRAVES_LAI
from ossb.policies.greedy import GREEDY
from ossb.policies.hgl import HGL
from ossb.policies.ids import IDS
from ossb.policies.imed import IMED
from ossb.policies.imed_ub import IMED_UB
from ossb.policies.kl_lucb import KL_LUCB, LUCB
from ossb.policies.kl_ucb import KL_UCB
from ossb.policies.lin_ucb import LIN_UCB
from ossb.policies.linear_thompson import LINEAR_THOMPSON
from ossb.policies.lingape import LINGAPE
from ossb.policies.lse import LSE
from ossb.policies.mints import MINTS
from ossb.policies.oful import OFUL
from ossb.policies.oslb import OSLB
from ossb.policies.ossb import OSSB, OSSB_PAPER
from ossb.policies.osub import OSUB
from ossb.policies.rmed1 import RMED1
from ossb.policies.rmed2 import RMED2
from ossb.policies.rucb import RUCB
from ossb.policies.sequential_halving import SEQUENTIAL_HALVING
from ossb.policies.solid import SOLID
from ossb.policies.spl import SPL
from ossb.policies.successive_elimination import SUCCESSIVE_ELIMINATION
from ossb.policies.thompson import THOMPSON
from ossb.policies.top_two import TOP_TWO
from ossb.policies.track_and_stop import TRACK_AND_STOP
from ossb.policies.ucb1 import UCB1
from ossb.policies.uniform import UNIFORM
from ossb.structures.base import Instance

__all__ = ["POLICIES", "Kind", "Policy", "policy"]

OWN: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        HGL,
        OSSB,
        OSSB_PAPER,
        UCB1,
        KL_UCB,
        THOMPSON,
        DMED,
        IMED,
        BURNETAS_KATEHAKIS,
        OSUB,
        IMED_UB,
        LSE,
        RMED1,
        RMED2,
        DOUBLE_THOMPSON,
        RUCB,
        MINTS,
        LINEAR_THOMPSON,
        GLM_UCB,
        OFUL,
        LIN_UCB,
        END_OF_OPTIMISM,
        CONFIDENCE_BALL,
        GRAVES_LAI,
        IDS,
        SOLID,
        SPL,
        E4_KIND,
        CKL_UCB,
        COMBINATORIAL_THOMPSON,
        CUCB,
        ESCB,
        OSLB,
        AESCB,
        GLPG,
        TOP_TWO,
        TRACK_AND_STOP,
        FRANK_WOLFE,
        GAME,
        LUCB,
        KL_LUCB,
        LINGAPE,
        SUCCESSIVE_ELIMINATION,
        SEQUENTIAL_HALVING,
        GREEDY,
        UNIFORM,
    )
}


def _fault(name: str, found: Any) -> str | None:
    if not isinstance(found, Kind):
        return "it is no ossb.policies.Kind"
    return None if found.name == name else f"its name is {found.name!r}"


POLICIES: Registry[Kind] = Registry("ossb.policies", OWN, _fault)


def policy(name: str, instance: Instance, **parameters: Any) -> Any:
    """The policy of a name for an instance; what does not fit is refused here.

    Examples
    --------
    >>> import ossb
    >>> arms = ossb.Classical(observation="bernoulli", n_arms=3)
    >>> ossb.policy("ossb", arms, epsilon=0.01).epsilon
    0.01
    """
    return make(POLICIES, name, instance, **parameters)

"""Rivals: what stands against the arm that leads, for policies that identify and for their stop."""

from typing import Any

import numpy as np

from ossb.families import Bernoulli, Family
from ossb.graves_lai.answers import BEST, Aim, Answer
from ossb.graves_lai.cost import SAMPLES
from ossb.graves_lai.information.links import IDENTITY
from ossb.models.classical import ClassicalModel
from ossb.models.dueling import DuelingModel
from ossb.models.finite import FiniteModel
from ossb.models.general import GeneralModel
from ossb.models.glm import GlmModel
from ossb.models.linear import LinearModel
from ossb.models.lipschitz import LipschitzModel
from ossb.models.rivals.answered_linear import answered_linear_rivals
from ossb.models.rivals.answered_means import AnsweredMeanRivals
from ossb.models.rivals.base import CHARGE, RUNNER_UP, STATISTIC, Contest, Rivals
from ossb.models.rivals.dueling import DuelRivals
from ossb.models.rivals.finite import ListRivals
from ossb.models.rivals.general import GeneralRivals
from ossb.models.rivals.glm import GlmRivals
from ossb.models.rivals.linear import linear_rivals
from ossb.models.rivals.lipschitz import LipschitzRivals
from ossb.models.rivals.mixture import mixture_of
from ossb.models.rivals.pairs import PairRivals
from ossb.models.rivals.semi_bandit import ItemRivals
from ossb.models.rivals.shares import Showing, showing_of
from ossb.models.semi_bandit import SemiBanditModel
from ossb.models.unimodal import UnimodalModel

__all__ = [
    "CHARGE",
    "RUNNER_UP",
    "STATISTIC",
    "Contest",
    "Rivals",
    "Showing",
    "rivals_for",
    "rivals_of",
    "showing_of",
]

NONE = np.zeros(0, np.int64)


def rivals_for(instance: Any, answer: Answer = BEST) -> Any:
    """The rivals of an instance, by what is asked for; None where there are none."""
    aim = None
    if not answer.is_best:
        instance.answered(SAMPLES, answer)  # refuses where there is no such bound
        aim = answer.aim(instance.sign)
    model = instance.model() if hasattr(instance, "model") else None
    return rivals_of(model, instance.observed_family, aim)


def rivals_of(model: Any, family: Family, aim: Aim | None = None) -> Any:
    """The rivals of a model whose components a family shows; None where there are none.

    Parameters
    ----------
    aim
        What is asked for, where that is more than the best arm.
    """
    itself: Any = model
    if aim is not None:
        return _answered_rivals(itself, family, aim)
    match model:
        case ClassicalModel():
            return PairRivals(itself, mixture_of(family), model.n_arms, NONE, NONE)
        case UnimodalModel():
            return PairRivals(
                itself, mixture_of(family), model.n_arms, model.starts, model.neighbours
            )
        case LipschitzModel():
            return LipschitzRivals(itself, mixture_of(family), model.distances)
        case LinearModel():
            return linear_rivals(
                itself, model.features, model.sigma, model.spanning, model.flat, True
            )
        case GlmModel() if model.observed_link == IDENTITY:
            identity = model.reward_link == IDENTITY
            return linear_rivals(
                itself, model.features, model.sigma, model.spanning, model.prior, identity
            )
        case GlmModel():
            volume = float(np.linalg.slogdet(model.prior)[1])
            return GlmRivals(itself, model, model.spanning, model.prior, volume)
        case SemiBanditModel():
            return ItemRivals(
                itself,
                mixture_of(family),
                model.arms,
                model.covering,
                model.prior,
                model.prior_mean,
                model.half,
            )
        case DuelingModel():
            return DuelRivals(
                itself,
                mixture_of(Bernoulli()),
                model.offset,
                model.n_items,
                model.first,
                model.second,
                model.component,
            )
        case FiniteModel():
            return ListRivals(itself, family, model.parameters, model.best, model.closeness)
        case GeneralModel():
            return GeneralRivals(itself, mixture_of(family))
    return None


def _answered_rivals(model: Any, family: Family, aim: Aim) -> Any:
    itself: Any = model
    match model:
        case ClassicalModel():
            return AnsweredMeanRivals(itself, mixture_of(family), model.n_arms, *aim)
        case LinearModel():
            return answered_linear_rivals(
                itself, model.features, model.sigma, model.spanning, model.flat, *aim
            )
    return None

"""Priced programs over polytopes and their unions.

The program of regret, with one arm more: it earns what the best arm does, costs nothing and shows
nothing.  Beside it the best arm is one of those whose plays tell something, at its price, and
what it shows may move.  Where the best arm is free it keeps its place, and gaps become prices.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ossb.graves_lai.generic.certificate import plain
from ossb.graves_lai.generic.cutting import solve
from ossb.graves_lai.generic.piece import Piece
from ossb.graves_lai.generic.program import Program
from ossb.graves_lai.generic.separation import Separation
from ossb.graves_lai.proof import Alternative, Arm, Ball, Support
from ossb.structures.base import Bound
from ossb.structures.priced import Priced


class PricedPieces(Priced):
    """Costs of plays on a polytope, or on a union of them."""

    @property
    def leader(self) -> int:
        """Who is free: the best arm, or the one that only stands for it."""
        return int(self.instance.best if self.is_free else self.instance.n_arms)

    @cached_property
    def program(self) -> Program:
        """In doubles."""
        plain_program = self.instance.program
        reveals, pieces, prices = plain_program.reveals, plain_program.pieces, self.prices
        if not self.is_free:
            reveals = np.vstack([reveals, np.zeros((1, reveals.shape[1]))])
            pieces = tuple(_with_twin(piece, self.instance.best) for piece in pieces)
            prices = np.append(prices, 0.0)
        return Program(
            plain_program.divergence,
            plain_program.means,
            reveals,
            pieces,
            plain_program.theta,
            self.leader,
            prices,
        )

    @cached_property
    def exactly(self) -> Any:
        """With its numbers as the rationals that they are."""
        from ossb.graves_lai.generic.exact import ExactProgram  # loads flint

        program, regret = self.program, self.instance.exactly
        costs = [self.cost.rational(regret.gap(x), x) for x in range(regret.n_arms)]
        return ExactProgram(
            regret.conjugate,
            program.means,
            program.reveals,
            program.pieces,
            program.theta,
            self.leader,
            regret.home,
            costs,
            None if self.is_free else self.instance.best,
        )

    def solve(self, gap: float) -> Bound:
        from ossb.graves_lai.generic.proving import prepared, proved_regions  # loads flint

        program = self.program
        regions, empty = proved_regions(program, self.exactly)
        separation = Separation(program, regions, patient=True) if regions else None
        answer = prepared(program, self.exactly, solve(program, separation, empty, gap))
        support: list[tuple[Arm, float]] = [
            (arm, float(rate)) for arm, rate in enumerate(answer.rates) if rate > 0
        ]
        alternatives = []
        for cut, weight in zip(answer.cuts, answer.weights, strict=True):
            assert separation is not None
            region = regions[cut.region]
            witness = separation.witness(cut.region)
            alternatives.append(
                Alternative(region.arm, cut.parameter, witness, float(weight), region.piece)
            )
        duals = plain(answer.duals)
        return Bound(self.instance, answer.lower, answer.upper, support, alternatives, duals)

    def exact_confusing(self, alternative: Alternative) -> Any:
        """λ − θ in rationals: the parameter brought exactly into its region."""
        from ossb.graves_lai.generic.lower import brought_inside  # loads flint

        return brought_inside(self.exactly, self.instance.position(alternative.arm), alternative)

    def exact_heaviest(self, confusing: Sequence[Any], weights: Sequence[float]) -> Ball:
        from ossb.graves_lai.generic.proving import heaviest  # loads flint

        return heaviest(self.exactly, confusing, weights)

    def exact_information(self, support: Support, multipliers: Any) -> Ball:
        from ossb.graves_lai.generic.proving import proved_information  # loads flint

        rates = [(self.instance.position(arm), rate) for arm, rate in support]
        return proved_information(self.exactly, rates, multipliers)


def _with_twin(piece: Piece, best: int) -> Piece:
    """A piece in which one arm more earns what the best one does."""
    rewards = np.vstack([piece.rewards, piece.rewards[best : best + 1]])
    return replace(piece, rewards=rewards)

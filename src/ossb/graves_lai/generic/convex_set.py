"""A convex set described by CVXPY constraints: the one module that imports CVXPY.

The set is read as g(λ) ≤ 0 for convex g, and affine equalities.  A tangent of g at any point,
g(a) + ∇g(a) · (λ − a) ≤ 0, holds in the whole set, so tangents at chosen points make a polytope
that contains it; that is all the solver and the proofs need.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ossb.errors import InputError
from ossb.extras import load

ROOM = 1e-7
EVALUATED = 1e-12  # of its terms, by how much CVXPY may misplace a tangent: it is moved out


class ConvexSet:
    """What a function λ ↦ list of CVXPY constraints describes.

    Parameters
    ----------
    describe
        The function.
    size
        Number of entries of λ.
    """

    def __init__(self, describe: Callable[[Any], Any], size: int) -> None:
        cvxpy = load("cvxpy", "constraints")
        self.cvxpy = cvxpy
        self.variable = cvxpy.Variable(size)
        self.curved: list[Any] = []
        straight: list[Any] = []
        equal: list[Any] = []
        for k, constraint in enumerate(describe(self.variable)):
            below, level = self._read(constraint, f"constraints[{k}]")
            for expression in below:
                (straight if expression.is_affine() else self.curved).append(expression)
            equal += level
        self.variable.value = np.zeros(size)
        self.matrix, self.bounds = self._rows(straight, size)
        self.equal_matrix, self.equal_bounds = self._rows(equal, size)

    def _read(self, constraint: Any, field: str) -> tuple[list[Any], list[Any]]:
        """Convex expressions that must be ≤ 0, and affine ones that must be 0."""
        cp, kind = self.cvxpy, type(constraint).__name__
        if kind in ("Equality", "Zero"):
            return [], [constraint.expr]
        if kind == "Inequality":
            below = constraint.expr
        elif kind == "NonNeg":
            below = -constraint.args[0]
        elif kind == "SOC":
            top, vector = constraint.args
            below = cp.norm(vector, 2, axis=constraint.axis if vector.ndim > 1 else None) - top
        elif kind == "PSD":
            below = -cp.lambda_min(constraint.args[0])
        else:
            must = "be an inequality, an equality, a second-order cone or semidefinite"
            raise InputError(field, must, kind)
        if not below.is_convex():
            raise InputError(field, "be convex by CVXPY's rules", str(constraint))
        return [below], []

    def _rows(self, expressions: list[Any], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Tangents of expressions where the variable stands, as rows · λ ≤ sides."""
        at = np.asarray(self.variable.value)
        rows, sides = [np.zeros((0, size))], [np.zeros(0)]
        for expression in expressions:
            try:
                gradient = expression.grad.get(self.variable)
            except NotImplementedError:
                must = "have a gradient that CVXPY knows: write it by other functions"
                raise InputError("constraints", must, str(expression)) from None
            if gradient is None:
                continue  # no tangent here, as at the tip of a norm
            dense = gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient)
            matrix = dense.reshape(size, -1).T
            value = np.ravel(np.asarray(expression.value), order="F")
            rows.append(matrix)
            sides.append(matrix @ at - value)
        return np.vstack(rows), np.concatenate(sides)

    def tangents(self, points: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Rows and sides of the tangents at some points."""
        size = self.variable.size
        rows, sides = [self.matrix], [self.bounds]
        for point in points:
            self.variable.value = point
            matrix, bounds = self._rows(self.curved, size)
            bounds = bounds + EVALUATED * (np.abs(bounds) + np.abs(matrix) @ np.abs(point))
            finite = np.isfinite(matrix).all(axis=1) & np.isfinite(bounds)
            finite &= np.abs(matrix).max(axis=1, initial=0.0) > 0
            rows.append(matrix[finite])
            sides.append(bounds[finite])
        return np.vstack(rows), np.concatenate(sides)

    def violation(self, point: np.ndarray) -> float:
        """How far a point is from satisfying every constraint; 0 inside."""
        self.variable.value = point
        over = [float((self.matrix @ point - self.bounds).max(initial=0.0))]
        over.append(float(np.abs(self.equal_matrix @ point - self.equal_bounds).max(initial=0.0)))
        for expression in self.curved:
            over.append(float(np.max(np.asarray(expression.value), initial=0.0)))
        return max(over)

    def inside(
        self,
        equal: np.ndarray,
        equal_to: np.ndarray,
        rows: np.ndarray,
        sides: np.ndarray,
        gain: np.ndarray,
    ) -> tuple[np.ndarray, float] | None:
        """A point where every curved constraint and gain · λ > 0 hold with room, and that room.

        Subject also to equal λ = equal_to and rows λ ≤ sides; None if there is no such point.
        """
        cp = self.cvxpy
        room, slack = cp.Variable(), cp.Variable(nonneg=True)
        constraints = [expression + room <= 0 for expression in self.curved]
        constraints += [gain @ self.variable >= room, room <= 1, slack <= 1]
        for matrix, right in ((self.matrix, self.bounds), (rows, sides)):
            if len(matrix):  # straight rows may be tight in the whole set
                constraints.append(matrix @ self.variable + 1e-3 * slack <= right)
        for matrix, right in ((self.equal_matrix, self.equal_bounds), (equal, equal_to)):
            if len(matrix):
                constraints.append(matrix @ self.variable == right)
        problem = cp.Problem(cp.Maximize(room + 1e-2 * slack), constraints)
        problem.solve(solver=cp.CLARABEL)
        if self.variable.value is None or room.value is None:
            return None
        return np.array(self.variable.value), float(room.value)

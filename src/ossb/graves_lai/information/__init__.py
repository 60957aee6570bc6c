"""What rates tell of each alternative, a record for each kind of structure.

Every record has the method

    inform(row, columns, count, rates, curved, gradient, factors) -> float

which gives F of the alternative ``row`` where the first ``count`` of ``columns`` are played at
``rates``, and fills ``gradient`` with the divergence of each of these columns at the minimiser.
Where ``curved``, the rows f of ``factors`` have Σ f fᵀ = −∇²F, or nearly so: the barrier's steps
rest on the curvature, its answers do not.  F is 0 where a column that is not there is needed.  A
record holds the last minimisers, to start from.
"""

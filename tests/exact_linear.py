"""Both sides of a linear bound in exact rational arithmetic, written apart from the package."""

from flint import fmpq, fmpq_mat


def rational(value):
    return fmpq(*float(value).as_integer_ratio())


def reduced(arms, best):
    """Every arm in coordinates of what is orthogonal to the best one, and the pivot."""
    rows = [[rational(entry) for entry in arm] for arm in arms]
    top = rows[best]
    axis = max(range(len(top)), key=lambda i: abs(top[i]))
    if top[axis] == 0:
        return rows, None
    return [
        [row[i] - top[i] * row[axis] / top[axis] for i in range(len(top)) if i != axis]
        for row in rows
    ], axis


def exact_gaps(arms, phi, best, sign=1.0):
    rows = [[rational(entry) for entry in arm] for arm in arms]
    truth = [rational(entry) * int(sign) for entry in phi]
    means = [sum(a * b for a, b in zip(row, truth, strict=True)) for row in rows]
    return [means[best] - mean for mean in means]


def exact_lower(instance, alternatives):
    """What alternatives prove; None where one of them is not confusing.

    Each stands for its direction's part orthogonal to the best arm, which is not stretched.
    """
    best, sign = instance.best, int(instance.sign)
    rows = [[rational(entry) for entry in arm] for arm in instance.arms]
    top = rows[best]
    square = sum(entry * entry for entry in top)
    gaps = exact_gaps(instance.arms, instance.phi, best, sign)
    variance = rational(instance.sigma) ** 2
    total, price = fmpq(0), [fmpq(0)] * len(rows)
    for alternative in alternatives:
        move = [sign * rational(entry) for entry in alternative.parameter]
        if not alternative.relative:
            move = [a - sign * rational(b) for a, b in zip(move, instance.phi, strict=True)]
        if square:
            along = sum(a * b for a, b in zip(move, top, strict=True)) / square
            move = [a - along * b for a, b in zip(move, top, strict=True)]
        seen = [sum(a * b for a, b in zip(move, row, strict=True)) for row in rows]
        if seen[alternative.arm] < gaps[alternative.arm]:
            return None
        weight = rational(alternative.weight)
        total += weight
        price = [p + weight * s * s / 2 / variance for p, s in zip(price, seen, strict=True)]
    return total / max(price[x] / gaps[x] for x in range(len(rows)) if x != best)


def exact_information(instance, support):
    """The least information of these rates about a confusing parameter; 0 if they do not span."""
    w, _ = reduced(instance.arms, instance.best)
    gaps = exact_gaps(instance.arms, instance.phi, instance.best, instance.sign)
    variance = rational(instance.sigma) ** 2
    rank = len(w[0])
    design = fmpq_mat(rank, rank)
    for arm, rate in support:
        for i in range(rank):
            for j in range(rank):
                design[i, j] += rational(rate) / variance * w[arm][i] * w[arm][j]
    if design.det() == 0:
        return fmpq(0)
    inverse = design.inv()
    needed = []
    for x, row in enumerate(w):
        if x != instance.best:
            form = sum(row[i] * inverse[i, j] * row[j] for i in range(rank) for j in range(rank))
            needed.append(2 * form / gaps[x] ** 2)
    return 1 / max(needed)


def exact_cost(instance, support):
    gaps = exact_gaps(instance.arms, instance.phi, instance.best, instance.sign)
    return sum((rational(rate) * gaps[arm] for arm, rate in support), fmpq(0))

"""Least squares with coefficients that are not negative, for a handful of columns."""

import functools
import itertools
import math
import operator

# Of a column's length, beyond what the others span: less is rounding.
LEAST_OWN_PART = 1e-7


def dot(left, right):
    return math.fsum(map(operator.mul, left, right))


@functools.lru_cache(1024)
def orthonormal(columns):
    """The columns as an orthonormal basis (Gram-Schmidt, twice) and the triangle of what each is in
    it; None where one depends on the others."""
    basis, triangle = [], []
    for column in columns:
        length = math.sqrt(dot(column, column))
        rest, parts = list(column), [0.0] * len(basis)
        for _ in range(2):
            for i, unit in enumerate(basis):
                part = dot(unit, rest)
                parts[i] += part
                rest = [a - part * b for a, b in zip(rest, unit)]
        own = math.sqrt(dot(rest, rest))
        if own <= LEAST_OWN_PART * length:
            return None
        basis.append([a / own for a in rest])
        triangle.append([*parts, own])
    return basis, triangle


def solved(columns, target):
    """The coefficients that come closest to the target; None where the columns are dependent."""
    found = orthonormal(tuple(map(tuple, columns)))
    if found is None:
        return None
    basis, triangle = found
    rest = [dot(unit, target) for unit in basis]
    coefficients = [0.0] * len(columns)
    for i in reversed(range(len(columns))):
        coefficients[i] = rest[i] / triangle[i][i]
        for j in range(i):
            rest[j] -= coefficients[i] * triangle[i][j]
    return coefficients


def squared_error(columns, coefficients, target):
    values = (dot(row, coefficients) for row in zip(*columns))
    return math.fsum((value - wanted) ** 2 for value, wanted in zip(values, target))


def nonempty_subsets(items):
    """The smaller ones first."""
    items = list(items)
    for size in range(1, len(items) + 1):
        yield from itertools.combinations(items, size)


def nonnegative(columns, target):
    """The coefficients, none negative, that come closest to the target. Fewer columns win ties."""
    free = solved(columns, target)
    if free is not None and min(free) >= 0:
        return free
    best, least = [0.0] * len(columns), dot(target, target)
    for chosen in nonempty_subsets(range(len(columns))):
        coefficients = solved([columns[i] for i in chosen], target)
        if coefficients is None or min(coefficients) < 0:
            continue
        error = squared_error([columns[i] for i in chosen], coefficients, target)
        if error < least:
            least = error
            best = [0.0] * len(columns)
            for i, coefficient in zip(chosen, coefficients):
                best[i] = coefficient
    return best

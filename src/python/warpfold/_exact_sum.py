"""An exact sum as an object."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from warpfold import _core
from warpfold._arrays import blocks_of
from warpfold._errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Number = Union[int, float, Fraction]

_UNIT_BITS = 1088  # a unit is 2^-1088
_UNIT_BYTES = 276
_LARGEST = 1 << 1024


class ExactSum:
    """The exact sum of numbers and arrays, in any order; only reading it rounds.

    Parts of it may be made anywhere, by threads, processes of `multiprocessing`, tasks of dask or
    ranks, and merged in any order: the result is the same bits. It can be pickled (300 bytes).

    float(total) is the double nearest to the true sum. As of IEEE 754, NaN, or infinities of both
    signs, make it NaN, and infinities of one sign that infinity.

    >>> total = ExactSum([1e16, 1.0])
    >>> total.add(-1e16)
    >>> float(total)
    1.0
    """

    __slots__ = ("_total",)
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's operators leave += and + to this class

    def __init__(self, *values: "ArrayLike | Number | ExactSum") -> None:
        self._total = _core.Total()
        for value in values:
            self.add(value)

    def add(self, values: "ArrayLike | Number | ExactSum") -> None:
        """Adds a number, all elements of an array, or another sum.

        Arrays have any shape, strides and byte order, and booleans, integers of up to 64 bits,
        float16, float32, float64 or ml_dtypes' bfloat16; of a masked array the masked elements
        are left out. Integers may have any size below 2^1024. Fractions need a power of 2 below.
        Raises UsageError for numbers that can't be added exactly.
        """
        if type(values) is np.ndarray and self._total.add_packed(values):
            return
        if isinstance(values, ExactSum):
            self._total.merge(values._total)
        elif isinstance(values, (int, Fraction)) and not isinstance(values, bool):
            self._total.merge(_total_of(Fraction(values)))
        else:
            for elements, type_name, mask, _ in blocks_of(values):
                self._total.add(elements, type_name, mask)

    def merge(self, other: "ExactSum") -> None:
        """Adds another sum."""
        self._total.merge(other._total)

    @property
    def count(self) -> int:
        """Number of addends, including NaN and infinities."""
        return self._total.count

    @property
    def nan_count(self) -> int:
        """Number of addends that were NaN."""
        return self._total.nan_count

    def as_fraction(self) -> Fraction:
        """Returns the exact sum. Raises UsageError if NaN or infinities were added."""
        if not math.isfinite(self._special()):
            raise UsageError("the sum is not a number", f"it is {self._special()}", "Use float().")
        return Fraction(self._units(), 1 << _UNIT_BITS)

    def __float__(self) -> float:
        return self._total.rounded()

    def __iadd__(self, other: Any) -> "ExactSum":
        self.add(other)
        return self

    def __add__(self, other: Any) -> "ExactSum":
        return ExactSum(self, other)

    def __radd__(self, other: Any) -> "ExactSum":
        # sum() starts from 0, which is not one of the numbers.
        return ExactSum(self) if isinstance(other, int) and other == 0 else ExactSum(other, self)

    def _units(self) -> int:
        return int.from_bytes(self._total.units(), "little", signed=True)

    def _special(self) -> float:
        """NaN or an infinity if one determines the sum, else 0."""
        up, down = self._total.positive_infinities, self._total.negative_infinities
        if self._total.nan_count or (up and down):
            return math.nan
        return math.inf if up else -math.inf if down else 0.0

    def _place(self) -> "tuple[float, int]":
        """Returns the key by which sums are compared."""
        special = self._special()
        return (special, 0 if special else self._units())

    def __eq__(self, other: object) -> bool:
        mine, others = self._place(), _sum_of(other)._place()
        return not (math.isnan(mine[0]) or math.isnan(others[0])) and mine == others

    def __lt__(self, other: Any) -> bool:
        return bool(self._place() < _sum_of(other)._place())

    def __le__(self, other: Any) -> bool:
        return bool(self == other or self < other)

    def __gt__(self, other: Any) -> bool:
        return bool(self._place() > _sum_of(other)._place())

    def __ge__(self, other: Any) -> bool:
        return bool(self == other or self > other)

    def __reduce__(self) -> "tuple[Any, ...]":
        total = self._total
        counts = (total.nan_count, total.positive_infinities, total.negative_infinities)
        return (_restored, (total.count, *counts, total.units()))

    def __repr__(self) -> str:
        return f"<ExactSum {float(self)!r} of {self.count} numbers>"


def _restored(*state: Any) -> ExactSum:
    total = ExactSum()
    total._total = _core.Total.of(*state)
    return total


def _sum_of(value: Any) -> ExactSum:
    return value if isinstance(value, ExactSum) else ExactSum(value)


def _total_of(number: Fraction) -> "_core.Total":
    units = number * (1 << _UNIT_BITS)
    if units.denominator != 1 or abs(number) >= _LARGEST:
        raise UsageError(
            "the number cannot be added exactly",
            "it is 2^1024 or more" if abs(number) >= _LARGEST else "it is not a binary fraction",
            "Pass a float, or an integer of less.",
        )
    stored = units.numerator.to_bytes(_UNIT_BYTES, "little", signed=True)
    return _core.Total.of(1, 0, 0, 0, stored)

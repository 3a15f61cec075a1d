"""How far apart are two answers of a query?

An answer is a number, or numbers in lists, tuples, arrays, mappings and tables. Integers and fractions are compared
exactly. Floats are compared with a *tolerance for rounding*: a billionth of the largest number involved, for each
number of the answer, so that two ways to add up the same numbers are not a counterexample. A category that only one of
two mappings names counts as 0 in the other, as in a table of counts. NaN, an infinity, an exception, an answer of
another shape, or none, on only one side is infinitely far from any number.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence.event import DATASETS
from dpaudit.settings import lent

ROUNDING = 1e-9
"""The tolerance for rounding, as a share of the largest number involved."""

NORMS = ("1", "2", "inf")

Blocks = dict[tuple[str, ...], np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What a query answered."""

    blocks: Blocks  # its numbers, one-dimensional arrays by their position in the answer: floats, or exact objects
    shapes: dict[tuple[str, ...], tuple[int, ...]]  # the shape of everything in it that is not a mapping, by position
    trouble: str = ""  # what happened instead of an answer with numbers, such as "raises ValueError"; empty otherwise


@dataclass(frozen=True, slots=True)
class AnswerMovement:
    """How far one answer is from another."""

    # in the norm, exact if all numbers are, `math.inf` if there is trouble; in the norm 2 its square
    distance: Fraction | float
    room: float  # the tolerance for rounding of the distance; 0.0 if all numbers are exact
    norm: str  # "1", "2" or "inf"
    # what the query did on only one side, such as "returns NaN on the second dataset"; empty if it moved by numbers
    trouble: str = ""
    silent: bool = False  # whether nothing could be compared: neither side gave a number, in the same way

    @property
    def size(self) -> float:
        """The distance as a float."""
        if self.norm != "2":
            return float(self.distance)
        return math.sqrt(self.distance)

    def exceeds(self, limit: Fraction | float) -> bool:
        """Whether the distance exceeds a limit by more than rounding explains; computed exactly, without floats."""
        if self.trouble or self.distance == math.inf:
            return True
        allowed = Fraction(limit) + Fraction(max(self.room, ROUNDING * float(limit)) if self.room else 0)
        return Fraction(self.distance) > (allowed**2 if self.norm == "2" else allowed)


def norm_of(given: Any) -> str:
    """Return a norm as text; raises `UsageError` for anything but 1, 2 and "inf"."""
    text = "inf" if given == math.inf else str(given)
    if text not in NORMS or isinstance(given, bool):
        raise UsageError(f"the norm of a sensitivity is 1, 2 or 'inf', not {given!r:.40}")
    return text


def answer_of(query: Callable[[Any], Any], data: Any) -> QueryAnswer:
    """Ask a query. An exception that it raises is an answer too, and warnings are suppressed."""
    try:
        with lent(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # the numbers are hostile on purpose
            given = query(data)
    except InvalidRunsError:
        raise
    except (Exception, SystemExit) as error:
        return QueryAnswer({}, {}, f"raises {type(error).__name__}")
    blocks: Blocks = {}
    shapes: dict[tuple[str, ...], tuple[int, ...]] = {}
    try:
        _read(given, (), blocks, shapes)
    except (_NoNumberError, RecursionError) as error:
        return QueryAnswer({}, {}, f"returns {error if isinstance(error, _NoNumberError) else 'something endless'}")
    return QueryAnswer(blocks, shapes)


def movement(answer0: QueryAnswer, answer1: QueryAnswer, norm: str) -> AnswerMovement:
    """Return how far two answers are from each other."""
    if answer0.trouble or answer1.trouble:
        if answer0.trouble == answer1.trouble:
            return AnswerMovement(Fraction(0), 0.0, norm, silent=True)
        said = [f"{own.trouble} on {DATASETS[side]}" for side, own in enumerate((answer0, answer1)) if own.trouble]
        return _infinite(norm, " and ".join(said))
    both = answer0.shapes.keys() & answer1.shapes.keys()
    if any(answer0.shapes[place] != answer1.shapes[place] for place in both):
        return _infinite(norm, "answers with another number of numbers")
    parts: list[np.ndarray[Any, Any]] = []
    scales: list[np.ndarray[Any, Any]] = []
    compared = 0
    for place in answer0.blocks.keys() | answer1.blocks.keys():
        known = answer0.blocks.get(place), answer1.blocks.get(place)
        size = next(len(block) for block in known if block is not None)
        first, second = (np.zeros(size, dtype=object) if block is None else block for block in known)
        apart, scale, trouble = _apart(first, second)
        if trouble:
            return _infinite(norm, trouble)
        compared += len(apart) if size else 1
        parts.append(apart)
        scales.append(scale)
    if not compared and parts:
        return AnswerMovement(Fraction(0), 0.0, norm, silent=True)
    # combine distances by the norm; the tolerance for rounding is combined in the same way
    distances = [_one(part, norm) for part in parts]
    if any(distance == math.inf for distance in distances):
        return AnswerMovement(math.inf, 0.0, norm, "moves farther than floats reach")
    found = max(distances, default=Fraction(0)) if norm == "inf" else sum(distances, Fraction(0))
    return AnswerMovement(found, _room(np.concatenate([np.zeros(1), *scales]), norm), norm)


def same(answer0: QueryAnswer, answer1: QueryAnswer) -> bool:
    """Whether two answers are identical, to the last bit."""
    if (answer0.trouble, answer0.shapes) != (answer1.trouble, answer1.shapes):
        return False
    if answer0.blocks.keys() != answer1.blocks.keys():
        return False
    return all(_alike(own, answer1.blocks[place]) for place, own in answer0.blocks.items())


def _alike(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    nothing = (first != first) & (second != second)  # NaN on both sides
    return first.dtype == second.dtype and bool(np.all((first == second) | nothing))


def _infinite(norm: str, trouble: str) -> AnswerMovement:
    return AnswerMovement(math.inf, 0.0, norm, trouble)


# --- from an answer to its numbers ------------------------------------------------------------------------


class _NoNumberError(Exception):
    """An answer that holds something other than numbers."""


def _read(given: Any, place: tuple[str, ...], blocks: Blocks, shapes: dict[tuple[str, ...], tuple[int, ...]]) -> None:
    """Put the numbers of an answer into ``blocks``, by position."""
    if hasattr(given, "to_dict") and hasattr(given, "index"):  # pandas: its labels are categories
        given = _labelled(given)
    elif hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if isinstance(given, Mapping):
        for key, value in given.items():
            _read(value, (*place, f"{type(key).__name__} {key!r}"), blocks, shapes)
        return
    if isinstance(given, np.ndarray) and given.dtype.kind in "biuf" and given.dtype.itemsize <= 8:
        shapes[place], blocks[place] = given.shape, _block(given.ravel())
        return
    listed = given.ravel().tolist() if isinstance(given, np.ndarray) else given
    if isinstance(listed, list | tuple):
        shapes[place] = given.shape if isinstance(given, np.ndarray) else (len(listed),)
        if all(_is_number(item) for item in listed):
            blocks[place] = _block(np.array([_plain(item) for item in listed], dtype=object))
            return
        for number, item in enumerate(listed):
            _read(item, (*place, f"[{number}]"), blocks, shapes)
        return
    if not _is_number(given):
        raise _NoNumberError("None" if given is None else f"a {type(given).__name__}")
    shapes[place], blocks[place] = (), _block(np.array([_plain(given)], dtype=object))


def _labelled(table: Any) -> Any:
    """A pandas object as a mapping by its labels, or by position if a label occurs twice."""
    if not table.index.is_unique or not getattr(table, "columns", table.index).is_unique:
        return table.to_numpy()
    return table.to_dict()


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | Fraction | Decimal | np.bool_ | np.integer | np.floating)


def _plain(value: Any) -> Any:
    """A number as an int, a Fraction or a float: exact if its type is."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else float(value)
    return value if isinstance(value, Fraction) else float(value)


def _block(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers as floats if one of them is a float, else as exact objects."""
    if numbers.dtype.kind == "f" or any(type(number) is float for number in numbers.tolist()):
        return numbers.astype(np.float64)
    return np.array([int(number) if isinstance(number, bool) else number for number in numbers.tolist()], dtype=object)


# --- distances --------------------------------------------------------------------------------------------


def _apart(
    first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], str]:
    """Return how far numbers are apart, how large the inexact ones are, and what trouble there is.

    Numbers that are the same infinity, or NaN, on both sides are left out.
    """
    if first.dtype == object and second.dtype == object:
        return np.abs(second - first), np.zeros(len(first)), ""
    with np.errstate(all="ignore"):
        first, second = first.astype(np.float64), second.astype(np.float64)
        for side, own, other in ((0, first, second), (1, second, first)):
            if np.any(np.isnan(own) & ~np.isnan(other)):
                return first, first, f"returns NaN on {DATASETS[side]}"
        for side, own, other in ((0, first, second), (1, second, first)):
            if np.any(np.isinf(own) & (own != other)):
                return first, first, f"returns an infinity on {DATASETS[side]}"
        numbers = np.isfinite(first) & np.isfinite(second)
        apart = np.abs(second - first)[numbers]
        return apart, np.maximum(np.abs(first), np.abs(second))[numbers], ""


def _room(scale: np.ndarray[Any, Any], norm: str) -> float:
    largest = float(scale.max())
    if largest == 0.0:
        return 0.0
    return ROUNDING * largest * float(np.linalg.norm(scale / largest, float(norm)))  # so that no square overflows


def _one(part: np.ndarray[Any, Any], norm: str) -> Fraction | float:
    """The distance of one block, its square in the norm 2; inexact sums are rounded once."""
    if part.dtype == object:
        numbers = part.tolist()
        if norm == "inf":
            return Fraction(max(numbers, default=0))
        return Fraction(sum(numbers) if norm == "1" else sum(number**2 for number in numbers))
    if not np.all(np.isfinite(part)):
        return math.inf
    with np.errstate(over="ignore"):
        values = part**2 if norm == "2" else part
    try:
        found = float(np.max(values, initial=0.0)) if norm == "inf" else math.fsum(values.tolist())
    except OverflowError:
        found = math.inf
    return Fraction(found) if math.isfinite(found) else math.inf

"""Which answers are neighbours of a user's answers? All, one, or some moved as far as the relation allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.lazy_pair import LazyPair
from dpaudit.neighbours.domain import Range, allowed_of
from dpaudit.neighbours.relation import Relation

_TRIED_ONE_BY_ONE = 40  # largest number of answers that are moved alone
_FAR = 1000.0  # how far one answer stands out from the others


def answer_candidates(data: Any, relation: Relation, *, domain: Any = None) -> list[LazyPair]:
    """Return the candidates of the relation "queries".

    Besides the user's own answers, other ones are tried: all 0, and one that stands out from the rest, which is where
    selections and thresholds go wrong.
    """
    answers = _numbers(data, relation)
    size = answers.size
    if not size:
        raise UsageError(f"there is no answer to move under {str(relation)!r}; give at least one")
    allowed = None
    if domain is not None:
        allowed = allowed_of(domain)
        if not isinstance(allowed, Range):
            raise UsageError("the domain of answers is a range, (low, high)")
    whole = answers.dtype.kind in "iu"
    moves = list(_moves(size, relation, whole))
    bases: list[tuple[str, Any]] = [("", None), ("all answers 0: ", np.zeros(size))]
    if size > 1:
        bases += [
            ("the first answer far above the others: ", np.eye(1, size).ravel() * _FAR),
            ("the first answer far below the others: ", -np.eye(1, size).ravel() * _FAR),
            ("the first half of the answers far below: ", -_FAR * (np.arange(size) < size // 2)),
        ]
    if isinstance(allowed, Range):
        bases += [
            ("all answers at the low end: ", np.full(size, float(allowed.low))),
            ("all answers at the high end: ", np.full(size, float(allowed.high))),
        ]
    found = []
    for words, base in bases:
        for name, move in moves:
            start = answers.ravel() if base is None else base
            if allowed is not None and base is not None and not np.all(allowed.holds(np.asarray(start, float))):
                continue
            if allowed is not None and not np.all(allowed.holds(np.asarray(start + move, float))):
                continue
            moved = start.astype(np.float64) + move
            if np.all(np.isfinite(moved)) and np.any(moved != start) and relation.accepts(start.astype(float), moved):
                kind = "extreme" if base is None else "base"
                found.append(LazyPair(words + name, kind, partial(_made, data, base, move)))
    if not found:
        raise UsageError(f"no answer can be moved under {str(relation)!r} within the domain and the type of the data")
    return found


def _numbers(data: Any, relation: Relation) -> np.ndarray[Any, Any]:
    what = "give numbers, or another relation ('add-remove' or 'replace' for records)"
    try:
        answers = np.asarray(data)
        if answers.dtype.kind == "O":
            answers = answers.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        answers = np.array("")
    if answers.dtype.kind not in "iuf":
        raise UsageError(
            f"under the relation {str(relation)!r} the data are answers to queries, and this {type(data).__name__} "
            f"holds something else than numbers; {what}"
        )
    if not np.all(np.isfinite(answers)):
        raise UsageError(f"under the relation {str(relation)!r} the data are answers, and one is not finite; {what}")
    return answers


def _moves(size: int, relation: Relation, whole: bool) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield how the answers may move, with a description."""
    step = float(relation.group)
    by = f"by {relation.group}"
    ones, places = np.ones(size), np.arange(size)
    if relation.movement in ("all", "monotone"):
        yield f"all answers up {by}", step * ones
        yield f"all answers down {by}", -step * ones
    if relation.movement == "all" and size > 1:
        yield f"the first answer up {by}, the others down", step * np.where(places == 0, 1, -1)
        yield f"the first answer down {by}, the others up", step * np.where(places == 0, -1, 1)
        yield f"every other answer up {by}, the others down", step * np.where(places % 2 == 0, 1, -1)
        half = places < size // 2
        yield f"the first half of the answers up {by}, the others down", step * np.where(half, 1, -1)
    length = {"norm=1": float(size), "norm=2": math.sqrt(size)}.get(relation.movement)
    if length is not None and size > 1 and not whole:
        for sign, way in ((1, "up"), (-1, "down")):
            yield (
                f"all answers {way} alike, {by} in the {relation.movement.replace('=', ' ')}",
                sign * step / length * ones,
            )
    if size == 1 and relation.movement in ("all", "monotone"):
        return
    chosen = np.unique(np.linspace(0, size - 1, min(size, _TRIED_ONE_BY_ONE)).astype(int))
    for place in chosen.tolist():
        for sign, way in ((1, "up"), (-1, "down")):
            yield f"answer {place} {way} {by}", sign * step * (places == place)


def _made(data: Any, base: np.ndarray[Any, Any] | None, move: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    if base is None:
        return data, _with(data, iter(move.tolist()), add=True)
    return _with(data, iter(base.tolist())), _with(data, iter((base + move).tolist()))


def _with(data: Any, numbers: Iterator[float], add: bool = False) -> Any:
    """Return data of the same form, with these numbers, or with these added to its own."""
    if isinstance(data, list | tuple):
        made = [_with(item, numbers, add) for item in data]
        return data._make(made) if hasattr(data, "_make") else type(data)(made)
    if isinstance(data, np.ndarray) or hasattr(data, "to_numpy"):
        values = np.asarray(data)
        given = np.array([next(numbers) for _ in range(values.size)]).reshape(values.shape)
        return _in_form(data, values, (given + values if add else given))
    kind = data.dtype.type if isinstance(data, np.generic) else type(data)
    number = next(numbers)
    if issubclass(kind, int | np.integer):
        number = int(number)
    return kind(data + number if add else number)


def _in_form(data: Any, old: np.ndarray[Any, Any], new: np.ndarray[Any, Any]) -> Any:
    if isinstance(data, np.ndarray):
        return new.astype(old.dtype).reshape(old.shape)
    module, series = type(data).__module__.partition(".")[0], new.ndim == 1
    if module == "polars":
        import polars

        if series:
            return polars.Series(data.name, new, dtype=polars.Float64).cast(data.dtype)
        columns = [polars.Series(name, new[:, n]).cast(data.schema[name]) for n, name in enumerate(data.columns)]
        return polars.DataFrame(columns)
    import pandas

    if series:
        return pandas.Series(new, index=data.index, name=data.name).astype(data.dtype)
    frame = pandas.DataFrame(new, index=data.index, columns=data.columns)
    return frame.astype(dict(data.dtypes)) if data.columns.is_unique else frame

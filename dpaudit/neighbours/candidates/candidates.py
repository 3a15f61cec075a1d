"""Which neighbours of a user's data should be tried first?

Nobody knows the worst pair of a release that they did not write. These are the pairs on which releases commonly go
wrong: an extreme record more or less, a far outlier, an odd value of the column's own type, a person twice, almost no
records left, all records equal, somebody new before all others; over a declared domain, all tiny datasets too. Every
candidate is a pair of neighbours; none is built before it is needed.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.changes import Changes
from dpaudit.neighbours.candidates.exhaustive import LazyPair, tiny_pairs, values_put
from dpaudit.neighbours.dataset import Dataset, Listed, Mapped, NewRecord, Part, Single, dataset_of
from dpaudit.neighbours.digest import Difference, difference, digest
from dpaudit.neighbours.domain import Range, allowed_of, blank, column_domains, outside, pattern_of
from dpaudit.neighbours.relation import Relation, parse_relation

__all__ = ["KINDS", "LazyPair", "candidates", "count_outside", "smaller"]

# --- Which answers are neighbours of a user's answers? All, one, or some moved as far as the relation allows. ---

_TRIED_ONE_BY_ONE = 40  # largest number of answers that are moved alone
_FAR = 1000.0  # how far one answer stands out from the others


def answer_candidates(data: Any, relation: Relation, *, domain: Any = None) -> list[LazyPair]:
    """Return the candidates of the relation "queries".

    Besides the user's own answers, other ones are tried: all 0, and one that stands out from the rest, which is where
    selections and thresholds go wrong.
    """
    answers = _answers_of(data, relation)
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
    pairs = []
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
                pairs.append(LazyPair(words + name, kind, partial(_made, data, base, move)))
    if not pairs:
        raise UsageError(f"no answer can be moved under {str(relation)!r} within the domain and the type of the data")
    return pairs


def _answers_of(data: Any, relation: Relation) -> np.ndarray[Any, Any]:
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


# --- Which simpler pairs of neighbours can be made from a pair? For shrinking a pair that reveals much. ---
#
# Records that both sides share are dropped, many at once and then fewer; steps of a group are undone; remaining records
# are made alike, column by column; answers are dropped, or set to 0. A column never gets a value that it did not hold
# before, so data within a domain stay there.

_FEW = 50  # largest number of common records that are made alike

Pair = tuple[Any, Any]
Sides = tuple[Dataset, Dataset]


def smaller(pair: Pair, relation: Relation | str) -> Iterator[Pair]:
    """Yield simpler pairs of the same relation, the boldest simplification first; each is a pair of neighbours.

    To shrink a pair, take the first that still does what the pair did, and call this again with that one. This ends,
    because every step leaves fewer records or answers, or fewer differences between them.
    """
    relation = parse_relation(relation)
    if relation.kind == "queries":
        simpler_pairs = _of_answers(*pair)
    elif relation.kind == "declared":
        simpler_pairs = iter(())
    else:
        simpler_pairs = _of_records(*pair)
    return (simpler for simpler in simpler_pairs if relation.accepts(*simpler))


# --- records ---


def _of_records(data0: Any, data1: Any) -> Iterator[Pair]:
    apart = difference(data0, data1)
    if apart is None:
        return
    try:
        sides = (dataset_of(data0), dataset_of(data1))
    except UsageError:
        return
    if any(isinstance(side, Single) for side in sides):
        return
    none = np.array([], dtype=np.intp)
    for start, stop in _pieces(len(apart.common[0])):
        yield _without(sides, *(places[start:stop] for places in apart.common))
    for start, stop in _pieces(max(len(apart.gone), len(apart.come))):
        gone, come = (np.array(places[start:stop], dtype=np.intp) for places in (apart.gone, apart.come))
        for less in ((gone, come), (gone, none), (none, come)):
            if len(less[0]) + len(less[1]):
                yield _without(sides, *less)
    if [(own.name, own.sort) for own in sides[0].columns] == [(own.name, own.sort) for own in sides[1].columns]:
        yield from _alike(sides, apart)


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """Slices of so many items: all of them, each half, each quarter, down to each single one."""
    pieces = 1
    while count:
        edges = np.linspace(0, count, min(pieces, count) + 1).astype(int).tolist()
        yield from itertools.pairwise(edges)
        if pieces >= count:
            return
        pieces *= 2


def _without(sides: Sides, gone: Any, come: Any) -> Pair:
    made = [
        side.build([np.delete(np.arange(side.size), places)]) if len(places) else side.data
        for side, places in zip(sides, (gone, come), strict=True)
    ]
    return made[0], made[1]


def _alike(sides: Sides, apart: Difference) -> Iterator[Pair]:
    """With one column less in which records differ: new records like old ones, new or common ones like a common."""
    columns = range(len(sides[0].columns))
    if len(columns) > 1:
        for old, new in zip(apart.gone, apart.come, strict=False):
            for number in columns:
                yield from _set(sides, ((), (new,)), number, sides[0].value(old, number))
    if not 0 < len(apart.common[0]) <= _FEW:
        return
    first = int(apart.common[0][0])
    for number in columns:
        value = sides[0].value(first, number)
        yield from _set(sides, (apart.common[0].tolist(), apart.common[1].tolist()), number, value)
        if len(columns) > 1:
            yield from _set(sides, (apart.gone, apart.come), number, value)


def _set(sides: Sides, places: tuple[Sequence[int], Sequence[int]], number: int, value: Any) -> Iterator[Pair]:
    """Both sides with one value at all these places, if any place held another."""
    same = digest(value)
    differing = [
        [place for place in own if digest(side.value(place, number)) != same]
        for side, own in zip(sides, places, strict=True)
    ]
    if not any(differing):
        return
    made = []
    for side, own in zip(sides, differing, strict=True):
        parts: list[Part] = []
        start = 0
        for place in sorted(own):
            parts += [slice(start, place), [NewRecord(place, {number: value})]]
            start = place + 1
        made.append(side.build([*parts, slice(start, side.size)]))
    yield made[0], made[1]


# --- answers ---


def _of_answers(data0: Any, data1: Any) -> Iterator[Pair]:
    if type(data0) in (int, float) and type(data1) in (int, float):
        if data0:
            yield type(data0)(0), data1 - data0
        return
    if type(data0) is not type(data1) or not (
        isinstance(data0, list | tuple) or (isinstance(data0, np.ndarray) and data0.ndim == 1)
    ):
        return
    if len(data0) != len(data1):
        return
    for start, stop in _pieces(len(data0)):
        if stop - start < len(data0):
            yield _cut(data0, start, stop), _cut(data1, start, stop)
    for place in range(len(data0)):
        if data0[place]:
            yield _put(data0, place, data0[place] - data0[place]), _put(data1, place, data1[place] - data0[place])


def _cut(data: Any, start: int, stop: int) -> Any:
    if isinstance(data, np.ndarray):
        return np.concatenate([data[:start], data[stop:]])
    return type(data)([*data[:start], *data[stop:]])


def _put(data: Any, place: int, value: Any) -> Any:
    if isinstance(data, np.ndarray):
        made = data.copy()
        made[place] = value
        return made
    return type(data)([*data[:place], value, *data[place + 1 :]])


# --- Which neighbours of a user's data should be tried first? ---

_LISTED = 500  # tiny pairs that are listed, of which some are tried; takes a fraction of a second
KINDS = ("extreme", "code", "behind the code", "outlier", "odd value", "copy", "removal", "order", "base", "tiny")


def candidates(
    data: Any,
    relation: Relation | str,
    *,
    domain: Any = None,
    beyond_domain: bool = False,
    seed: int = 0,
    limit: int = 500,
) -> list[LazyPair]:
    """Return pairs of neighbours of the data, the likely worst first; see `chosen`, which also counts the others.

    Args:
        data, relation, domain, beyond_domain, seed, limit: as for `chosen`.

    Returns:
        The candidates.
    """
    return chosen(data, relation, domain=domain, beyond_domain=beyond_domain, seed=seed, limit=limit)[0]


def chosen(
    data: Any,
    relation: Relation | str,
    *,
    domain: Any = None,
    beyond_domain: bool = False,
    seed: int = 0,
    limit: int = 500,
    numbers: Sequence[Any] = (),
) -> tuple[list[LazyPair], int]:
    """Return pairs of neighbours of the data, the likely worst first, and how many more were left out."""
    relation = parse_relation(relation)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise UsageError(f"the limit of candidates is a whole number, 1 or more, not {limit!r}")
    listed = limit if relation.person is not None else max(limit, _LISTED)  # listing people is slow
    if relation.kind == "declared":
        raise UsageError(
            "no neighbours follow from the relation 'declared'; give pairs, or a relation that says what may change"
        )
    if relation.kind == "queries":
        pairs = [] if data is None else answer_candidates(data, relation, domain=None if beyond_domain else domain)
        return _limited([*pairs, *_tiny(data, relation, domain, listed)], limit)
    dataset = blank(domain) if data is None else _dataset_with_pattern(data, domain)
    if isinstance(dataset, Single) and (relation.kind != "replace" or relation.person is not None):
        raise UsageError(
            f"the relation {str(relation)!r} needs records, and {_article(data)} holds none; give a list, an array, "
            "a frame or a mapping, or the relation 'replace' for one value"
        )
    domains = column_domains(domain, dataset)
    usable = np.ones(dataset.size, dtype=bool) if beyond_domain else ~outside(dataset, domains)
    changes = Changes(dataset, relation, domains, usable, beyond_domain, np.random.default_rng(seed), numbers)
    pairs = [*_possible(changes.candidates(limit), dataset, relation), *_tiny(data, relation, domain, listed)]
    if not pairs:
        raise UsageError(
            f"no neighbour of this {type(data).__name__} can be made under {str(relation)!r}: it holds nothing that "
            "could change within its type and domain; declare a wider domain, or give pairs"
        )
    told, left_out = _limited(pairs, limit)
    if beyond_domain:  # they are asked for
        return told, left_out
    return [replace(each, made_up=any(map(changes.is_made_up, values_put(each)))) for each in told], left_out


def count_outside(data: Any, domain: Any) -> int:
    """Return how many records of the data lie outside of a declared domain."""
    if data is None or domain is None:
        return 0
    dataset = _dataset_with_pattern(data, domain)
    return int(np.count_nonzero(outside(dataset, column_domains(domain, dataset))))


def _tiny(data: Any, relation: Relation, domain: Any, limit: int) -> list[LazyPair]:
    """All tiny pairs over a declared domain; none for data that are one value, or a set, or hold no record."""
    if data is None or (domain is not None and isinstance(data, list) and not data):
        return tiny_pairs(domain, relation, limit=limit)
    if domain is None or isinstance(data, set | frozenset):
        return []
    if relation.kind == "queries":
        return tiny_pairs(domain, relation, limit=limit) if isinstance(data, list) else []
    dataset = dataset_of(data)
    known = dataset.size or not isinstance(dataset, Listed | Mapped)
    return tiny_pairs(domain, relation, limit=limit, like=data) if known and not isinstance(dataset, Single) else []


def _dataset_with_pattern(data: Any, domain: Any) -> Dataset:
    """Read the data; if a list holds no record, the domain defines what a record looks like."""
    dataset = dataset_of(data)
    if dataset.size or not isinstance(dataset, Listed | Mapped):
        return dataset
    if domain is None:
        raise UsageError(
            "the data hold no record, and nothing says what one looks like; give data with a record, "
            "or a domain: {'age': (0, 120)}, or (0, 1)"
        )
    return dataset_of(data, pattern=pattern_of(domain))


def _possible(pairs: Iterable[LazyPair], dataset: Dataset, relation: Relation) -> list[LazyPair]:
    """The candidates that are possible: sets hold no equal records, and single values have no other size.

    Of several people who are replaced one may be as before, and then stays where it was.
    """
    if isinstance(dataset.data, set | frozenset) or (relation.person is not None and relation.group > 1):
        return [one for one in pairs if relation.accepts(*one.pair())]
    if isinstance(dataset, Single):
        return [one for one in pairs if one.kind in ("extreme", "code", "behind the code", "outlier", "odd value")]
    return list(pairs)


def _article(data: Any) -> str:
    name = type(data).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _limited(pairs: list[LazyPair], limit: int) -> tuple[list[LazyPair], int]:
    """Keep at most ``limit`` candidates: of every kind the first of each sort, the kinds taking turns."""
    by_kind = {kind: _spread([one for one in pairs if one.kind == kind]) for kind in KINDS}
    turns = itertools.zip_longest(*by_kind.values())
    kept = set(map(id, itertools.islice((one for turn in turns for one in turn if one is not None), limit)))
    told = _told_apart([one for kind in by_kind.values() for one in kind if id(one) in kept])
    return told, len(pairs) - len(told)


def _spread(pairs: list[LazyPair]) -> list[LazyPair]:
    """The first of each sort, then the second of each, and so on, so that never a whole sort is left out."""
    turns: Counter[str] = Counter()
    placed = []
    for one in pairs:
        turns[one.sort] += 1
        placed.append((turns[one.sort], one))
    return [one for _, one in sorted(placed, key=lambda each: each[0])]


def _told_apart(pairs: list[LazyPair]) -> list[LazyPair]:
    """Number candidates that share a name, for example if two columns do."""
    names: Counter[str] = Counter()
    apart = []
    for one in pairs:
        names[one.name] += 1
        apart.append(one if names[one.name] == 1 else replace(one, name=f"{one.name} ({names[one.name]})"))
    return apart

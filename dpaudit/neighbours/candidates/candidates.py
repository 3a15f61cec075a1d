"""Which neighbours of a user's data should be tried first?

Nobody knows the worst pair of a release that they did not write. These are the pairs on which releases commonly go
wrong: an extreme record more or less, a far outlier, an odd value of the column's own type, a person twice, almost no
records left, all records equal, another order besides a change; over a declared domain, all tiny datasets too. Every
candidate is a pair of neighbours; none is built before it is needed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.candidates.changes import Changes
from dpaudit.neighbours.candidates.exhaustive import tiny_pairs
from dpaudit.neighbours.candidates.lazy_pair import LazyPair, values_put
from dpaudit.neighbours.candidates.queries import answer_candidates
from dpaudit.neighbours.candidates.shrink import smaller
from dpaudit.neighbours.dataset import Listed, Mapped, Single, dataset_of
from dpaudit.neighbours.domain import blank, column_domains, outside, pattern_of
from dpaudit.neighbours.records import Dataset
from dpaudit.neighbours.relation import Relation, parse_relation

__all__ = ["KINDS", "LazyPair", "candidates", "count_outside", "smaller"]

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
        found = [] if data is None else answer_candidates(data, relation, domain=None if beyond_domain else domain)
        return _limited([*found, *_tiny(data, relation, domain, listed)], limit)
    dataset = blank(domain) if data is None else _read(data, domain)
    if isinstance(dataset, Single) and (relation.kind != "replace" or relation.person is not None):
        raise UsageError(
            f"the relation {str(relation)!r} needs records, and {_article(data)} holds none; give a list, an array, "
            "a frame or a mapping, or the relation 'replace' for one value"
        )
    domains = column_domains(domain, dataset)
    usable = np.ones(dataset.size, dtype=bool) if beyond_domain else ~outside(dataset, domains)
    changes = Changes(dataset, relation, domains, usable, beyond_domain, np.random.default_rng(seed), numbers)
    found = [*_possible(changes.found(limit), dataset, relation), *_tiny(data, relation, domain, listed)]
    if not found:
        raise UsageError(
            f"no neighbour of this {type(data).__name__} can be made under {str(relation)!r}: it holds nothing that "
            "could change within its type and domain; declare a wider domain, or give pairs"
        )
    told, left_out = _limited(found, limit)
    if beyond_domain:  # they are asked for
        return told, left_out
    return [replace(each, made_up=any(map(changes.is_made_up, values_put(each)))) for each in told], left_out


def count_outside(data: Any, domain: Any) -> int:
    """Return how many records of the data lie outside of a declared domain."""
    if data is None or domain is None:
        return 0
    dataset = _read(data, domain)
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


def _read(data: Any, domain: Any) -> Dataset:
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


def _possible(found: Iterable[LazyPair], dataset: Dataset, relation: Relation) -> list[LazyPair]:
    """The candidates that are possible: sets hold no equal records, and single values have no other size."""
    if isinstance(dataset.data, set | frozenset):
        return [one for one in found if relation.accepts(*one.pair())]
    if isinstance(dataset, Single):
        return [one for one in found if one.kind in ("extreme", "code", "behind the code", "outlier", "odd value")]
    return list(found)


def _article(data: Any) -> str:
    name = type(data).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _limited(found: list[LazyPair], limit: int) -> tuple[list[LazyPair], int]:
    """Keep at most ``limit`` candidates: of every kind the first of each sort, the kinds taking turns."""
    by_kind = {kind: _spread([one for one in found if one.kind == kind]) for kind in KINDS}
    turns = itertools.zip_longest(*by_kind.values())
    kept = set(map(id, itertools.islice((one for turn in turns for one in turn if one is not None), limit)))
    told = _told_apart([one for kind in by_kind.values() for one in kind if id(one) in kept])
    return told, len(found) - len(told)


def _spread(found: list[LazyPair]) -> list[LazyPair]:
    """The first of each sort, then the second of each, and so on, so that never a whole sort is left out."""
    turns: Counter[str] = Counter()
    placed = []
    for one in found:
        turns[one.sort] += 1
        placed.append((turns[one.sort], one))
    return [one for _, one in sorted(placed, key=lambda each: each[0])]


def _told_apart(found: list[LazyPair]) -> list[LazyPair]:
    """Number candidates that share a name, for example if two columns do."""
    names: Counter[str] = Counter()
    apart = []
    for one in found:
        names[one.name] += 1
        apart.append(one if names[one.name] == 1 else replace(one, name=f"{one.name} ({names[one.name]})"))
    return apart

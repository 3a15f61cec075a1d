"""On which neighbours does the noise have to move farthest? A few runs for each candidate, the worst of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.neighbours import Relation
from dpaudit.neighbours.candidates.candidates import LazyPair, chosen
from dpaudit.privacy import Claim
from dpaudit.tracing.findings import Traced, Word
from dpaudit.tracing.pair import trace_pair
from dpaudit.tracing.runs import Target

_FIRST = 8  # candidates whose time says how many can be tried
_LEAST = 20
DRAWN = 1 / 3
"""How many pairs over a domain are drawn for each candidate that was tried."""


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The pair on which most was found.

    Attributes:
        pair: the two datasets.
        name: what changes between them, without a value of the data.
        tried: how many candidates were traced; left_out: how many more were thought of.
        rank: by which the worst of several is the largest (`Path.rank`); None where no noise was followed.
        seconds: how long the last run took.
    """

    pair: tuple[Any, Any]
    name: str
    tried: int
    left_out: int
    rank: tuple[int, float] | None
    seconds: float


def worst_neighbours(
    target: Target,
    data: Any,
    relation: Relation,
    claim: Claim | None,
    *,
    domain: Any,
    beyond: bool,
    seed: int,
    most: int,
    seconds: float | None,
    tell: Callable[[int, int], None],
) -> FoundPair:
    """Return the neighbours of a dataset on which a few runs show most.

    Args:
        target: what is run.
        data: the dataset; None where there is a domain alone.
        relation: which datasets are neighbours.
        claim: what is claimed.
        domain, beyond: what records may hold, as for `dpaudit.audit`.
        seed: of the noise, and of the sample of records.
        most: how many candidates are tried at most.
        seconds: how long that may take, about; None for as long as it takes.
        tell: called with how many are done, and of how many.

    Raises:
        UsageError: for data that have no neighbours under the relation.
    """

    def listed(limit: int) -> tuple[list[LazyPair], int]:
        return chosen(data, relation, domain=domain, beyond_domain=beyond, seed=seed, limit=limit)

    found, left_out = listed(most)
    if seconds is not None:
        affordable = _affordable(target, found, claim, seed, seconds if domain is None else seconds / (1 + DRAWN))
        if affordable < len(found):
            found, left_out = listed(affordable)
    best = worst_pair(target, [each.pair for each in found], claim, seed=seed, tell=tell)
    chosen_pair = found[0 if best is None else best.place]
    rank = None if best is None else best.rank
    return FoundPair(chosen_pair.pair(), chosen_pair.name, len(found), left_out, rank, target.seconds)


@dataclass(frozen=True, slots=True)
class Worst:
    """The pair of several on which a few runs show most.

    Attributes:
        place: which it is.
        word: what they show.
        tried: how many were looked at; ``runs``: executions for all of them.
        rank: by which the worst of several is the largest (`Path.rank`).
    """

    place: int
    word: Word
    tried: int
    runs: int
    rank: tuple[int, float] = (-1, 0.0)


def worst_pair(
    target: Target,
    pairs: Sequence[Callable[[], tuple[Any, Any]]],
    claim: Claim | None,
    *,
    seed: int,
    most: int | None = None,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Worst | None:
    """Return the pair on which a few runs show most, or None where the first of them show that no noise is followed.

    Args:
        target: what is run.
        pairs: makes each of them.
        claim: what is claimed.
        seed: of the noise.
        most: after how many executions no further pair is looked at; None for no limit.
        tell: called with how many are done, and of how many.
    """
    best, word, rank, before = 0, Word.NOT_SEEN, (-1, 0.0), target.runs
    for number, make in enumerate(pairs):
        worst = trace_pair(target, make(), claim, seed=seed, quick=True).worst
        if worst.rank > rank:
            best, word, rank = number, worst.word, worst.rank
        tell(number + 1, len(pairs))
        if number + 1 == _FIRST and word is Word.NOT_SEEN:
            return None
        if most is not None and target.runs - before >= most:
            break
    return Worst(best, word, number + 1, target.runs - before, rank) if pairs else None


def _affordable(target: Target, found: Sequence[LazyPair], claim: Claim | None, seed: int, seconds: float) -> int:
    """Return how many pairs can be tried in about so many seconds; where a run is slow, in half of them."""
    began, took = time.perf_counter(), 0.0
    for number, each in enumerate(found[:_FIRST]):
        _quick(target, each, claim, seed)
        took = (time.perf_counter() - began) / (number + 1)
        if took * _LEAST > seconds:  # what follows takes the other half: the pair itself has six times as many runs
            return max(int(seconds / 2 / took), 1)
    return max(int(seconds / max(took, 1e-9)), _LEAST)


def _quick(target: Target, each: LazyPair, claim: Claim | None, seed: int) -> None:
    trace_pair(target, each.pair(), claim, seed=seed, quick=True)


def worst_of(traced: Sequence[Traced]) -> int:
    """Return the place of the pair on which most was found."""
    return max(range(len(traced)), key=lambda place: traced[place].worst.rank)

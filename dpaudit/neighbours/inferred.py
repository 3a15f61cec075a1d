"""Under which relation are pairs neighbours, if none is stated? One step of a relation, or a refusal.

A pair that is not a pair of neighbours makes a correct mechanism look broken, so pairs are checked even if no relation
is stated. Datasets that differ in one record are neighbours under ``add-remove`` or ``replace``, and numbers that are
at most 1 apart under ``queries``. Anything else has to be stated; nothing is ever assumed to be "declared".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.neighbours.difference import difference, listed
from dpaudit.neighbours.relation import Relation, parse_relation

_ONE_STEP = (Relation("add-remove"), Relation("replace"))
_SAY = "say which datasets are neighbours (relation=…, or --relation on the command line)"
_FURTHER = (
    f"{_SAY}: 'add-remove(group=K)' or 'replace(group=K)' for K records, 'add-remove(person=COLUMN)' for all records "
    "of a person, 'queries' for lists of answers that move by at most 1 each, or 'declared' if you vouch for the pair"
)


def inferred(pairs: Sequence[tuple[Any, Any]]) -> Relation:
    """Return the relation under which each of these pairs is one step.

    Raises:
        UsageError: if a pair is not a single step, or if pairs are steps of several kinds.
    """
    found = list(dict.fromkeys(_of(data0, data1) for data0, data1 in pairs))
    if len(found) > 1:
        kinds = " and ".join(f"{str(relation)!r}" for relation in found)
        raise UsageError(f"no relation is stated, and the pairs are neighbours under {kinds}; {_SAY}, for all of them")
    return found[0]


def as_pairs(given: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return pairs of datasets as tuples; raises `UsageError` for anything that is not a pair."""
    for pair in given:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise UsageError(f"a pair is two datasets, (data0, data1), not {pair!r:.80}")
    return [(pair[0], pair[1]) for pair in given]


def neighbouring(said: str | Relation | None) -> Callable[[tuple[Any, Any]], bool]:
    """Return a function that checks a pair under the stated relation, or without one as a single step."""
    if said is None:
        return _is_one_step
    relation = parse_relation(said)
    return lambda pair: relation.accepts(*pair)


def _is_one_step(pair: tuple[Any, Any]) -> bool:
    try:
        _of(*pair)
    except UsageError:
        return False
    return True


def _of(data0: Any, data1: Any) -> Relation:
    number0, number1 = _number(data0), _number(data1)
    if number0 is not None and number1 is not None:
        return _of_numbers(number0, number1)
    if isinstance(data0, bool | np.bool_) and isinstance(data1, bool | np.bool_) and data0 != data1:
        return Relation("replace")
    if listed(data0) is None or listed(data1) is None:
        what = data0 if listed(data0) is None else data1
        raise UsageError(
            f"no relation is stated, and {what!r:.60} is no list, array, frame or mapping of records; {_SAY}: "
            "'replace' for the local model, where a value is one person's, or 'declared' if you vouch for the pair"
        )
    for relation in _ONE_STEP:
        if relation.accepts(data0, data1):
            return relation
    raise UsageError(f"no relation is stated, and the pair is no single step: {_apart(data0, data1)}; {_FURTHER}")


def _of_numbers(number0: float, number1: float) -> Relation:
    """A number is an answer, or a person's value: within 1, both readings make two numbers neighbours."""
    apart = abs(number0 - number1)
    if 0 < apart <= 1:
        return Relation("queries")
    if apart == 0:
        raise UsageError("both sides of a pair are the same number; give a pair of neighbours")
    raise UsageError(
        f"no relation is stated, and the numbers {number0:g} and {number1:g} lie {apart:g} apart; {_SAY}: 'replace' "
        "where a number is one person's value (the local model), 'queries(group=K)' where it is an answer that K "
        "steps move, or 'declared' if you vouch for the pair"
    )


def _number(value: Any) -> float | None:
    """A plain number; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _apart(data0: Any, data1: Any) -> str:
    found = difference(data0, data1)
    if found is None:
        return "records of the two cannot be compared"
    if not found.gone and not found.come:
        return "both sides hold the same records"
    return f"{len(found.gone)} records stand on side 0 alone, and {len(found.come)} on side 1 alone"

"""Is there a worse pair in a declared domain, beyond the neighbours of these data?

Hypothesis draws small datasets over the domain and their neighbours, and its `target` continues from those that show
most: hill climbing over whole datasets, with the predicted bound from a few hundred runs as the height. The data may be
far from where a release goes wrong, and a domain says where data may be. The same datasets are drawn every time; only
the runs are random, and they have streams of their own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from dpaudit.auditing.search.race import Pair, Race, RacedPair
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.neighbours import Relation

# chosen for small datasets; no benchmark measures climbing alone
_TRIALS = 160
_LEAST, _MOST = 128, 2_000  # runs of a trial
_FINAL = 4  # the final comparison makes so many times the runs of a trial
_MOST_RECORDS = 6
_FIRST = 3_000_000  # number of the first pair tried, above those of all other pairs


def climb(
    race: Race,
    found: RacedPair,
    data: Any,
    domain: Any,
    relation: Relation,
    runs: int,
) -> tuple[Callable[[], Pair] | None, int]:
    """Look for a pair over the domain that shows more than the best one so far.

    The best of many trials is mostly the luckiest one, so it has to beat the other pair on fresh runs of both.

    Args:
        race: makes the runs.
        found: the best pair so far.
        data: the type and the columns of the datasets to draw.
        domain: what their records may hold.
        relation: which datasets are neighbours.
        runs: the largest number of runs to spend.

    Returns:
        A function that makes the better pair, or None; and how many pairs were tried.
    """
    each = min(max(runs // (_TRIALS + 2 * _FINAL), _LEAST), _MOST)
    trials = runs // each - 2 * _FINAL
    if trials < 1:
        return None, 0
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    best, tried = _climbed(look, data, domain, relation, trials)
    if best is None or look(best, _FINAL) <= look(found.make(), _FINAL):
        return None, tried
    higher = best
    return (lambda: higher), tried


def _climbed(
    look: Callable[[Pair], float], data: Any, domain: Any, relation: Relation, trials: int
) -> tuple[Pair | None, int]:
    """Return the highest pair that Hypothesis finds, and how many it drew."""
    from hypothesis import HealthCheck, Phase, given, settings, target

    from dpaudit.strategies import pairs

    best: Pair | None = None
    height, tried = -math.inf, 0
    stopped: list[Exception] = []

    @settings(
        max_examples=trials,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs(relation, domain=domain, like=data, max_size=_MOST_RECORDS))
    def search(pair: Pair) -> None:
        nonlocal best, height, tried
        if stopped or tried >= trials:
            return
        tried += 1
        try:
            seen = look(pair)
        except (UsageError, InvalidRunsError) as error:  # Hypothesis would run a failing example again
            stopped.append(error)
            return
        if seen > height:
            best, height = pair, seen
        if math.isfinite(seen):
            target(seen)

    search()
    if stopped:
        raise stopped[0]
    return best, tried

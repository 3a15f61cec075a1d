"""Is there a worse pair in a declared domain, beyond the neighbours of these data?

Hypothesis draws small datasets over the domain and their neighbours, and its `target` continues from those that show
most: hill climbing over whole datasets, with the predicted bound from a few hundred runs as the height. The data may be
far from where a release goes wrong, and a domain says where data may be. The same datasets are drawn every time; only
the runs are random, and they have streams of their own. Where noise is followed, the cost of the alignment that a
replay finds is the height, for a few runs a pair.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from dpaudit.auditing.search.race import Pair, Race, RacedPair
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.neighbours import Relation
from dpaudit.privacy import Claim
from dpaudit.tracing.findings import Word
from dpaudit.tracing.pair import trace_pair
from dpaudit.tracing.runs import Target
from dpaudit.tracing.search import Worst, is_edge

# chosen for small datasets; no benchmark measures climbing alone
_TRIALS = 160
_LEAST, _MOST = 128, 2_000  # runs of a trial
_FINAL = 4  # the final comparison makes so many times the runs of a trial
_MOST_RECORDS = 6
_HIGHEST = 1e9  # cost of an alignment, which may be infinite
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


def climb_by_replay(
    target: Target,
    claim: Claim | None,
    data: Any,
    domain: Any,
    relation: Relation,
    *,
    seed: int,
    above: tuple[int, float],
    trials: int,
) -> tuple[Pair | None, Worst, int]:
    """Look for a pair over the domain on which noise has to move farther than on the best one so far."""
    best: Pair | None = None
    found = Worst(0, Word.NOT_SEEN, 0, 0, above)
    before = target.runs

    def look(pair: Pair) -> float:
        nonlocal best, found
        worst = trace_pair(target, pair, claim, seed=seed, quick=True).worst
        if worst.rank > found.rank and not is_edge(pair, worst):
            best, found = pair, Worst(0, worst.word, 0, 0, worst.rank)
        priced = worst.price is not None or worst.stretch > 0
        return min(worst.rank[1], _HIGHEST) if priced and worst.word is not Word.NOT_PRICED else -math.inf

    tried = 0 if trials < 1 else _climbed(look, data, domain, relation, trials)[1]
    return best, replace(found, tried=tried, runs=target.runs - before), tried


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

    with _nothing_kept():
        search()
    if stopped:
        raise stopped[0]
    return best, tried


@contextlib.contextmanager
def _nothing_kept() -> Iterator[None]:
    """Let Hypothesis keep its tables of characters and constants in a folder that is gone afterwards.

    Otherwise it makes a folder ``.hypothesis`` in the user's working directory, which nobody asked for.
    """
    from hypothesis import configuration

    before = getattr(configuration, "__hypothesis_home_directory", None)
    with tempfile.TemporaryDirectory(prefix="dpaudit-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)

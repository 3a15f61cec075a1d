"""Is there a simpler pair that reveals as much? The smaller the data, the clearer the reason.

Simpler pairs of the same relation are tried on search runs, the boldest simplification first, and each one that shows
about as much replaces the pair before it. What "about as much" means is fixed beforehand, by runs of the pair that the
search chose. Finally that pair and the simplest one are run afresh, and the simpler one is kept only if it still shows
as much: the luckiest of many trials must not decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from dpaudit.auditing.search.race import Pair, Race, RacedPair

# chosen for a few dozen trials; no benchmark measures shrinking alone
_TRIALS = 30  # planned, approximately
_LEAST, _MOST = 512, 4_000  # runs of a trial
_FINAL = 2  # the final comparison makes so many times the runs of a trial
_KEPT = 0.6  # share of what the pair shows beyond the claim that a simpler one must show; allows for noise
_FIRST = 1_000_000  # number of the first pair tried, above those of all candidates


def shrink(
    race: Race,
    found: RacedPair,
    simpler: Callable[[Pair], Iterable[Pair]],
    claimed: float,
    runs: int,
) -> tuple[Pair, int]:
    """Return the simplest pair found, and how many steps led to it.

    Nothing is tried unless the pair clearly shows more than is claimed: otherwise there is nothing to explain.
    """
    start = race.runs
    each = min(max(runs // _TRIALS, _LEAST), _MOST)
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    pair, steps = found.make(), 0
    if not each <= runs or (found.runs and not found.predicted > claimed):
        return pair, 0
    shown = look(pair)
    if not shown > claimed:
        return pair, 0
    least = claimed + _KEPT * (shown - claimed)
    original = pair

    def affordable() -> bool:
        return race.runs - start + (1 + 2 * _FINAL) * each <= runs

    going = True
    while going:
        going = False
        for other in simpler(pair):
            if not affordable():
                break
            if look(other) >= least:
                pair, steps, going = other, steps + 1, True
                break
    if steps and look(pair, _FINAL) < claimed + _KEPT * (look(original, _FINAL) - claimed):
        return original, 0
    return pair, steps

"""Is there a simpler pair that gives as much away? The smaller the data, the plainer the reason.

Simpler pairs of the same relation are tried on search runs, the boldest first, and each that is about as telling takes
the place of the one before. What "about as telling" means is fixed before, by runs of the pair that the search chose;
in the end that pair and the simplest one are run afresh, and the simpler one stays only if it holds up: the luckiest of
many trials may not decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from dpaudit.auditing.search.race import Pair, Race, RacedPair

_TRIALS = 30  # that the runs are for, about
_LEAST, _MOST = 512, 4_000  # runs of a trial
_FINAL = 2  # times the runs of a trial, for the last look
_KEPT = 0.6  # of what the pair shows beyond the claim; the rest is room for the noise of a trial
_FIRST = 1_000_000  # number of the first pair tried, beyond those of all candidates


def shrink(
    race: Race,
    found: RacedPair,
    simpler: Callable[[Pair], Iterable[Pair]],
    claimed: float,
    runs: int,
) -> tuple[Pair, int]:
    """Return the simplest pair found, and how many steps led there.

    Args:
        found: the pair that the search chose.
        simpler: yields simpler pairs of the same relation, the boldest first.
        claimed: the value of the claim, beyond which the pair must still show something; 0 without a claim.
        runs: the most that may be spent.

    Nothing is tried where the pair does not clearly show more than is claimed: there is nothing to explain then.
    """
    start = race.runs
    each = min(max(runs // _TRIALS, _LEAST), _MOST)
    numbers = itertools.count(_FIRST)

    def look(pair: Pair, times: int = 1) -> float:
        return race.shown_by(next(numbers), pair, times * each // 2)

    pair, steps = found.make(), 0
    if not each <= runs or (found.runs and not found.outlook > claimed):
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

"""What would this pair probably show, at a first glance? One number from a few hundred runs, to compare pairs by.

A search looks at hundreds of pairs, most of them in vain, so a glance tries far fewer events than `choose` does: single
thresholds along every order of cells, and a few pairs of thresholds. Its number is the *penalised predicted bound* of
the best of them. The penalty is heavy, because pairs are compared by it: the best of many pairs is mostly the luckiest
one, if luck is not taken off. It only ever chooses among pairs, and proves nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.attack.families import Fitted, families
from dpaudit.attack.ladder import FEW_CELLS, Ladder, by_position, by_ratio
from dpaudit.attack.predict import predicted_bound
from dpaudit.game.outputs import Outputs
from dpaudit.privacy import Claim

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

_PENALTY, _PENALTY_FEW = 4.5, 2.0  # standard deviations of doubt; over a few categories there is less to be lucky in
_THRESHOLDS, _PAIRED = 48, 14  # rungs tried alone, and in pairs


def glance(outputs0: Outputs, outputs1: Outputs, *, claim: Claim, measuring: int, error: float) -> float:
    """Return the bound that measuring the best event of a quick look would probably give, less a heavy penalty.

    Args:
        outputs0, outputs1: runs of side 0 and of side 1; the sides may have very different numbers of runs.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that would measure the event.
        error: the error level of the bound.

    Returns:
        The prediction; negative where nothing would be shown, and −inf where too few runs say anything.
    """
    if not len(outputs0) or not len(outputs1):
        return -np.inf
    best = -np.inf
    for item in families(outputs0, outputs1, quick=True):
        for ladder, penalty in _ladders(item):
            best = max(best, _best(ladder, penalty, claim, measuring, error))
    return float(best)


def _ladders(item: Fitted) -> list[tuple[Ladder, float]]:
    cells = item.partition.telling
    if item.ordered:
        return [(by_position(cells, item.counts, item.apart, rising=rising), _PENALTY) for rising in (True, False)]
    penalty = _PENALTY_FEW if len(cells) <= FEW_CELLS else _PENALTY
    return [(by_ratio(cells, item.first, item.second), penalty)]


def _best(ladder: Ladder, penalty: float, claim: Claim, measuring: int, error: float) -> float:
    alone, coarse = ladder.spread(_THRESHOLDS), ladder.spread(_PAIRED)
    runs0, runs1 = (max(ladder.known * total, 1.0) for total in (ladder.total0, ladder.total1))
    n = np.array([[runs0], [runs1]])
    front0, front1, back0, back1 = ladder.rates(alone)
    p, q = np.stack([front0, back1]), np.stack([front1, back0]) + ladder.slack[alone] / n[::-1]
    single = predicted_bound(
        p, q, n, n[::-1], ahead=measuring / 2, claim=claim, error=error, penalty=penalty, two_sided=False
    )
    # right and wrong guesses are averages over both sides; with as much doubt as so many runs of a fair coin have
    both = 4 / (1 / runs0 + 1 / runs1)
    first, second = (coarse[index] for index in np.triu_indices(len(coarse)))
    front0, front1, _, _ = ladder.rates(first)
    _, _, back0, back1 = ladder.rates(second)
    slack = (ladder.slack[first] + ladder.slack[second]) / both
    paired = predicted_bound(
        (front0 + back1) / 2,
        (front1 + back0) / 2 + slack,
        both,
        both,
        ahead=measuring,
        claim=claim,
        error=error,
        penalty=penalty,
        two_sided=True,
    )
    # an event with p + q > 1 says less than its complement, which is also tried
    return max(float(np.max(np.where(p + q <= 1, single, -np.inf))), float(np.max(paired)))

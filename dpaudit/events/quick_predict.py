"""What bound would this pair probably give? A quick prediction from a few hundred runs, to compare pairs.

A search examines hundreds of pairs, most of them in vain, so it tries far fewer events than `choose` does: single
thresholds along every order of cells, and a few pairs of thresholds. The *penalised predicted bound* of the best of
them is one half of the prediction. The penalty is large because pairs are compared by it: without it, the best of many
pairs is mostly the luckiest one. But few runs hardly show tails, where many releases reveal most, and under that
penalty tails count for nothing. So the other half is what a smooth loss predicts that is fitted to all of the runs,
however few of them are in the tails. The prediction is only used to choose among pairs, and proves nothing.
"""

from __future__ import annotations

import numpy as np

from dpaudit.events.candidate_partitions import FittedPartition, families
from dpaudit.events.likelihood_order import FEW_CELLS, LikelihoodOrder, by_position, by_ratio, smooth_loss
from dpaudit.events.predict import predicted_bound
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs

# measured by benchmarks/search.py
_PENALTY, _PENALTY_FEW = 4.5, 2.0  # standard deviations; a few categories leave less room for luck
_THRESHOLDS, _PAIRED = 48, 14  # thresholds tried alone, and in pairs
_LEAST_TAIL, _TAILS = 5, 24  # runs in the smallest tail of a smooth loss, and number of tails tried
_KNOWN = 1e9  # runs that a smooth loss counts as, because its uncertainty is subtracted separately


def quick_predict(outputs0: Outputs, outputs1: Outputs, *, claim: Claim, measuring: int, error: float) -> float:
    """Return the predicted bound of a pair: the mean of a counted and a smooth prediction for the best event.

    Args:
        outputs0, outputs1: runs of side 0 and of side 1, whose numbers may differ widely.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that would measure the event.
        error: the error level of the bound.

    Returns:
        The prediction; negative if nothing would be shown, and −inf if too few runs say anything.
    """
    if not len(outputs0) or not len(outputs1):
        return -np.inf
    counted = smooth = -np.inf
    for item in families(outputs0, outputs1, quick=True):
        for ordering, penalty in _orderings(item):
            counted = max(counted, _best(ordering, penalty, claim, measuring, error))
        if item.ordered:
            smooth = max(smooth, _smooth(item, claim, measuring, error))
    return float((counted + max(counted, smooth)) / 2)


def _smooth(item: FittedPartition, claim: Claim, measuring: int, error: float) -> float:
    """The bound that the best tail would probably show if the loss were smooth, minus one standard deviation."""
    smooth = smooth_loss(item.places, item.counts)
    total0, total1 = (max(float(side.sum()), 1.0) for side in item.counts)
    tails = []  # (p, q, q with the doubt about it), all predicted at once
    for order in (slice(None), slice(None, None, -1)):
        runs, share, basis = smooth.runs[order], smooth.share[order], smooth.basis[order]
        caught = np.cumsum(runs)
        sizes = np.geomspace(_LEAST_TAIL, max(caught[-1], _LEAST_TAIL), _TAILS, endpoint=False)
        at = np.unique(np.minimum(np.searchsorted(caught, sizes), len(runs) - 1))
        tail0, tail1 = np.cumsum(runs * share)[at] / total0, np.cumsum(runs * (1 - share))[at] / total1
        mean = np.cumsum(runs[:, None] * basis, axis=0)[at] / np.maximum(caught[at], 1.0)[:, None]
        off = np.exp(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", mean, smooth.doubt, mean), 0.0)))
        tails += [(p, q, np.minimum(q * off, 1.0)) for p, q in ((tail0, tail1), (tail1, tail0))]
    p, q, high = (np.concatenate(column) for column in zip(*tails, strict=True))
    shown = predicted_bound(
        p, high, _KNOWN, _KNOWN, ahead=measuring / 2, claim=claim, error=error, penalty=0.0, two_sided=False
    )
    return float(np.max(np.where(p + q <= 1, shown, -np.inf)))


def _orderings(item: FittedPartition) -> list[tuple[LikelihoodOrder, float]]:
    cells = item.partition.telling
    if item.ordered:
        return [(by_position(cells, item.counts, item.apart, rising=rising), _PENALTY) for rising in (True, False)]
    penalty = _PENALTY_FEW if len(cells) <= FEW_CELLS else _PENALTY
    return [(by_ratio(cells, item.first, item.second), penalty)]


def _best(ordering: LikelihoodOrder, penalty: float, claim: Claim, measuring: int, error: float) -> float:
    alone, coarse = ordering.spread(_THRESHOLDS), ordering.spread(_PAIRED)
    runs0, runs1 = (max(ordering.known * total, 1.0) for total in (ordering.total0, ordering.total1))
    n = np.array([[runs0], [runs1]])
    above0, above1, below0, below1 = ordering.rates(alone)
    p, q = np.stack([above0, below1]), np.stack([above1, below0]) + ordering.slack[alone] / n[::-1]
    single = predicted_bound(
        p, q, n, n[::-1], ahead=measuring / 2, claim=claim, error=error, penalty=penalty, two_sided=False
    )
    # right and wrong guesses are averages over both sides, as uncertain as those of so many runs of a fair coin
    both = 4 / (1 / runs0 + 1 / runs1)
    first, second = (coarse[index] for index in np.triu_indices(len(coarse)))
    above0, above1, _, _ = ordering.rates(first)
    _, _, below0, below1 = ordering.rates(second)
    slack = (ordering.slack[first] + ordering.slack[second]) / both
    paired = predicted_bound(
        (above0 + below1) / 2,
        (above1 + below0) / 2 + slack,
        both,
        both,
        ahead=measuring,
        claim=claim,
        error=error,
        penalty=penalty,
        two_sided=True,
    )
    # an event with p + q > 1 shows less than its complement, which is also tried
    return max(float(np.max(np.where(p + q <= 1, single, -np.inf))), float(np.max(paired)))

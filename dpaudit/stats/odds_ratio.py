"""How large must ε be, given how often a rare event occurred on each side?

k of n runs of one side and l of m runs of the other show an event with probabilities p and q. Given k + l, the count k
follows Fisher's noncentral hypergeometric distribution, which depends on p and q only through the odds ratio ψ = p(1 −
q)/(q(1 − p)): one parameter, so the test of ψ is exact given the sides, however many runs each has (Fisher 1935;
Cornfield 1956). And p/q = ψ·(1 − p)/(1 − q) ≥ ψ·(1 − p), so that under ε-DP

    ε ≥ log(p/q) ≥ log ψ + log(1 − p),

with ψ bounded from below at nearly the whole error level, and p from above at a fiftieth of it (Bonferroni). For a rare
event 1 − p costs nothing, and small counts lose less here than in the combination of two p-values
(`dpaudit.stats.joint_region`).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.clopper_pearson import probability_at_most
from dpaudit.stats.event_bound import CountedEvent, EventBound, Numbers, Rates, Weight, of_one_side, unlucky_bound
from dpaudit.stats.joint_region import EVEN, Joint, joint_weight

_CUT = 50  # p is bounded at error/50; chosen to cost little, like that of `joint_region`
_FARTHEST, _HALVINGS = 60.0, 60  # range of log ψ, and bisection steps within it
_ROUNDING = 1e-8  # relative; larger than the rounding error of any sum here
_MOST_COUNTS = 200_000  # beyond which an odds ratio is slow and gains nothing


def odds_bound(hits: int, runs: int, others: int, other_runs: int, error: float) -> float:
    """Return the lower bound of ε at confidence 1 − ``error`` (Cornfield 1956); 0.0 if nothing is shown.

    Args:
        hits, runs: count and runs of the side on which the event is likelier.
        others, other_runs: count and runs of the other side.
        error: 1 − confidence.

    Returns:
        ε in nats.
    """
    if hits <= 0:
        return 0.0
    most = float(probability_at_most(hits, runs, error / _CUT))
    if most >= 1:
        return 0.0
    odds = log_odds_at_least(hits, runs, others, other_runs, error * (1 - 1 / _CUT))
    return max(0.0, odds + math.log1p(-most))


def log_odds_at_least(hits: int, runs: int, others: int, other_runs: int, error: float) -> float:
    """Return the lower bound of log ψ (Cornfield 1956), or 0.0 if it is negative; by bisection, from below.

    Args:
        hits, runs, others, other_runs, error: as for `odds_bound`.

    Returns:
        The natural logarithm of the odds ratio.
    """
    total = hits + others
    counts = np.arange(max(0, total - other_runs), min(runs, total) + 1, dtype=np.float64)
    ways = _log_ways(runs, counts) + _log_ways(other_runs, total - counts)
    extreme = counts >= hits

    def unlikely(log_odds: float) -> bool:
        logs = ways + log_odds * counts
        weights = np.exp(logs - logs.max())
        return float(weights[extreme].sum()) <= error * (1 - _ROUNDING) * float(weights.sum())

    low, high = 0.0, _FARTHEST
    if not unlikely(low):
        return 0.0
    if len(counts) == 1:  # no other count was possible
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if unlikely(middle) else (low, middle)
    return low


def _log_ways(runs: int, counts: Floats) -> Floats:
    return np.asarray(gammaln(runs + 1) - gammaln(counts + 1) - gammaln(runs - counts + 1))


class OddsRatio(EventBound):
    """By the odds ratio of a one-sided event, given how often it occurred on both sides."""

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ε; arguments as for `EventBound.lower`."""
        return odds_bound(*of_one_side(counts), error)

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the largest value that some point of a joint region allows."""
        return Joint().upper(counts, claim, EVEN, error)

    def expected(self, rates: Rates, runs: tuple[float, float], claim: Claim, weight: Weight, error: float) -> float:
        """Return the expected bound; −∞ if computing it would take long."""
        counts = (rates[0] + rates[1]) * runs[0] + (rates[2] + rates[3]) * runs[1]
        return -math.inf if counts > _MOST_COUNTS else super().expected(rates, runs, claim, weight, error)

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the event."""
        p, q = event.rates(value)
        n, m = (max(round(times * runs), 1) for runs in event.runs)

        def bound(numbers: Numbers) -> float:
            return odds_bound(*numbers, event.error)

        return unlucky_bound(bound, p, q, n, m, joint_weight(p, q, n, m))

"""Which method will probably give the best bound for an event? Chosen from learning runs, like the event itself.

The methods are valid given the sides, and differ in their cost. For a two-sided event, guesses cost least if both sides
guess about equally often, and a joint region if they do not; for a one-sided event the odds ratio costs least if the
event is rare. Each bound is computed from the expected counts, and the best method is chosen.
"""

from __future__ import annotations

import numpy as np

from dpaudit.events.predict import event_weight, sensitivity
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import Rates
from dpaudit.stats.joint_region import two_sided_weight
from dpaudit.stats.methods import METHODS, BoundMethod, method_for

Chosen = tuple[str, float | None]


def same_everywhere(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


def method_for_one_side(p: float, q: float, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to one side."""
    weight = same_everywhere(event_weight(p, q, runs, claim))
    return _best("one", (p, 0.0, 0.0, q), runs, claim, weight, error)


def method_for_both_sides(rates: Rates, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to both sides."""
    a, b = (rates[0] + rates[2]) / 2, (rates[1] + rates[3]) / 2
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(a), np.array(b)))
    weight = same_everywhere(two_sided_weight(a, b, sum(runs), slope_p, slope_q))
    return _best("both", rates, runs, claim, weight, error)


def _best(sides: str, rates: Rates, runs: tuple[float, float], claim: Claim, weight: float, error: float) -> Chosen:
    """The method with the highest expected bound for such an event; the first among equals."""
    offered = [each for each in METHODS.values() if each.offered == sides and (claim.pure or not each.pure)]

    def expected(method: BoundMethod) -> float:
        return method.computed.expected(rates, runs, claim, weight, error)

    best = offered[0] if len(offered) == 1 else max(offered, key=expected)
    return method_for(best.name, max(runs)), weight if best.weights == "one" else None

"""How private is a mechanism at every ε at once?

Statements about the curve are chosen on the learning runs: δ at about a dozen values of ε, μ, and an attacker's power
at some false positive rates, each with the event that probably shows most of it. Fresh runs, the same ones that measure
the headline, give each statement a joint region at its share of the error level. These regions hold simultaneously, and
each bounds every point of the curve (`dpaudit.stats.curve`). The curve is a finding of its own: it does not share the
confidence of the verdict's bound, and never decides a verdict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from dpaudit.arrays import Floats
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import SelectedEvent, choose_each, families
from dpaudit.evidence.build import sampled_bound
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counts, Curve, Verdict, round_outward
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.curve import DeltaAt, PowerAt, about, delta_at_least, fnr_at_most, mu_at_least, region_of_bound
from dpaudit.stats.joint_region import ConfidenceRegion
from dpaudit.stats.methods import plain

# chosen by how close the curve of a Gaussian comes
_STATEMENTS = 12  # about δ at some ε, approximately
_STEPS = tuple(factor * 10.0**power for power in range(-3, 2) for factor in (1.0, 2.0, 2.5, 5.0))
_RATES = (0.01, 0.05, 0.25)
_FARTHEST, _HALVINGS = 64.0, 4  # of the search for the largest ε at which a δ is shown
_AS_GOOD = 0.93  # share of the best predicted δ at which a two-sided event, counted on all runs, is preferred
_DRAWN, _NEAREST = 101, 1e-4  # points of the drawn curves (smooth to the eye), and their smallest positive rate


# --- learning runs ---------------------------------------------------------------------------------------


def choose_statements(
    outputs0: Outputs, outputs1: Outputs, measuring: int, *, error: float, learn: str | None = None
) -> tuple[SelectedEvent, ...]:
    """Choose the statements about the curve, from learning runs alone."""
    level = error / (_STATEMENTS + len(_RATES) + 1)

    fitted = list(families(outputs0, outputs1, learn))
    useful: set[str] = set()

    def chosen(claims: Sequence[Claim], as_good: float = 1.0) -> list[tuple[SelectedEvent, float]]:
        found = choose_each(fitted, claims=claims, measuring=measuring, error=level, as_good=as_good)
        useful.update(choice.event.family for choice, _ in found)
        return found

    def shows(epsilon: float) -> bool:
        return chosen([DeltaAt(epsilon)])[0][1] > 0

    last = _last(shows)
    chosen([GaussianDP(0.0), PowerAt(_RATES[0])])
    # families that were best nowhere along the curve so far are not tried at every point
    fitted = [item for item in fitted if item.partition.family in useful]
    epsilons = _round_values(last)
    deltas = [DeltaAt(epsilon) for epsilon in epsilons]
    others = [GaussianDP(0.0), *(PowerAt(rate) for rate in _RATES)]
    notions = [*others, *deltas]
    joined: dict[Any, SelectedEvent] = {}
    for notion, (choice, _) in zip(notions, [*chosen(others), *chosen(deltas, _AS_GOOD)], strict=True):
        # enumerating a region would take a second, and there are many
        method = plain(choice.method)
        key = choice.event, method
        own = joined.get(key) or SelectedEvent(
            f"{notion.parameter} {notion}", choice.event, method, choice.weight, 0.0, ()
        )
        joined[key] = dataclasses.replace(own, share=own.share + 1 / len(notions))
    return tuple(joined.values())


def _round_values(last: float) -> list[float]:
    """Round values from 0 to ``last``, about `_STATEMENTS` of them, because round values are what people ask for."""
    step = next(step for step in _STEPS if last <= (_STATEMENTS - 1) * step)
    return [float(f"{step * i:.6g}") for i in range(int(last / step * (1 + 1e-9)) + 1)]


def _last(shows: Callable[[float], bool]) -> float:
    """The largest ε at which a positive δ will probably be shown, approximately."""
    high = 1.0
    while high < _FARTHEST and shows(high):
        high *= 2
    low = high / 2 if high > 1 else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if shows(middle) else (low, middle)
    return low


# --- measuring runs --------------------------------------------------------------------------------------


def statement(choice: SelectedEvent, counts: Counts, pair: int, error: float, assumes: tuple[str, ...]) -> Bound:
    """Return the bound that the counts of one chosen statement prove.

    Args:
        choice: the statement, with its event, method and share of the error level.
        counts: of its event, in measuring runs.
        pair: index of the pair.
        error: the error level of all statements of the pair together.
        assumes: what the bound takes on trust.

    Returns:
        The bound, rounded down.
    """
    parameter, _, notion = choice.name.partition(" ")
    own = about(parameter, notion)
    made = sampled_bound(
        0.0,
        own,
        method=choice.method,
        confidence=1 - error * choice.share,
        weight=choice.weight,
        counts=counts,
        event=choice.event,
        pair=pair,
        assumes=assumes,
    )
    value = float(region_of_bound(made).least(own.least))
    return msgspec.structs.replace(made, value=round_outward(value, "lower"))


def curve_of(statements: Sequence[Bound], confidence: float) -> Curve:
    """Return what the statements show of the curve, at the points needed to draw it."""
    regions = [region_of_bound(bound) for bound in statements]
    epsilons = tuple(float(f"{epsilon:.6g}") for epsilon in np.linspace(0, _reach(regions), _DRAWN))
    near = np.concatenate([np.geomspace(_NEAREST, 0.05, _DRAWN // 2), np.linspace(0.05, 0.95, _DRAWN // 2 + 1)[1:]])
    fprs = tuple(dict.fromkeys(float(f"{rate:.6g}") for rate in (0.0, *near, 1.0)))
    return Curve(
        confidence=confidence,
        statements=tuple(statements),
        epsilons=epsilons,
        deltas=tuple(round_outward(float(delta), "lower") for delta in delta_at_least(regions, epsilons)),
        fprs=fprs,
        fnrs=tuple(round_outward(float(fnr), "upper") for fnr in fnr_at_most(regions, fprs)),
        mu=round_outward(mu_at_least(regions), "lower"),
    )


def _reach(regions: Sequence[ConfidenceRegion]) -> float:
    """The smallest ε at which nothing is shown any more, rounded up to two digits; at least 1."""
    low, high = 0.0, 1.0
    while high < _FARTHEST and delta_at_least(regions, high) > 0:
        low, high = high, 2 * high
    while high - low > 0.01 * high and high > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at_least(regions, middle) > 0 else (low, middle)
    return float(f"{high * 1.005:.2g}")


@dataclass(frozen=True)
class PrivacyCurve:
    """Certified lower bounds of the whole privacy curve, all true at once with `confidence`."""

    evidence: Evidence  # the evidence that all of it is computed from
    _regions: tuple[ConfidenceRegion, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.evidence.verdict is Verdict.INVALID:
            raise InvalidRunsError(self.evidence.reason)
        object.__setattr__(self, "_regions", tuple(region_of_bound(bound) for bound in self.curve.statements))

    @property
    def curve(self) -> Curve:
        """The record of the curve."""
        if self.evidence.curve is None:
            raise UsageError("this evidence has no curve; audit with curve=True, or --curve")
        return self.evidence.curve

    @property
    def confidence(self) -> float:
        """The probability that all numbers here are valid at once."""
        return self.curve.confidence

    @property
    def mu(self) -> float:
        """If the mechanism keeps μ-GDP, then μ is at least this."""
        return self.curve.mu

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Points (fpr, fnr), by increasing false positive rate. No trade-off curve that the mechanism satisfies is
        above them.
        """
        return tuple(zip(self.curve.fprs, self.curve.fnrs, strict=True))

    def delta(self, epsilon: ArrayLike) -> Floats | float:
        """Return a lower bound of δ(ε) at any ε (nats, at least 0): a float for a number, else the shape of
        ``epsilon``.
        """
        return self._at(epsilon, "epsilon", np.inf, lambda at: delta_at_least(self._regions, at))

    def fnr(self, fpr: ArrayLike) -> Floats | float:
        """Return an upper bound of the smallest false negative rate, at any false positive rate from 0 to 1."""
        return self._at(fpr, "fpr", 1.0, lambda at: fnr_at_most(self._regions, at))

    @staticmethod
    def _at(given: ArrayLike, name: str, most: float, found: Callable[[Floats], Floats]) -> Floats | float:
        try:
            at = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is a number or an array of them, not {given!r:.80}") from None
        if not np.all((at >= 0) & (at <= most)):
            raise UsageError(f"{name} lies between 0 and {most:g}; {given!r:.80} does not")
        values = found(at)
        return float(values) if at.ndim == 0 else values

"""What do the shifts of one path cost together, and does the claim allow that?

Each noise that moves is a mechanism of its own, on this pair: Laplace noise of scale b that moves by c is the Laplace
mechanism of sensitivity |c| and so on; all of them are composed as independent. This is the price of *one alignment*:
an upper bound of what this path loses on this pair. Above the claim it refutes nothing by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from dpaudit.tracing.laws import DISCRETE_LAPLACE, LAPLACE
from dpaudit.tracing.shift import Shifted
from dpaudit.tracing.units import Stated

WITHIN, OVER, OPEN = "within", "over", "open"
_ROUNDING = 1e-7  # relative, by which floats may differ
_RECOGNISED = 0.03  # relative, by which the scale of recognised noise may be off
_MOST = 400  # different steps that are composed exactly


@dataclass(frozen=True, slots=True)
class Price:
    """What a shift costs."""

    epsilon: float  # Σ|c|/scale of all noise but Gaussian, with what choices cost and libraries state; in nats
    mu: float  # √Σ(c/σ)² of Gaussian noise; what is stated in ρ counts as μ = √(2ρ)
    answer: str  # whether the claim allows it: "within", "over", or "open" where that is not worked out
    delta: float = 0.0  # Σδ of what mechanisms of libraries state


def priced(moved: Sequence[Shifted], chance: float, claim: Claim | None, stated: Sequence[Stated] = ()) -> Price:
    """Return the price of a shift."""
    pure = [each for each in moved if each.law.cost == "pure"]
    epsilon = max(math.fsum(each.cost for each in pure) + chance, 0.0) + math.fsum(each.epsilon for each in stated)
    squares = [each.cost**2 for each in moved if each.law.cost == "gaussian"] + [each.mu**2 for each in stated]
    rho = math.fsum(each.rho for each in stated)
    mu = math.sqrt(math.fsum(squares) + 2 * rho)
    delta = math.fsum(each.delta for each in stated)
    if claim is None:
        return Price(epsilon, mu, OPEN, delta)
    slack = _RECOGNISED if any(each.recognised for each in moved) else _ROUNDING
    answer = _answer(
        _Costs(pure, epsilon, chance, mu, delta, rho, math.fsum(each.epsilon for each in stated)), claim, slack
    )
    return Price(epsilon, mu, answer, delta)


@dataclass(frozen=True, slots=True)
class _Costs:
    """All that a path costs: as in `Price`, with ``stated`` the part of ε that libraries state."""

    pure: Sequence[Shifted]
    epsilon: float
    chance: float
    mu: float
    delta: float
    rho: float
    stated: float


def _answer(costs: _Costs, claim: Claim, slack: float) -> str:
    epsilon, mu, chance, pure = costs.epsilon, costs.mu, costs.chance, costs.pure
    if math.isnan(epsilon) or math.isnan(mu):
        return OPEN
    allowed = claim.value * (1 + slack) + 1e-12
    if isinstance(claim, PureDP):
        return WITHIN if mu == 0 and costs.delta == 0 and epsilon <= allowed else OVER
    if isinstance(claim, ApproxDP):
        return _approximate(costs, claim, slack, allowed)
    if costs.delta:
        return OPEN
    if isinstance(claim, GaussianDP):
        if epsilon:
            return OPEN
        return (OPEN if costs.rho else WITHIN) if mu <= allowed else OVER
    if isinstance(claim, ZeroConcentratedDP):
        if chance > 0:
            return OPEN
        # Bun & Steinke (2016), Proposition 1.4; what a library states as ε is of all its noise together
        rho = mu**2 / 2 + math.fsum(each.cost**2 / 2 for each in pure) + costs.stated**2 / 2
        return WITHIN if rho <= allowed else (OVER if not pure and not costs.stated else OPEN)
    if isinstance(claim, RenyiDP) and epsilon == 0:
        return WITHIN if claim.order * mu**2 / 2 <= allowed else OVER
    return OPEN


def _approximate(costs: _Costs, claim: ApproxDP, slack: float, allowed: float) -> str:
    epsilon, mu = costs.epsilon, costs.mu
    left = claim.delta * (1 + slack) - costs.delta  # δ that is stated adds up (Dwork & Roth 2014, Theorem 3.16)
    if left < 0 or (costs.stated > allowed):
        return OVER
    if epsilon == math.inf:
        return OPEN  # δ may allow it
    if delta_of(mu, allowed - epsilon) <= left:
        return WITHIN if not costs.rho or _of_rho(costs, left) <= allowed else OPEN
    if not costs.pure or costs.chance or costs.stated or costs.delta:
        return OVER if not costs.pure and not costs.chance else OPEN
    return _composed(costs.pure, mu, claim, slack)


def _of_rho(costs: _Costs, delta: float) -> float:
    """Return ε of noise of ρ = μ²/2 at δ: ρ + 2√(ρ·ln 1/δ) (Bun & Steinke 2016, Proposition 1.3), with all other ε."""
    if not 0 < delta < 1:
        return math.inf
    rho = costs.mu**2 / 2
    return rho + 2 * math.sqrt(rho * -math.log(delta)) + costs.epsilon


def delta_of(mu: float, epsilon: float) -> float:
    """Return δ(ε) of Gaussian noise: Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) (Balle & Wang 2018, Theorem 5; μ = Δ/σ)."""
    if mu == 0:
        return 0.0 if epsilon >= 0 else -math.expm1(epsilon)
    from scipy.special import log_ndtr, ndtr

    tail = epsilon + float(log_ndtr(-epsilon / mu - mu / 2))
    return max(float(ndtr(-epsilon / mu + mu / 2)) - math.exp(min(tail, 700.0)), 0.0)


def _composed(pure: Sequence[Shifted], mu: float, claim: Claim, slack: float) -> str:
    """Ask the certified accounting, where costs merely added up are more than the claim."""
    from dpaudit.accounting import DiscreteLaplace, Events, Gaussian, Laplace, RandomisedResponse, decide

    listed = []
    for each in pure:
        if each.law is LAPLACE:
            listed.append(Laplace(each.scale / abs(each.by)).times(1))
        elif each.law is DISCRETE_LAPLACE:
            listed.append(DiscreteLaplace(each.scale, sensitivity=round(abs(each.by))).times(1))
        else:
            listed.append(RandomisedResponse(each.cost).times(1))
    if mu > 0:
        listed.append(Gaussian(1 / mu).times(1))
    events = Events(tuple(part for each in listed for part in each.parts))
    if len(events.parts) > _MOST:
        return OPEN
    try:
        wider = ApproxDP(claim.value * (1 + slack), claim.delta)
        verdict = decide(events, wider).verdict
    except UsageError:
        return OPEN
    return {"PROVED": WITHIN, "VIOLATED": OVER}.get(verdict, OPEN)

"""What do several releases claim together? Arithmetic of claims, without randomness or mechanisms.

`compose`, `parallel`, `mixture`, `post_process` and `group` take claims and give the claim of the whole. Claims of
different notions are first converted to a common one, by the conversions below, each of which is a theorem: `to_zcdp`,
`to_gaussian`, `to_renyi` and `to_approx`. What no theorem allows is refused, with what is possible instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.privacy.claims import (
    ApproxDP,
    Claim,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_claim,
    number_text,
)

__all__ = [
    "compose",
    "group",
    "mixture",
    "parallel",
    "post_process",
    "to_approx",
    "to_gaussian",
    "to_renyi",
    "to_zcdp",
]

# --- the whole from its parts ----------------------------------------------------------------------------


def compose(*claims: Claim | str) -> Claim:
    """Return what holds for several releases of the same data, the later ones chosen after the earlier ones.

    =====================  ==========================  ====================================================
    claims                 together                    source
    =====================  ==========================  ====================================================
    ε                      ∑ε                          Dwork & Roth (2014), Theorem 3.16 and, for releases
                                                       chosen adaptively, Theorem B.1
    (ε, δ)                 (∑ε, ∑δ), δ at most 1       the same
    ρ-zCDP                 ∑ρ                          Bun & Steinke (2016), Lemmas 1.7 and 2.3
    Rényi, of one order    ∑ε                          Mironov (2017), Proposition 1
    μ-GDP                  √∑μ²                        Dong, Roth & Su (2022), Corollary 3.3
    =====================  ==========================  ====================================================

    Pure claims combine with those of any other notion. GDP combines with zCDP, as zCDP; both combine with Rényi at its
    order.

    Raises:
        UsageError: for claims that have no common notion, such as (ε, δ) and a curve.
    """
    return _sum(_common(claims))


def parallel(*claims: Claim | str, relation: str, replaced: Sequence[Claim | str] | None = None) -> Claim:
    """Return what holds for releases of disjoint parts of the data, one release per part.

    The part of a record is a function of that record alone.

    add-remove: one record touches one part, so the whole satisfies the worst claim (McSherry 2009, Theorem 4). The same
    is true of "queries(one)", where one answer moves, which is in one part.

    replace: a record may leave one part and enter another, and both releases see it: the two worst claims compose. Or
    it stays in its part (Li, Lyu, Su & Yang 2016, on bounded and unbounded parallel composition).

    Args:
        claims: one per part, for one record more or less in it.
        relation: "add-remove", "replace" or "queries(one)": the relation of the whole.
        replaced: under replace, what each part satisfies when one of its records is replaced within it; by default its
            claim, as for a count, which moves by 1 either way. If nothing is known, ``group(claim, 2)`` holds: a
            replacement is a removal and an addition.

    Returns:
        The claim of the whole, in the common notion.

    Raises:
        UsageError: for another relation, and as `compose` does.
    """
    parts = _claims(claims)
    within = parts if replaced is None else _claims(replaced)
    kind = str(relation).replace(" ", "")
    if kind in ("add-remove", "queries(one)"):
        return _worst(_common(parts))
    if kind != "replace":
        raise UsageError(
            f"parallel composition is for the relations 'add-remove', 'replace' and 'queries(one)', not "
            f"{relation!r}: where one step may touch every part, use compose; for several records, take the group "
            "of the whole"
        )
    if len(within) != len(parts):
        raise UsageError(f"replaced names {len(within)} claims for {len(parts)} parts; give one a part")
    common = _common([*parts, *within])
    entering, staying = common[: len(parts)], common[len(parts) :]
    first, second = _two_worst(entering)
    moving = [] if second is None else [_sum([first, second])]
    return _worst([*staying, *moving])


def post_process(claim: Claim | str) -> Claim:
    """Return the claim unchanged: what is computed from a release alone loses nothing more.

    Dwork & Roth (2014), Proposition 2.1; Bun & Steinke (2016), Lemma 1.8; Mironov (2017), section III; Dong, Roth & Su
    (2022), Proposition 2.8.
    """
    return _claims([claim])[0]


def mixture(*claims: Claim | str) -> Claim:
    """Return what holds for a release that chooses one of several by a coin that is independent of the data.

    It is the worst of the claims, whether the coin is seen or not: an observer of the coin knows more, and given the
    coin one of the claims holds. Every notion here has the convexity that this requires:

    - (ε, δ): ∑wᵢPᵢ(S) ≤ ∑wᵢ(e^εᵢ·Qᵢ(S) + δᵢ) ≤ e^ε·∑wᵢQᵢ(S) + δ with ε = max εᵢ, δ = max δᵢ (Kifer & Lin 2010, the
      axiom of convexity).
    - μ-GDP, as for every trade-off curve f below all fᵢ: a test rejects at rate αᵢ if the coin shows i, and ∑wᵢαᵢ = α;
      its errors are at least ∑wᵢf(αᵢ) ≥ f(α), because f is convex (Jensen).
    - Rényi at one order, and so zCDP, which is a bound at all orders: the divergence is jointly quasi-convex (van Erven
      & Harremoës 2014, Theorem 13).

    Raises:
        UsageError: for claims that have no common notion, as for `compose`.
    """
    return _worst(_common(claims))


def group(claim: Claim | str, size: int) -> Claim:
    """Return what the claim implies for ``size`` neighbouring steps; the sources are given at each `Claim.group`."""
    return _claims([claim])[0].group(size)


# --- from one notion to another --------------------------------------------------------------------------


def to_zcdp(claim: Claim | str) -> ZeroConcentratedDP:
    """Return the ρ-zCDP that a claim implies.

    ε-DP gives ε·tanh(ε/2), the divergence of order 1 of randomised response, of which every ε-DP pair is a
    post-processing (Kairouz, Oh & Viswanath 2015), and no smaller ρ is possible: with u = (α − ½)², its D_α is
    (h(u) − h(¼))/(α − 1), h(u) = ln cosh(ε√u), which is concave, so that D_α ≤ h'(¼)·(u − ¼)/(α − 1) = α·ε·tanh(ε/2).
    It is at most ε²/2 of Bun & Steinke (2016), Proposition 1.4. μ-GDP gives μ²/2 (Dong, Roth & Su 2022, Corollary
    B.6: the divergences of N(0, 1) and N(μ, 1) are αμ²/2).

    Raises:
        UsageError: for a claim with δ > 0 or at one Rényi order, which say nothing of other orders.
    """
    (own,) = _claims([claim])
    if isinstance(own, ZeroConcentratedDP):
        return own
    if isinstance(own, GaussianDP):
        return ZeroConcentratedDP(own.mu**2 / 2)
    epsilon = _pure_epsilon(own, "zCDP")
    return ZeroConcentratedDP(epsilon * math.tanh(epsilon / 2))


def to_gaussian(claim: Claim | str) -> GaussianDP:
    """Return the μ-GDP that a claim implies; for ε-DP, μ = 2·Φ⁻¹(e^ε/(1 + e^ε)).

    The curve of ε-DP consists of two chords through (0, 1), (c, c) and (1, 0), c = 1/(1 + e^ε). The curve of μ-GDP is
    convex, meets the first and the last of these points, and meets (c, c) exactly at this μ, so it is below (Liu, Sun,
    Kong & Jiang 2022). No smaller μ is possible.

    Raises:
        UsageError: for every other notion, none of which implies GDP.
    """
    (own,) = _claims([claim])
    if isinstance(own, GaussianDP):
        return own
    epsilon = _pure_epsilon(own, "GDP")
    from scipy.special import log_expit, ndtri_exp

    return GaussianDP(-2 * float(ndtri_exp(log_expit(-epsilon))) if epsilon > 0 else 0.0)


def to_renyi(claim: Claim | str, order: float) -> RenyiDP:
    """Return the Rényi DP at ``order`` that a claim implies.

    ρ-zCDP gives ρ·order by definition, μ-GDP the same with ρ = μ²/2. ε-DP gives the divergence of randomised
    response, of which every ε-DP pair is a post-processing (Kairouz, Oh & Viswanath 2015; Mironov 2017,
    Proposition 5). A claim at a higher order holds at a lower one (van Erven & Harremoës 2014, Theorem 3).

    Raises:
        UsageError: for a claim with δ > 0, or one at a lower order.
    """
    (own,) = _claims([claim])
    order = RenyiDP(order, 0.0).order
    if isinstance(own, RenyiDP):
        if order > own.order:
            raise UsageError(
                f"a claim at order {number_text(own.order)} says nothing at the higher order {number_text(order)}; "
                f"ask for an order of at most {number_text(own.order)}"
            )
        return RenyiDP(order, own.epsilon)
    if isinstance(own, ZeroConcentratedDP | GaussianDP):
        return RenyiDP(order, to_zcdp(own).rho * order)
    epsilon = _pure_epsilon(own, "Rényi DP")
    # ln(p^α·q^(1−α) + q^α·p^(1−α))/(α − 1) with p = 1/(1 + e^−ε) and q = p·e^−ε
    both = np.logaddexp((order - 1) * epsilon, -order * epsilon) - math.log1p(math.exp(-epsilon))
    return RenyiDP(order, min(epsilon, max(0.0, float(both) / (order - 1))))


def to_approx(claim: Claim | str, delta: float) -> ApproxDP:
    """Return the (ε, ``delta``)-DP that a claim implies, with the smallest ε that its theorem gives.

    - ε₀-DP and (ε₀, δ₀)-DP, delta ≥ δ₀: the ε at which the profile δ₀ + (1 − δ₀)(e^ε₀ − e^ε)/(1 + e^ε₀) is
      delta (Kairouz, Oh & Viswanath 2015). Exact.
    - μ-GDP: the ε at which δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) is delta (Balle & Wang 2018, Theorem 8;
      Dong, Roth & Su 2022, Corollary 2.13). Exact, to the last bits.
    - Rényi: ε = τ + ln((α − 1)/α) − ln(delta·α)/(α − 1) for (α, τ) (Canonne, Kamath & Steinke 2020,
      Proposition 12; Balle, Barthe, Gaboardi, Hsu & Sato 2020, Theorem 21), less than τ + ln(1/delta)/(α − 1)
      of Mironov (2017), Proposition 3.
    - ρ-zCDP: the smallest of these over α, with τ = ρα (Canonne, Kamath & Steinke 2020, Corollary 13), less than
      ρ + 2√(ρ·ln(1/delta)) of Bun & Steinke (2016), Proposition 1.3.

    Raises:
        UsageError: unless 0 < delta < 1, or if the claim's own δ is larger.
    """
    (own,) = _claims([claim])
    try:
        inside = 0 < float(delta) < 1
    except (TypeError, ValueError):
        inside = False
    if not inside:
        raise UsageError(f"delta must be a number strictly between 0 and 1, not {delta!r}")
    if isinstance(own, GaussianDP):
        return ApproxDP(_least(lambda epsilon: float(own.profile(epsilon)) <= delta), delta)
    if isinstance(own, RenyiDP):
        return ApproxDP(float(_from_renyi(np.array([own.order]), np.array([own.epsilon]), delta)[0]), delta)
    if isinstance(own, ZeroConcentratedDP):
        return ApproxDP(_from_zcdp(own.rho, delta), delta)
    if own.delta > delta:
        raise UsageError(
            f"a claim at delta={number_text(own.delta)} says nothing at the smaller delta={number_text(delta)}"
        )
    # e^ε = e^ε₀ − x·(1 + e^ε₀) = e^ε₀·(1 − x·(1 + e^−ε₀)), x = (delta − δ₀)/(1 − δ₀)
    start, share = own.value, (delta - own.delta) / (1 - own.delta)
    left = 1 - share * (1 + math.exp(-start))
    return ApproxDP(max(0.0, start + math.log(left)) if left > 0 else 0.0, delta)


def _from_renyi(orders: Any, epsilons: Any, delta: float) -> Any:
    """ε of (ε, delta)-DP at each order α, for divergences τ; arrays of one shape."""
    return np.maximum(0.0, epsilons + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1))


def _from_zcdp(rho: float, delta: float) -> float:
    """The smallest ε over orders, on a grid that is refined: every order gives a valid bound."""
    if rho == 0:
        return 0.0
    exponents = np.linspace(-6, 9, 3001)
    for _ in range(3):
        orders = 1 + 10.0**exponents
        epsilons = _from_renyi(orders, rho * orders, delta)
        best = int(np.argmin(epsilons))
        below, above = exponents[max(best - 1, 0)], exponents[min(best + 1, len(exponents) - 1)]
        exponents = np.linspace(below, above, 401)
    return float(epsilons[best])


def _least(holds: Callable[[float], bool]) -> float:
    """The smallest ε ≥ 0 at which a monotone condition holds, by bisection; it holds there."""
    if holds(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# --- a common notion -------------------------------------------------------------------------------------


def _claims(given: Sequence[Claim | str]) -> list[Claim]:
    claims_read = [as_claim(claim) for claim in given]
    claims = [claim for claim in claims_read if claim is not None]
    if not claims or len(claims) < len(claims_read):
        raise UsageError("there must be at least one claim, and None is not one; write PureDP(1) or 'epsilon=1'")
    return claims


def _pure_epsilon(claim: Claim, notion: str) -> float:
    if not claim.pure:
        raise UsageError(
            f"{str(claim)!r} implies no {notion}: "
            + (
                "a release that fails with probability δ may have an infinite divergence"
                if claim.delta > 0
                else f"{claim.notion} says nothing of it"
            )
            + "; state a claim of the same notion, or bring all to (ε, δ) with to_approx"
        )
    return claim.value


def _common(given: Sequence[Claim | str]) -> list[Claim]:
    """Convert claims to one notion: the first that all of them imply, of pure, (ε, δ), GDP, zCDP, Rényi."""
    claims = _claims(given)
    curves = [claim for claim in claims if not isinstance(claim, PureDP | ApproxDP)]
    if not curves:
        if all(isinstance(claim, PureDP) for claim in claims):
            return claims
        return [ApproxDP(claim.value, claim.delta) for claim in claims]
    failing = next((claim for claim in claims if claim.delta > 0), None)
    if failing is not None:
        raise UsageError(
            f"{str(failing)!r} and {str(curves[0])!r} cannot be combined as they are: the one is a point, the other a "
            f"curve; bring the second to a point at a δ of your choice: to_approx({str(curves[0])!r}, delta=1e-6)"
        )
    orders = sorted({claim.order for claim in curves if isinstance(claim, RenyiDP)})
    if len(orders) > 1:
        raise UsageError(
            f"Rényi claims at the orders {', '.join(map(number_text, orders))} do not add; state all at one order: "
            f"to_renyi(claim, {number_text(orders[0])})"
        )
    if orders:
        return [to_renyi(claim, orders[0]) for claim in claims]
    if any(isinstance(claim, ZeroConcentratedDP) for claim in curves):
        return [to_zcdp(claim) for claim in claims]
    return [to_gaussian(claim) for claim in claims]


def _sum(claims: Sequence[Claim]) -> Claim:
    """Compose claims of one notion."""
    first = claims[0]
    if len(claims) == 1:
        return first
    if isinstance(first, GaussianDP):
        return GaussianDP(math.hypot(*(claim.value for claim in claims)))
    total = math.fsum(claim.value for claim in claims)
    if isinstance(first, ApproxDP):
        return ApproxDP(total, min(1.0, math.fsum(claim.delta for claim in claims)))
    return first.with_value(total)


def _worst(claims: Sequence[Claim]) -> Claim:
    """The strongest claim of a notion that all claims of it imply."""
    return _two_worst(claims)[0]


def _two_worst(claims: Sequence[Claim]) -> tuple[Claim, Claim | None]:
    """The worst claim and the next; for (ε, δ), of ε and δ separately, which can only be weaker."""
    first = claims[0]
    values = sorted((claim.value for claim in claims), reverse=True)[:2]
    if isinstance(first, ApproxDP):
        deltas = sorted((claim.delta for claim in claims), reverse=True)
        worst: list[Claim] = [ApproxDP(value, delta) for value, delta in zip(values, deltas, strict=False)]
    else:
        worst = [first.with_value(value) for value in values]
    return worst[0], worst[1] if len(worst) > 1 else None

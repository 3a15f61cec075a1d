"""Does a list of events keep what is claimed? Proved, refuted, or neither.

PROVED takes the certified upper bound, VIOLATED a certified loss that is strictly larger than the claim; between them
stands INCONCLUSIVE.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from dpaudit.accounting.certify import TOLERANCE, Account, Certified, certify, certify_added
from dpaudit.accounting.events import Events, PrivacyEvent, as_events
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, ZeroConcentratedDP, claims

PROVED, VIOLATED, INCONCLUSIVE = "PROVED", "VIOLATED", "INCONCLUSIVE"


@dataclass(frozen=True)
class Decision:
    """What is certain of a claim.

    Attributes:
        verdict: "PROVED", "VIOLATED" or "INCONCLUSIVE".
        claim: the claim.
        reason: why, in a sentence.
        certified: the interval from which it follows; None where ε is infinite.
        low, high: bounds of the claim's own parameter: certainly lost by some data, and by no data exceeded.
    """

    verdict: str
    claim: Claim
    reason: str
    certified: Certified | None
    low: float
    high: float


def decide(
    events: Events | PrivacyEvent | Sequence[PrivacyEvent],
    claim: Claim | str,
    *,
    tolerance: float = TOLERANCE,
    points: int = 0,
) -> Decision:
    """Return what is certain of a claim.

    Args:
        events: a list of events, or one.
        claim: pure ε, (ε, δ), μ-GDP or ρ-zCDP.
        tolerance: the width in ε that is wished for.
        points: how many points of the curve to give for a picture.

    Raises:
        UsageError: for a claim of which nothing can be proved, and as `certify` does.
    """
    listed, claimed = as_events(events), claims.as_claim(claim)
    if isinstance(claimed, PureDP | ApproxDP):
        return _in_epsilon(listed, claimed, tolerance, points)
    if isinstance(claimed, GaussianDP | ZeroConcentratedDP):
        # μ and ρ add up as squares and as they are; for Gaussian noise this is exact
        certified = certify_added(listed, "mu" if isinstance(claimed, GaussianDP) else "rho")
        verdict, reason = _judged(certified, claimed, "")
        return Decision(verdict, claimed, reason, certified, certified.low, certified.high)
    raise UsageError(f"accounting decides claims of ε, (ε, δ), μ-GDP and ρ-zCDP, not {claimed}")


def _in_epsilon(events: Events, claim: Claim, tolerance: float, points: int) -> Decision:
    certified = certify(events, delta=number_of(claim.delta), tolerance=tolerance, points=points)
    verdict, reason = _judged(certified, claim, f" at δ = {claims.number_text(claim.delta)}")
    return Decision(verdict, claim, reason, certified, certified.low, certified.high)


def judged(claim: Claim, low: Fraction | None, high: Fraction | None) -> str:
    """Return the verdict on a claim whose parameter certainly lies between two numbers, of which None is infinity."""
    claimed = root_of(claim.value) if isinstance(claim, GaussianDP) else number_of(claim.value)
    if high is not None and high <= claimed:
        return PROVED
    return VIOLATED if low is None or low > claimed else INCONCLUSIVE


def _judged(certified: Certified, claim: Claim, at: str) -> tuple[str, str]:
    verdict = judged(claim, *(number(certified.certificate[end]) for end in ("low", "high")))
    symbol, low, high, claimed = claim.symbol, certified.low, certified.high, claim.value
    if verdict == PROVED:
        return PROVED, f"{symbol} ≤ {high:.6g}{at} for all neighbours, which is within {claimed:.6g}."
    if verdict == VIOLATED:
        return VIOLATED, f"Some data with some queries have {symbol} ≥ {low:.6g}{at}, more than {claimed:.6g}."
    return verdict, f"{symbol} is between {low:.6g} and {high:.6g}{at}, with {claimed:.6g} between them."


def number(text: str) -> Fraction | None:
    """Return a number as certificates write it; None for "infinity"."""
    if text == "infinity":
        return None
    if "e" in text.lower():  # an exponent could ask for any number of digits
        raise ValueError(f"{text!r} is no fraction")
    return Fraction(text)


# --- How much noise is enough, and how many steps are too many? The smallest noise, or the most steps, for a claim ---
#
# Where to look is found in floating point and on coarse lattices, by steps of Newton on the logarithms of ε and of the
# noise. What is returned is certified on both sides: one value that keeps the claim, and one close by that breaks it.

PRECISION = 1e-4
"""How far the value that keeps the claim and the one that breaks it are apart, relatively."""

_LEAST_NOISE, _MOST_NOISE, _MOST_STEPS = 1e-3, 1e6, 10**9
_TRIES = 80
_BISECTED = 3  # every so many tries between both values, in case Newton's steps are slow
_FARTHEST = 3.0  # of one step of the search, in logarithms
_SHALLOWEST = 0.2  # ln ε falls by at least so much with ln noise, about; with fewer steps by half as much again
_ASIDE = 0.4  # of the precision: how far beside the root the two values are looked for
_ROUGH = 0.01  # of ε: the width of intervals that are only to show where to look

Asked = Callable[[Decimal], Events | PrivacyEvent]


@dataclass(frozen=True)
class Calibrated:
    """The smallest noise, or the most steps, with which a claim is certainly kept.

    Attributes:
        enough: it, as a decimal.
        decision: the proof that it keeps the claim.
        too_little: the closest noise that was found to break the claim certainly (for steps, too many of them),
            on some data; None where nothing is known from below.
    """

    enough: Decimal
    decision: Decision
    too_little: Decimal | None


def calibrate(events: Asked, claim: Claim | str, *, steps: bool = False, precision: float = PRECISION) -> Calibrated:
    """Return the smallest noise for which a claim is certified, or the most steps.

    Args:
        events: what is run with so much noise, such as ``lambda sigma: Gaussian(sigma).poisson(q).times(1000)``; or,
            with ``steps``, so often, such as ``lambda steps: Gaussian(1).poisson(q).times(int(steps))``. More noise,
            and fewer steps, must not lose more.
        claim: what is to be kept.
        steps: whether ``events`` takes a number of steps.
        precision: how far the noise that keeps the claim and the one that breaks it are apart, relatively. They are
            farther apart where different pairs are known from above and from below.

    Raises:
        UsageError: where no noise between 0.001 and a million, or no number of steps up to 10⁹, is the last one.
    """
    claimed = claims.as_claim(claim)
    if claimed is None:
        raise UsageError("calibration needs a claim, such as 'epsilon=3, delta=1e-5'")
    if not 1e-6 <= precision <= 0.1:
        raise UsageError(f"precision is relative, from 1e-6 to 0.1, not {precision!r}")
    return _BoundarySearch(events, claimed, _Steps() if steps else _NoiseScale(precision), precision).calibrated()


class _NoiseScale:
    """A noise is at the place ln noise; what it loses falls with the place."""

    steepness = 1.0

    def __init__(self, precision: float) -> None:
        self._context = Context(prec=2 - math.floor(math.log10(precision)), rounding=ROUND_CEILING)

    def value(self, place: float) -> Decimal:
        """Return the noise, of few digits."""
        return self._context.create_decimal(math.exp(place)).normalize()

    def place(self, value: Decimal) -> float:
        """Return the inverse."""
        return math.log(value)

    def near(self, enough: Decimal, too_little: Decimal, width: float) -> bool:
        """Whether two values are close enough."""
        return enough <= too_little * (1 + Decimal(width))

    def beside(self, value: Decimal, width: float) -> Decimal:
        """Return another value that loses less, or more for a negative width."""
        return self.value(self.place(value) + width)

    def between(self, enough: Decimal, too_little: Decimal) -> Decimal:
        """Return the middle of two values."""
        return self.value((self.place(enough) + self.place(too_little)) / 2)

    def refuse(self, value: Decimal, kept: bool) -> None:
        """Refuse to go on where there is no more noise, or no less."""
        if kept and value < _LEAST_NOISE:
            raise UsageError(f"even noise below {_LEAST_NOISE} keeps the claim; measure the answers in smaller units")
        if not kept and value > _MOST_NOISE:
            raise UsageError(
                f"no noise up to {_MOST_NOISE:g} keeps the claim: Gaussian noise needs a δ above 0, and other claims "
                "in the list need one above theirs"
            )


class _Steps:
    """A number of steps is at the place −ln steps; what they lose falls with the place."""

    steepness = 0.5

    def value(self, place: float) -> Decimal:
        """Return the number of steps."""
        return Decimal(min(_MOST_STEPS, max(1, math.floor(math.exp(min(-place, 50.0)) * (1 + 1e-12)))))

    def place(self, value: Decimal) -> float:
        """Return the inverse."""
        return -math.log(value)

    def near(self, enough: Decimal, too_little: Decimal, width: float) -> bool:
        """Whether two values are close enough."""
        return too_little <= enough * (1 + Decimal(width)) or too_little <= enough + 1

    def beside(self, value: Decimal, width: float) -> Decimal:
        """Return another value that loses less, or more for a negative width."""
        by = max(1, math.floor(int(value) * abs(width)))
        return Decimal(min(_MOST_STEPS, max(1, int(value) + (by if width < 0 else -by))))

    def between(self, enough: Decimal, too_little: Decimal) -> Decimal:
        """Return the middle of two values."""
        return (enough + too_little) // 2

    def refuse(self, value: Decimal, kept: bool) -> None:
        """Refuse to go on where there are no more steps, or no fewer."""
        if kept and value >= _MOST_STEPS:
            raise UsageError(f"{_MOST_STEPS:,} steps keep the claim, and more are not accounted for")
        if not kept and value <= 1:
            raise UsageError("one step is not certified to keep the claim; more noise may")


class _BoundarySearch:
    """The search for the two values."""

    def __init__(self, events: Asked, claim: Claim, scale: _NoiseScale | _Steps, precision: float) -> None:
        self.events, self.claim, self.scale = events, claim, scale
        self.precision = precision
        self.slope = -scale.steepness
        self.tried: dict[Decimal, Decision] = {}

    def calibrated(self) -> Calibrated:
        """Return what was asked for."""
        place = 0.0
        if self.claim.delta > 0 and self.claim.value > 0:  # else ε, μ or ρ is a sum, exact at once
            place = self.scale.place(self._crossing(self._expected, place, _ROUGH)[0])
            for _ in range(6):
                place, moved = self._refined(place)
                if abs(moved) < 10 * self.precision:
                    break
        enough, beside = self._crossing(self._excess_above, place, self.precision)
        less = self.tried[beside]
        if less.verdict == VIOLATED:
            return Calibrated(enough, self.tried[enough], beside)
        if not less.low > 0:
            return Calibrated(enough, self.tried[enough], None)
        # another pair is known from below
        place = self.scale.place(beside) - _log(less.low, self.claim.value) / self.slope
        return Calibrated(enough, self.tried[enough], self._crossing(self._excess_below, place, self.precision)[1])

    def _decided(self, value: Decimal, share: float) -> Decision:
        """Decide at a value, with an interval whose width is about a quarter of what this share of noise changes."""
        tolerance = self.claim.value * share * min(abs(self.slope), self.scale.steepness) / 4
        tolerance = float(f"{min(1.0, max(1e-8, tolerance)):.1e}") if self.claim.value else TOLERANCE
        return decide(self.events(value), self.claim, tolerance=tolerance)

    def _excess_above(self, value: Decimal) -> float:
        """ln of the bound from above over the claim; at most 0 where it is certainly kept."""
        decision = self._try(value)
        excess = _log(decision.high, self.claim.value)
        return min(excess, 0.0) if decision.verdict == PROVED else max(excess, 1e-12)

    def _excess_below(self, value: Decimal) -> float:
        """ln of the bound from below over the claim; above 0 where it is certainly broken."""
        decision = self._try(value)
        excess = _log(decision.low, self.claim.value)
        return max(excess, 1e-12) if decision.verdict == VIOLATED else min(excess, 0.0)

    def _try(self, value: Decimal) -> Decision:
        if value not in self.tried:
            self.tried[value] = self._decided(value, self.precision)
        return self.tried[value]

    def _expected(self, value: Decimal) -> float:
        """The excess that is expected, in floating point."""
        account = Account(as_events(self.events(value)), TOLERANCE)
        return _log(account.expected(number_of(self.claim.delta)), self.claim.value)

    def _refined(self, place: float) -> tuple[float, float]:
        """One step of Newton from a coarse interval, and how far it went."""
        value = self.scale.value(place)
        decision = self._decided(value, _ROUGH)
        tight = decision.certified is not None and not decision.certified.note
        excess = _log((decision.low + decision.high) / 2 if tight else decision.high, self.claim.value)
        moved = -excess / self.slope
        return self.scale.place(value) + moved, moved

    def _crossing(self, excess: Callable[[Decimal], float], place: float, width: float) -> tuple[Decimal, Decimal]:
        """Return values near to one another between which an excess falls to 0: where it is not above 0, and where."""
        kept: Decimal | None = None
        broken: Decimal | None = None
        last: tuple[float, float] | None = None
        seen: set[Decimal] = set()
        value, between = self.scale.value(place), 0
        for _ in range(_TRIES):
            seen.add(value)
            place, above = self.scale.place(value), excess(value)
            if above <= 0:
                kept = value if kept is None or place < self.scale.place(kept) else kept
            else:
                broken = value if broken is None or place > self.scale.place(broken) else broken
            if kept is not None and broken is not None:
                if self.scale.near(kept, broken, width):
                    return kept, broken
            else:
                self.scale.refuse(value, kept is not None)
            if last is not None and place != last[0]:
                slope = (above - last[1]) / (place - last[0])
                self.slope = slope if _SHALLOWEST < -slope < 1 / _SHALLOWEST**2 else self.slope
            last = place, above
            if kept is None or broken is None:
                value = self.scale.value(place - above / self.slope + (_ASIDE if kept is None else -_ASIDE) * width)
                if value in seen:
                    value = self.scale.beside(value, width if kept is None else -width)
                continue
            between += 1
            value = self._between(place - above / self.slope, kept, broken, width)
            if value in seen or not between % _BISECTED or not self.claim.value:
                value = self.scale.between(kept, broken)
        raise UsageError("the claim is not kept from some value on; does more noise, or fewer steps, lose more?")

    def _between(self, root: float, kept: Decimal, broken: Decimal, width: float) -> Decimal:
        """Return a value beside where the root seems to be, on the side of which less is known."""
        high, low = self.scale.place(kept), self.scale.place(broken)
        place = root + (_ASIDE if high - root > root - low else -_ASIDE) * width
        return self.scale.value(place) if low < place < high else self.scale.between(kept, broken)


def _log(value: float, claimed: float) -> float:
    """ln(value/claimed), within what a search needs; nothing is 0."""
    if not math.isfinite(value):
        return _FARTHEST
    return min(_FARTHEST, max(-_FARTHEST, math.log(max(value, 1e-12) / max(claimed, 1e-12))))

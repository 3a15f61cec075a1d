"""How large are ε and δ of a list of events, certainly? Both ends, with a certificate.

From above the loss is composed in both directions, with the record against without it and the other way round; from
below in the first, of a pair that is attained. The step of the lattice is chosen for the width that is wished for, and
made finer until the interval is that narrow. Gaussian noise alone has a formula, and is not composed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpaudit.accounting import closed_forms, compose, lattice, plan
from dpaudit.accounting.certificate import Pairs, apart, attained, certificate, ending, largest_losses, pairs, text
from dpaudit.accounting.closed_forms import RenyiOrder, best_order, concentrated, least, total
from dpaudit.accounting.events import (
    BelowError,
    BeyondError,
    Block,
    DiscreteGaussian,
    Events,
    Gaussian,
    PrivacyEvent,
    Sampled,
    as_events,
)
from dpaudit.accounting.losses import Atoms, Continuous, LossLaw, ball, decimal, middle, outward, precision, short
from dpaudit.decimals import Number, read_number
from dpaudit.errors import UsageError
from dpaudit.privacy import GaussianDP, ZeroConcentratedDP

TOLERANCE = 5e-4
MEMORY = 2 * 2**30
_GUARD_DIGITS = 10  # of the masses, beyond those of δ a step
_FORMULA_BITS = 256  # of the balls of a formula
_GUARD_BITS = 96  # of the balls, beyond those of the masses
_ATTEMPTS = 4
_SAME_DELTA = 0.1  # of ln δ: two guesses that are as near are one
_MOST_CLAIMED = 1_000_000  # ε of one event
_GAIN = 0.9  # a finer lattice has to narrow by so much, where two pairs leave a width of their own
_AIM = 0.65  # of the tolerance
_MOST_LEVELS = 60  # so often a lattice may be made coarser
_FORCED = 0.1  # of the width: what it may cost to bring several laws to one lattice
_COARSER = 2  # the other direction is first composed on a step so many times as wide
_BY_ORDER = "A claim of ρ is known from above by one order of its divergence, and from below by Gaussian noise."
_MOST_LOSS = 3_000  # a curve beyond it could not be checked, and promises nothing
_MOST_BY_FORMULA = Fraction(2048)  # of one step: about the loss that a list out of reach is brought to by more noise,
_MOST_COMPOSED = Fraction(16)  # where it is composed, in seconds
_MOST_DISCRETE = 500  # 1/2σ² of discrete Gaussian noise, whose lattice then has too many places
_COARSE, _FEW = 0.1, 2  # the width of such an interval, of which one end is used, and how many lattices are tried
_LEAST_NOISE = Fraction(1, 10**9)  # of noise to sensitivity
_LEAST_DELTA = Fraction(1, 10**150)


@dataclass(frozen=True)
class Certified:
    """An interval that certainly holds ε at a δ, or δ at an ε.

    Attributes:
        events: what was accounted.
        parameter: "epsilon" or "delta": what the interval is about.
        at: the other one, exactly.
        low: a loss of the events on some data and with some queries, certainly.
        high: no neighbours lose more, certainly; infinite where nothing finite holds.
        certificate: what `dpaudit check` reads, as JSON is read.
        curve: (ε, δ_low, δ_high) at some ε around, each δ certain, for a picture; empty where none was asked
            for.
        tolerance: the width that was asked for, in ε.
        note: why the interval is not as narrow as that; empty where it is.
    """

    events: Events
    parameter: str
    at: Fraction
    low: float
    high: float
    certificate: dict[str, Any]
    curve: tuple[tuple[float, float, float], ...] = ()
    tolerance: float = TOLERANCE
    note: str = ""

    @property
    def width(self) -> float:
        """high − low."""
        return self.high - self.low if math.isfinite(self.high) else (0.0 if self.low == self.high else math.inf)


def certify(
    events: Events | PrivacyEvent | Sequence[PrivacyEvent],
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    tolerance: float = TOLERANCE,
    points: int = 0,
) -> Certified:
    """Return an interval that certainly holds ε at ``delta``, or δ at ``epsilon``.

    Args:
        events: a list of events, or one.
        delta: the δ at which ε is asked for; at least 0 and below 1.
        epsilon: or the ε at which δ is asked for, in nats.
        tolerance: the width that is wished for, in ε (at an ε, the width in δ over the slope of the curve).
        points: how many points of the curve to give for a picture.

    Raises:
        UsageError: for δ = 0 where ε is infinite, numbers out of range, too much memory, or without python-flint.
    """
    listed = as_events(events).under()
    if (delta is None) == (epsilon is None):
        raise UsageError("give one of delta and epsilon: ε is certified at a δ, or δ at an ε")
    if not (isinstance(tolerance, float | int) and 0 < tolerance <= 1):
        raise UsageError(f"tolerance is a width in ε, above 0 and at most 1, not {tolerance!r}")
    if delta is not None:
        at = read_number("delta", delta)
        if not 0 <= at < 1:
            raise UsageError(f"delta is at least 0 and below 1, not {float(at):g}")
        if at and at < _LEAST_DELTA:
            raise UsageError(f"delta is 0, or at least 1e-150, not {float(at):g}")
        return _within(listed, tolerance, lambda own, *how: Account(own, *how).epsilon(at, points))
    at = read_number("epsilon", epsilon if epsilon is not None else 0)
    if not 0 <= at <= _MOST_LOSS:
        raise UsageError(f"epsilon is at least 0 and at most {_MOST_LOSS:,}, not {float(at):g}")
    return _within(listed, tolerance, lambda own, *how: Account(own, *how).delta(at, points))


def _within(events: Events, tolerance: float, certified: Callable[[Events, float, int], Certified]) -> Certified:
    """Return what is certain of a list; of one whose losses are out of reach, what is certain of more or less noise."""
    try:
        return certified(events, tolerance, _ATTEMPTS)
    except BelowError:
        return _one_end(
            certified(closed_forms.with_less_noise(events), tolerance, _ATTEMPTS), events, tolerance, up=True
        )
    except BeyondError as error:
        for own in closed_forms.with_more_noise(
            events, _MOST_BY_FORMULA if closed_forms.square_of_mu(events) else _MOST_COMPOSED
        ):
            try:
                return _one_end(certified(own, _COARSE, _FEW), events, tolerance, up=False)
            except BeyondError:
                continue
        raise UsageError(str(error)) from None


def _one_end(certified: Certified, events: Events, tolerance: float, *, up: bool) -> Certified:
    """Return one end of an interval of other noise, as one of these events."""
    most = 1.0 if certified.parameter == "delta" else math.inf
    ends = [end for end in certified.certificate["ends"] if (end["side"] == "above") == up]
    other = {"low": "0"} if up else {"high": "1" if certified.parameter == "delta" else "infinity"}
    return replace(
        certified,
        events=events,
        low=0.0 if up else certified.low,
        high=certified.high if up else most,
        certificate={**certified.certificate, **other, "ends": ends},
        tolerance=tolerance,
        curve=tuple((at, 0.0 if up else low, high if up else 1.0) for at, low, high in certified.curve),
        note=closed_forms.SMALL if up else closed_forms.LARGE,
    )


class Account:
    """The accounting of one list of events.

    Args:
        events: the list.
        tolerance: the width that is wished for, in ε.
        tries: how many lattices are tried, each finer than the one before.
    """

    def __init__(self, events: Events, tolerance: float, tries: int = _ATTEMPTS) -> None:
        self.events, self.tolerance, self.tries = events, tolerance, tries
        self.counts = [count for _, count in events.parts]

    def _open(self, log_delta: float) -> None:
        """Fix the unit of the masses, and the laws."""
        _refuse_extremes(self.events)
        steps = self.events.steps
        self.digits = math.ceil(math.log10(steps) - log_delta / math.log(10)) + _GUARD_DIGITS
        self.unit = 10**self.digits
        self.bits = self.unit.bit_length() + _GUARD_BITS
        self.rho = total(self.events)
        if self.rho is not None:
            with precision(self.bits):
                own = [attained(event, self.digits) for event, _ in self.events.parts]
            self.laws, self.symmetric, self.tight = {("remove", False): own}, True, False
            self.main = "remove", False
            return
        self.main = "remove", True
        with precision(self.bits):
            self.pairs: list[Pairs] = [pairs(event, self.digits) for event, _ in self.events.parts]
        self.laws = {
            ("remove", True): [pair.above for pair in self.pairs],
            ("add", True): [pair.above.reversed() for pair in self.pairs],
            ("remove", False): [pair.below for pair in self.pairs],
        }
        self.symmetric = all(pair.symmetric for pair in self.pairs)
        self.tight = all(pair.tight for pair in self.pairs)

    def epsilon(self, delta: Fraction, points: int) -> Certified:
        """Return the interval of ε at a δ."""
        if not delta:
            return self._pure()
        if (known := closed_forms.square_of_mu(self.events)) is not None:
            return self._by_formula("epsilon", delta, points, *known)
        log_delta = math.log(delta.numerator) - math.log(delta.denominator)
        self._open(log_delta)
        with precision(self.bits):
            self.tilts = {key: plan.tilted(self._counted(key), log_delta=log_delta) for key in self.laws}
            about = self.tilts[self.main].epsilon
            if about > _MOST_LOSS and any(isinstance(law, Continuous) for laws in self.laws.values() for law in laws):
                _refuse_loss(about)

            def epsilon_of(end: compose.End) -> Decimal:
                return end.tail.epsilon(delta, self._tilt(end).epsilon)

            if self.rho is not None:
                order = best_order(self.rho, delta=delta)
                end = self._compose(*self.main, self._first_step())
                high = decimal(order.epsilon(delta), up=True)
                return self._certified("epsilon", delta, [end], epsilon_of(end), high, _BY_ORDER, points, order)
            ends, low, high, note = self._narrow(epsilon_of, _epsilon)
            return self._certified("epsilon", delta, ends, low, high, note, points)

    def delta(self, epsilon: Fraction, points: int) -> Certified:
        """Return the interval of δ at an ε."""
        if (known := closed_forms.square_of_mu(self.events)) is not None:
            return self._by_formula("delta", epsilon, points, *known)
        log_delta = self._expected_delta(epsilon)
        self._open(log_delta)
        with precision(self.bits):
            self.tilts = {
                key: plan.tilted(self._counted(key), epsilon=float(epsilon), log_delta=log_delta) for key in self.laws
            }
            tilt = self.tilts[self.main].tilt

            def delta_of(end: compose.End) -> Decimal:
                value = end.tail.delta(epsilon)
                return min(Decimal(1), max(Decimal(0), decimal(value, up=end.up)))

            def width(low: Decimal, high: Decimal) -> float:
                return math.log(high / low) / tilt if low > 0 else (0.0 if not high else math.inf)

            if self.rho is not None:
                order = best_order(self.rho, epsilon=epsilon)
                end = self._compose(*self.main, self._first_step())
                high = min(Decimal(1), decimal(order.delta(epsilon), up=True))
                return self._certified("delta", epsilon, [end], delta_of(end), high, _BY_ORDER, points, order)
            ends, low, high, note = self._narrow(delta_of, width)
            return self._certified("delta", epsilon, ends, low, high, note, points)

    def _expected_delta(self, epsilon: Fraction) -> float:
        """Return about ln δ at an ε. A sketch knows losses down to the δ that it is made for: it is made again."""
        log_delta = math.log(1e-12)
        for _ in range(_ATTEMPTS):
            self._open(log_delta)
            with precision(self.bits):
                tilt = plan.tilted(self._counted(self.main), epsilon=float(epsilon), log_delta=log_delta)
            before, log_delta = log_delta, max(min(tilt.log_delta, math.log(1e-3)), math.log(_LEAST_DELTA))
            if abs(log_delta - before) < _SAME_DELTA * abs(log_delta):
                break
        return log_delta

    def expected(self, delta: Fraction) -> float:
        """Return about the ε at a δ: to choose where to look."""
        if (known := closed_forms.square_of_mu(self.events)) is not None:
            return float(closed_forms.epsilon(known[0], delta)[1])
        log_delta = math.log(delta.numerator) - math.log(delta.denominator)
        self._open(log_delta)
        with precision(self.bits):
            return plan.tilted(self._counted(self.main), log_delta=log_delta).epsilon

    def _counted(self, key: tuple[str, bool]) -> list[tuple[LossLaw, int]]:
        return list(zip(self.laws[key], self.counts, strict=True))

    def _tilt(self, end: compose.End) -> plan.Tilt:
        return self.tilts[end.direction, end.up]

    def _first_step(self) -> float:
        return self.tilts[self.main].step(self.laws[self.main], _AIM * self.tolerance)

    def _by_formula(self, parameter: str, at: Fraction, points: int, square: Fraction, exactly: bool) -> Certified:
        """Return the interval of Gaussian noise of this μ²; beside claims of ρ that is the lower end alone."""
        _refuse_extremes(self.events)
        for event, _ in self.events.parts:
            attained(event, 0)  # refuses claims of nothing
        low, high = (closed_forms.epsilon if parameter == "epsilon" else closed_forms.delta)(square, at)
        if parameter == "epsilon" and high > _MOST_LOSS:
            _refuse_loss(float(high))
        rho, ends = None if exactly else total(self.events), []
        if rho is not None:
            order = best_order(rho, **{"delta" if parameter == "epsilon" else "epsilon": at})
            with precision(_FORMULA_BITS):
                loss = order.epsilon(at) if parameter == "epsilon" else order.delta(at).min(ball(1))
                high = decimal(loss, up=True)
            ends = [_by_order(order)]

        def around(epsilon: Fraction) -> tuple[Decimal, Decimal]:
            less, more = closed_forms.delta(square, epsilon)
            return less, more if rho is None else _delta_by_order(rho, epsilon)

        given = certificate(self.events, parameter, at, (low, high), 0, ends)
        return self._stated(parameter, at, low, high, given, around, points, "" if exactly else _BY_ORDER)

    def _stated(
        self,
        parameter: str,
        at: Fraction,
        low: Decimal,
        high: Decimal,
        given: dict[str, Any],
        around: Callable[[Fraction], tuple[Decimal, Decimal]],
        points: int,
        note: str,
    ) -> Certified:
        ends = _outward(low, up=False), _outward(high, up=True)
        curve = _curve(around, points, float(at if parameter == "delta" else high))
        return Certified(self.events, parameter, at, *ends, given, tuple(curve), self.tolerance, note)

    def _narrow(self, bound: Any, width: Any) -> tuple[list[compose.End], Decimal, Decimal, str]:
        """Compose on finer and finer lattices, until the interval is narrow."""
        step = self._first_step()
        best: tuple[list[compose.End], Decimal, Decimal] | None = None
        reached = math.inf
        for _ in range(self.tries):
            try:
                upper, lower = self._compose("remove", True, step), self._compose("remove", False, step)
                ends, high, low = [upper, lower], bound(upper), bound(lower)
                if not self.symmetric:
                    other = self._compose("add", True, _COARSER * step)
                    if bound(other) > high:
                        other = self._compose("add", True, step)
                    ends.append(other)
                    high = max(high, bound(other))
            except UsageError as error:
                if best is None:
                    raise
                return *best, f"A finer lattice would be needed: {error}"
            own = width(low, high)
            if best is None or own < width(best[1], best[2]):
                best = ends, low, high
            if own <= self.tolerance:
                return *best, ""
            if not math.isfinite(own) or (not self.tight and own > _GAIN * reached):
                break
            reached = own
            step *= max(0.6, min(0.85, math.sqrt(_AIM * self.tolerance / own)))
        assert best is not None
        reason = apart(self.events) if not self.tight else "the lattice is too coarse"
        return *best, f"The interval is wider than {self.tolerance:g}: {reason}."

    def _compose(self, direction: str, up: bool, wanted: float) -> compose.End:
        laws, tilt = self.laws[direction, up], self.tilts[direction, up]
        step = lattice.step_for(self._counted((direction, up)), wanted)
        size = step.ball(laws)
        self._check(tilt, middle(size), 0)
        grids = [lattice.Grid(law, number, step, size, tilt, self.unit) for number, law in enumerate(laws)]
        parts = [grid.above() if up else grid.below() for grid in grids]
        width, most = self.tolerance * min(1.0, wanted / self._first_step()) ** 2, _MOST_LEVELS
        while True:
            composition = compose.Composition(
                up=up,
                unit=self.unit,
                size=size,
                tilt=tilt,
                check=lambda places: self._check(tilt, math.inf, places),
                width=width,
                most=most,
            )
            blocks = [composition.block(part, growth) for part, growth in zip(parts, tilt.growth, strict=True)]
            x, y = composition.last_two(list(zip(blocks, self.counts, strict=True)))
            if not composition.forced > _FORCED * width:
                break
            most = x.level // 2
        tail = compose.Tail(x, y, up=up, unit=self.unit, size=composition.size(x.level))
        return compose.End(direction, up, step, parts, composition, tail, (x, y))

    def _check(self, tilt: plan.Tilt, size: float, places: int) -> None:
        """Refuse what does not fit into memory, before it is tried."""
        span = max(sketch.losses[-1] - sketch.losses[0] for sketch in tilt.sketches)
        places = max(places, int(span / size))
        # two factors, their product in twice the digits, its transform, and Python's whole numbers beside them
        needed = places * (12 * self.digits * 3.33 / 8 + 500)
        if needed > MEMORY:
            raise UsageError(
                f"this needs about {needed / 2**30:.2g} GiB of memory, and at most {MEMORY / 2**30:.2g} GiB are used; "
                "allow a wider interval (tolerance)"
            )

    def _certified(
        self,
        parameter: str,
        at: Fraction,
        ends: list[compose.End],
        low: Decimal,
        high: Decimal,
        note: str,
        points: int,
        order: RenyiOrder | None = None,
    ) -> Certified:
        if low > high:  # no arithmetic of intervals can come here
            raise ArithmeticError(f"a lower end {low} above the upper end {high} of {self.events}: please report it")
        given = certificate(
            self.events,
            parameter,
            at,
            (low, high),
            self.digits,
            [ending(end, high, low, at, parameter) for end in ends if (high.is_finite() if end.up else low > 0)]
            + ([] if order is None else [_by_order(order)]),
        )

        def around(epsilon: Fraction) -> tuple[Decimal, Decimal]:
            both = [(decimal(end.tail.delta(epsilon), up=end.up), end.up) for end in ends]
            highs = [value for value, up in both if up] if self.rho is None else [_delta_by_order(self.rho, epsilon)]
            return max(Decimal(0), *(value for value, up in both if not up)), min(Decimal(1), max(highs))

        return self._stated(parameter, at, low, high, given, around, points, note)

    def _pure(self) -> Certified:
        """At δ = 0 ε is the sum of the largest losses."""
        known = [(largest_losses(event), count) for event, count in self.events.parts]
        if all(own is not None for own, _ in known):
            low, high = (sum(own[side] * count for own, count in known if own is not None) for side in (0, 1))
            return self._summed(Fraction(low), Fraction(high))
        if any(_unbounded(event) for event, _ in self.events.parts):
            return self._summed(None, None)
        self._open(math.log(1e-12))
        with precision(self.bits):
            sums = []
            both = (
                [self.laws["remove", False]] * 2
                if self.rho is not None
                else [[pair.below for pair in self.pairs], [pair.above for pair in self.pairs]]
            )
            for laws in both:
                added = ball(0)
                for law, (event, count) in zip(laws, self.events.parts, strict=True):
                    added += max(_largest(law, event), _largest(law.reversed(), event), key=middle) * count
                sums.append(added)
            return self._summed(Fraction(decimal(sums[0], up=False)), Fraction(decimal(sums[1], up=True)))

    def _summed(self, low: Fraction | None, high: Fraction | None) -> Certified:
        """Return the interval between two sums; None is infinity."""
        low = None if low is None else short(low, up=False)
        high = None if high is None else short(high, up=True)
        return Certified(
            self.events,
            "epsilon",
            Fraction(0),
            outward(low, up=False),
            outward(high, up=True),
            certificate(self.events, "epsilon", Fraction(0), (low, high), 0, []),
            (),
            self.tolerance,
        )


def _refuse_extremes(events: Events) -> None:
    """Refuse noise that is so much smaller or larger than the sensitivity that no curve is composed."""
    for event, _ in events.parts:
        mechanism = event.mechanism if isinstance(event, Sampled) else event
        ratio = _noise(mechanism)
        if ratio is not None and ratio > closed_forms.MOST_NOISE:
            raise BelowError(f"{f'{event}':.80}: noise of {_power(ratio)} times the sensitivity tells nothing")
        if ratio is not None and ratio < _LEAST_NOISE:
            raise BeyondError(
                f"{f'{event}':.80}: noise of {_power(ratio)} times the sensitivity hides nothing; are both in one unit?"
            )
        if isinstance(mechanism, DiscreteGaussian) and 1 / mechanism.sigma**2 / 2 > _MOST_DISCRETE:
            raise BeyondError(f"{f'{event}':.80}: noise of so small a σ is nearly always 0, and hides nothing")
        claimed = getattr(getattr(mechanism, "claim", mechanism), "epsilon", 0)
        if claimed > _MOST_CLAIMED:
            raise BeyondError(f"{f'{event}':.80}: an ε above {_MOST_CLAIMED:,} promises nothing")


def _noise(mechanism: PrivacyEvent) -> Fraction | None:
    """Noise to sensitivity; of a claim of μ or ρ, that of the Gaussian noise that attains it, about."""
    if isinstance(mechanism, Block):
        claim = mechanism.claim
        if isinstance(claim, ZeroConcentratedDP) and claim.rho:
            return Fraction(1 / math.sqrt(2 * claim.rho))
        return 1 / Fraction(claim.mu) if isinstance(claim, GaussianDP) and claim.mu else None
    return getattr(mechanism, "ratio", None)


def _power(number: Fraction) -> str:
    return f"1e{len(str(number.numerator)) - len(str(number.denominator))}, about"


def _unbounded(event: PrivacyEvent) -> bool:
    """Whether a loss of the attained pair has no bound, so that ε is infinite at δ = 0."""
    mechanism = event.mechanism if isinstance(event, Sampled) else event
    if isinstance(mechanism, Block):
        claim = mechanism.claim
        return bool(claim.delta) or (isinstance(claim, GaussianDP | ZeroConcentratedDP) and claim.value > 0)
    return isinstance(mechanism, Gaussian | DiscreteGaussian)


def _largest(law: LossLaw, event: PrivacyEvent) -> Any:
    ends = law.ends() if isinstance(law, Continuous) else None
    if isinstance(law, Atoms) and not (law.infinite or law.spare):
        return law.values()[-1][0]
    if ends is None:
        raise UsageError(f"at δ = 0 the ε of {event} is infinite; give a δ above 0, such as 1e-6")
    return ends[1]


def _epsilon(low: Decimal, high: Decimal) -> float:
    return float(high - low) if high.is_finite() else (0.0 if high == low else math.inf)


def _outward(value: Decimal, *, up: bool) -> float:
    return outward(Fraction(value) if value.is_finite() else None, up=up)


def _refuse_loss(about: float) -> None:
    raise BeyondError(
        f"ε is about {about:,.0f}, which promises nothing, and curves are accounted for up to {_MOST_LOSS:,}; "
        "is the noise in the units of the answers, and the sensitivity that of one record?"
    )


def _by_order(order: RenyiOrder) -> dict[str, str]:
    return {"side": "above", "order": text(order.alpha)}


def _delta_by_order(rho: Fraction, epsilon: Fraction) -> Decimal:
    with precision(_FORMULA_BITS):
        return decimal(best_order(rho, epsilon=epsilon).delta(epsilon).min(ball(1)), up=True)


def _curve(
    around: Callable[[Fraction], tuple[Decimal, Decimal]], points: int, about: float
) -> Iterator[tuple[float, float, float]]:
    """Yield (ε, δ_low, δ_high) at equal steps of ε, from 0 to half as far again as asked for."""
    for number in range(points if math.isfinite(about) else 0):
        epsilon = Fraction(1.5 * max(about, 0.1) * number / max(1, points - 1))
        low, high = around(epsilon)
        yield float(epsilon), _outward(low, up=False), _outward(high, up=True)


# --- How large are μ and ρ of a list of events, certainly? They add up, and nothing is composed ---
#
# μ adds up as squares (Dong, Roth & Su 2022, Corollary 3.3), and ρ as it is (Bun & Steinke 2016, Lemma 2.3), adaptively
# too. Both ends are comparisons of rational numbers.

ADDED = ("mu", "rho")
"""The parameters that add up."""

_DIGITS = 30


def certify_added(events: Events | PrivacyEvent | Sequence[PrivacyEvent], parameter: str) -> Certified:
    """Return an interval that certainly holds μ or ρ of a list, with its certificate.

    From below it is the sum of the Kullback-Leibler divergences of pairs that are attained, which ρ is no less than.

    Args:
        events: a list of events, or one.
        parameter: "mu" or "rho".

    Raises:
        UsageError: for an event of which no theorem says μ or ρ.
    """
    listed = as_events(events)
    square, lowest = sums(listed, parameter)
    if parameter == "mu":
        low, high = _root(square)
    else:
        low, high = short(lowest, up=False), short(square, up=True)
    return Certified(
        listed,
        parameter,
        Fraction(0),
        outward(low, up=False),
        outward(high, up=True),
        certificate(listed, parameter, Fraction(0), (low, high), 0, []),
        (),
        TOLERANCE,
        "" if parameter == "mu" or lowest == square else "Of some events ρ is known between two bounds.",
    )


def sums(events: Events, parameter: str) -> tuple[Fraction, Fraction]:
    """Return μ² or ρ of a list, from above and from below, exactly.

    Raises:
        UsageError: for an event of which no theorem says it.
    """
    gaussian = parameter == "mu"
    known = [(concentrated(event), event, count) for event, count in events.parts]
    missing = [str(event) for own, event, _ in known if own is None or (gaussian and not own.gaussian)]
    if missing:
        raise UsageError(
            f"{'μ' if gaussian else 'ρ'} of {' and '.join(missing)} has no proof here: "
            f"{'only Gaussian noise without sampling' if gaussian else 'sampled records and (ε, δ) claims'} "
            f"{'has one' if gaussian else 'have none'}. Claim (ε, δ) instead, which is certified for all events"
        )
    factor = 2 if gaussian else 1  # μ² = 2ρ of Gaussian noise
    most = sum((factor * own.rho * count for own, _, count in known if own is not None), Fraction(0))
    return most, most if gaussian else sum((least(event) * count for _, event, count in known), Fraction(0))


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return the square root between two rational numbers, which are one where it is rational."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        quotient = Fraction(top, bottom)
        return short(quotient, up=False), short(quotient, up=True)
    scale = 10 ** (_DIGITS + max(0, len(str(square.denominator)) - len(str(square.numerator))))
    floor = math.isqrt(square.numerator * scale**2 // square.denominator)
    return Fraction(floor, scale), Fraction(floor + 1, scale)

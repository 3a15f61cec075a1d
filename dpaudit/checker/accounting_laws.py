"""Which loss does a step have, by its description? Probabilities of {L > u}, in intervals.

This is written from ``docs/accounting.md`` and shares nothing with the prover: P is the output with the record, Q the
one without, L = ln(dP/dQ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from dpaudit.checker.reading import DIGITS_OF_ACCOUNT, CertificateError, fields, rational, shown, whole
from dpaudit.checker.reals import DecimalField, Real, pure_rho

MOST_COUNT = 10**9
MOST_ATOMS = 200_001

Tails = Callable[[Real], tuple[Real, Real]]


@dataclass(frozen=True)
class Smooth:
    """A loss with a density, perhaps between two ends that have atoms."""

    tails: Tails  # P(L > u) and Q(L > u), and those of {L ≥ u} at the upper end
    # low, high: its ends, or None
    low: Real | None = None
    high: Real | None = None
    span: Fraction | None = None  # their distance where it is a rational number, or None
    spliced: bool = False  # whether its two halves come from two pairs
    # whether ``tails`` are those of events of which only P and Q are known, not how large losses are
    tested: bool = False


@dataclass(frozen=True)
class Discrete:
    """A loss with finitely many values."""

    values: tuple[tuple[Real, Real, Real], ...]  # (loss, P, Q), the losses rising
    # what they are multiples of from the first on: rational; "pair" for the distance of the first two; or None
    unit: Fraction | str | None
    # infinite, lost: the mass under P of ∞, and under Q of −∞
    infinite: Fraction = Fraction(0)
    lost: Fraction = Fraction(0)
    spare: bool = False  # whether a little mass is left out of ``values``


Law = Smooth | Discrete


@dataclass(frozen=True)
class ListedEvent:
    """An event of a certificate."""

    name: str  # of the mechanism, with its numbers, for people
    count: int  # how often it is run
    # above, below: the losses of a pair that dominates, and of one that is attained
    above: Law
    below: Law
    symmetric: bool  # whether the one above is the same in both directions
    relations: frozenset[str]  # for which neighbours
    rho: Fraction | None = None  # of zero-concentrated privacy, by theorem, or None
    curved: bool = True  # whether ``above`` is a pair that dominates; a claim of ρ has none


_RELATIONS = {
    "poisson": frozenset({"add-remove", "zero-out"}),
    "fixed size": frozenset({"replace-one"}),
    "shuffled": frozenset({"zero-out"}),
}
_ALL = frozenset({"add-remove", "zero-out", "replace-one"})


def positive(value: object, where: str) -> Fraction:
    """Return a rational above 0."""
    number = rational(value, where, DIGITS_OF_ACCOUNT)
    if number <= 0:
        raise CertificateError(f"{where}: must be above 0, not {number}")
    return number


def step(given: object, where: str, field: DecimalField, digits: int) -> ListedEvent:
    """Return an event as its description says.

    Args:
        given: the description.
        where: for messages.
        field: of the intervals.
        digits: decimal digits of the masses.
    """
    member = fields(given, {"mechanism", "count"}, where, frozenset({"sampling"}))
    count = whole(member["count"], f"{where}: the count", 1, MOST_COUNT)
    name, above, below = _mechanism(member["mechanism"], f"{where}: mechanism", field, digits)
    concentrated = member["mechanism"]["name"] == "concentrated claim"
    if "sampling" not in member:
        return ListedEvent(name, count, above, below, True, _ALL, _rho(member["mechanism"]), not concentrated)
    if concentrated:
        raise CertificateError(f"{where}: nothing is known of a claim of ρ on sampled records")
    sampling = member["sampling"]
    kind = sampling.get("name") if type(sampling) is dict else None
    place = f"{where}: sampling"
    if kind == "poisson":
        rate = positive(fields(sampling, {"name", "rate"}, place)["rate"], f"{place}: the rate")
        if rate > 1:
            raise CertificateError(f"{place}: a rate is at most 1")
        told = f"{name} of records sampled with probability {rate}"
        if rate == 1:
            return ListedEvent(told, count, above, below, True, _RELATIONS[kind])
        above, below = sampled(above, rate, field), sampled(below, rate, field)
        return ListedEvent(told, count, above, below, False, _RELATIONS[kind])
    if kind == "fixed size":
        fields(sampling, {"name", "batch", "records"}, place)
        records = whole(sampling["records"], f"{place}: records", 1, MOST_COUNT)
        batch = whole(sampling["batch"], f"{place}: batch", 1, records)
        told = f"{name} of {batch} of {records} records"
        if batch == records:
            return ListedEvent(told, count, above, below, True, _RELATIONS[kind])
        upper, lower = (sampled(law, Fraction(batch, records), field) for law in (above, below))
        spliced = _spliced(upper) if isinstance(upper, Smooth) else _spliced_values(above, upper)
        return ListedEvent(told, count, spliced, lower, True, _RELATIONS[kind])
    if kind == "shuffled":
        batches = whole(fields(sampling, {"name", "batches"}, place)["batches"], f"{place}: batches", 1, MOST_COUNT)
        told = f"an epoch of {batches} shuffled batches, each with {name}"
        if batches > 1:
            if member["mechanism"]["name"] != "gaussian":
                raise CertificateError(f"{place}: shuffled batches are known for Gaussian noise only")
            below = _largest(positive(member["mechanism"]["noise"], f"{where}: noise"), batches, field)
        return ListedEvent(told, count, above, below, True, _RELATIONS[kind])
    raise CertificateError(f"{place}: nothing is known of {shown(kind)}")


def _mechanism(given: object, where: str, field: DecimalField, digits: int) -> tuple[str, Law, Law]:
    """The name, and the losses above and below."""
    name = given.get("name") if type(given) is dict else None
    if name in ("gaussian", "laplace"):
        noise = positive(fields(given, {"name", "noise"}, where)["noise"], f"{where}: noise")
        smooth = _gaussian(noise * noise, field) if name == "gaussian" else _laplace(noise, field)
        return f"{name} noise {noise}", smooth, smooth
    if name in ("discrete gaussian", "discrete laplace"):
        member = fields(given, {"name", "noise", "sensitivity"}, where)
        noise = positive(member["noise"], f"{where}: noise")
        moves = whole(member["sensitivity"], f"{where}: sensitivity", 1, MOST_ATOMS)
        both = _discrete_laplace(noise, moves, field) if name == "discrete laplace" else None
        both = both or _discrete_gaussian(noise, moves, field, digits)
        return f"{name} noise {noise}", both, both
    if name in ("randomised response", "exponential"):
        epsilon = positive(fields(given, {"name", "epsilon"}, where)["epsilon"], f"{where}: epsilon")
        if name == "exponential":
            return (
                f"exponential mechanism {epsilon}",
                _range(epsilon, field),
                _response(epsilon / 2, Fraction(0), field),
            )
        law = _response(epsilon, Fraction(0), field)
        return f"randomised response {epsilon}", law, law
    if name == "concentrated claim":
        rho = positive(fields(given, {"name", "rho"}, where)["rho"], f"{where}: rho")
        smooth = _gaussian(1 / (2 * rho), field)  # it keeps the claim
        return f"a claim of ρ = {rho}", smooth, smooth
    if name == "claim":
        member = fields(given, {"name", "epsilon", "delta"}, where)
        epsilon = positive(member["epsilon"], f"{where}: epsilon")
        delta = rational(member["delta"], f"{where}: delta", DIGITS_OF_ACCOUNT)
        if not 0 <= delta < 1:
            raise CertificateError(f"{where}: delta is at least 0 and below 1")
        law = _response(epsilon, delta, field)
        return f"a claim of ε = {epsilon}, δ = {delta}", law, law
    raise CertificateError(f"{where}: nothing is known of {shown(name)}")


# --- laws --------------------------------------------------------------------------------------------------


def _rho(mechanism: dict[str, Any]) -> Fraction | None:
    """ρ by theorem: Δ²/2σ² of Gaussian noise, ε·tanh(ε/2) of ε-DP, ε²/8 of the exponential mechanism."""
    given = {key: Fraction(value) for key, value in mechanism.items() if key != "name"}
    if "rho" in given:
        return given["rho"]
    if "noise" in given:
        far = given.get("sensitivity", Fraction(1)) / given["noise"]
        return far**2 / 2 if "gaussian" in mechanism["name"] else pure_rho(far)
    if given.get("delta"):
        return None
    return given["epsilon"] ** 2 / 8 if mechanism["name"] == "exponential" else pure_rho(given["epsilon"])


def _gaussian(square_of_noise: Fraction, field: DecimalField) -> Smooth:
    """x ~ N(1, s²) under P and N(0, s²) under Q: L > u where x > s²u + 1/2."""
    square, half = field(square_of_noise), field(Fraction(1, 2))
    deviation = square.root()

    def tails(u: Real) -> tuple[Real, Real]:
        x = square * u + half
        z, moved = x / deviation, (x - 1) / deviation
        density = field.normal(z)
        # the loss u is where the density of P is e^u times that of Q
        return field.beyond(moved, density * u.exp()), field.beyond(z, density)

    return Smooth(tails)


def _largest(noise: Fraction, batches: int, field: DecimalField) -> Smooth:
    """One batch around 2 under P and 1 under Q, the others around 0: events {largest > s²u + 3/2}."""
    deviation, square = field(noise), field(noise * noise)

    def tails(u: Real) -> tuple[Real, Real]:
        c = square * u + field(Fraction(3, 2))
        others, without, with_it = (1 - field.beyond((c - moved) / deviation) for moved in (0, 1, 2))
        if not with_it.low > 0:
            raise CertificateError("an event is too far below")
        empty = others.log() * (batches - 1)
        return 1 - (empty + with_it.log()).exp(), 1 - (empty + without.log()).exp()

    return Smooth(tails, tested=True)


def _laplace(noise: Fraction, field: DecimalField) -> Smooth:
    """x < t = (1 − ub)/2, with probability 1 − e^(−t/b)/2 under P and e^((t − 1)/b)/2 under Q."""
    scale, end = field(noise), field(1 / noise)

    def tails(u: Real) -> tuple[Real, Real]:
        t = (1 - u * scale) / 2
        return 1 - (-t / scale).exp() / 2, ((t - 1) / scale).exp() / 2

    return Smooth(tails, -end, end, 2 / noise)


def _range(epsilon: Fraction, field: DecimalField) -> Smooth:
    """P = (e^ε − e^((ε + u)/2))/(e^ε − 1) and Q = (e^((ε − u)/2) − 1)/(e^ε − 1)."""
    end = field(epsilon)
    top = end.exp()
    rest = top - 1

    def tails(u: Real) -> tuple[Real, Real]:
        return (top - ((end + u) / 2).exp()) / rest, (((end - u) / 2).exp() - 1) / rest

    return Smooth(tails, -end, end, 2 * epsilon)


def _response(epsilon: Fraction, delta: Fraction, field: DecimalField) -> Discrete:
    loss, rest = field(epsilon), field(1 - delta)
    low, high = rest / (1 + loss.exp()), rest / (1 + (-loss).exp())
    return Discrete(((-loss, low, high), (loss, high, low)), 2 * epsilon, delta, delta)


def _discrete_laplace(noise: Fraction, moves: int, field: DecimalField) -> Discrete:
    """L = (|k − Δ| − |k|)/t is Δ/t at k ≤ 0, −Δ/t at k ≥ Δ, and (Δ − 2k)/t between."""
    r = field(-1 / noise).exp()
    powers = [field(1)]
    for _ in range(moves):
        powers.append(powers[-1] * r)
    values = []
    for k in range(moves, -1, -1):
        # P has its centre at 0, Q at Δ; at an end all that is farther is added
        ended_p, ended_q = k == 0, k == moves
        p = powers[k] / (1 + r) if ended_p or ended_q else powers[k] * (1 - r) / (1 + r)
        q = powers[moves - k] / (1 + r) if ended_p or ended_q else powers[moves - k] * (1 - r) / (1 + r)
        values.append((field((moves - 2 * k) / noise), p, q))
    return Discrete(tuple(values), 2 / noise)


def _discrete_gaussian(noise: Fraction, moves: int, field: DecimalField, digits: int) -> Discrete:
    """k ∝ e^(−(k − Δ)²/2σ²) under P, e^(−k²/2σ²) under Q: L = (2Δk − Δ²)/2σ²."""
    square = noise * noise
    # ⌈ln 100 · …⌉ bounds 2·ln 10·(digits + 5): how far the values are listed, as verified/on_paper.md says
    reach = isqrt(_ceiling(square * _ceiling(Fraction(4605170185988092, 10**15) * (digits + 5)))) + 1 + moves
    if reach > MOST_ATOMS:
        raise CertificateError(f"discrete noise with more than {MOST_ATOMS:,} values")
    shares = [field(-Fraction(k * k) / (2 * square)).exp() for k in range(reach + 1)]
    beyond = shares[-1] / (field(Fraction(reach) / square).exp() - 1)
    total = shares[0]
    for share in shares[1:]:
        total = total + 2 * share
    total = Real(total.low, (total + 2 * beyond).high, field)
    values = tuple(
        (
            field(Fraction(2 * moves * k - moves * moves) / (2 * square)),
            shares[abs(k - moves)] / total,
            shares[abs(k)] / total,
        )
        for k in range(moves - reach, reach + 1)
    )
    return Discrete(values, moves / square, spare=True)


def _ceiling(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


# --- what is made of them ----------------------------------------------------------------------------------


def carried(loss: Real, rate: Fraction, field: DecimalField) -> Real:
    """ln(1 − q + q·e^loss)."""
    return (field(1 - rate) + field(rate) * loss.exp()).log()


def sampled(law: Law, rate: Fraction, field: DecimalField) -> Law:
    """The loss of ((1 − q)Q + qP, Q)."""
    q = field(rate)
    if isinstance(law, Discrete):
        values = [(carried(loss, rate, field), q * p + (1 - q) * other, other) for loss, p, other in law.values]
        if law.lost:
            values.insert(0, (field(1 - rate).log(), field((1 - rate) * law.lost), field(law.lost)))
        return Discrete(tuple(values), "pair" if len(values) == 2 else None, law.infinite * rate, spare=law.spare)
    own = law.tails

    def tails(u: Real) -> tuple[Real, Real]:
        ratio = (u.exp() - 1) / q + 1
        if ratio.high < 0:
            return field(1), field(1)
        if ratio.low <= 0:
            raise CertificateError("a corner is too close to ln(1 − q)")
        p, other = own(ratio.log())
        return other + q * (p - other), other

    if law.low is None or law.high is None:
        return Smooth(tails)
    return Smooth(tails, carried(law.low, rate, field), carried(law.high, rate, field))


def turned(law: Law) -> Law:
    """The loss from Q to P."""
    if isinstance(law, Discrete):
        values = tuple((-loss, q, p) for loss, p, q in reversed(law.values))
        return Discrete(values, law.unit, law.lost, law.infinite, law.spare)
    own = law.tails

    def tails(u: Real) -> tuple[Real, Real]:
        p, q = own(-u)
        return 1 - q, 1 - p

    if law.low is None or law.high is None:
        return Smooth(tails)
    return Smooth(tails, -law.high, -law.low, law.span)


def _spliced_values(own: Law, law: Discrete) -> Discrete:
    """The losses above 0 of a sampled law, turned below 0, and at 0 what is left; its own says which are above."""
    assert isinstance(own, Discrete)
    first = len(law.values) - len(own.values)  # one more where only Q has mass
    above = [False] * first + [loss.low > 0 for loss, _, _ in own.values]
    if any(loss.high > 0 for (loss, _, _), is_above in zip(own.values, above[first:], strict=True) if not is_above):
        raise CertificateError("a loss is too close to 0")
    high = [each for each, is_above in zip(law.values, above, strict=True) if is_above]
    left = sum((p for (_, p, _), is_above in zip(law.values, above, strict=True) if not is_above), high[0][0].field(0))
    for _, _, q in high:
        left = left - q
    values = (*((-loss, q, p) for loss, p, q in reversed(high)), (left.field(0), left, left), *high)
    return Discrete(values, "pair" if len(high) == 1 else None, law.infinite, law.infinite, law.spare)


def _spliced(law: Smooth) -> Smooth:
    """The law for u ≥ 0, and the turned one for u < 0."""
    other = turned(law)
    assert isinstance(other, Smooth)
    lower = other.tails

    def tails(u: Real) -> tuple[Real, Real]:
        if law.high is not None:
            if u.low > law.high.high or u.high < law.high.high.copy_negate():
                ended = law.high.field(0 if u.low > 0 else 1)
                return ended, ended
            if not (u.high < law.high.low and u.low > law.high.low.copy_negate()):
                raise CertificateError("a corner is too close to an end of the loss")
        if u.low >= 0:
            return law.tails(u)
        if u.high >= 0:
            raise CertificateError("a corner is too close to 0")
        return lower(u)

    return Smooth(tails, spliced=True)

"""Is an account of many steps right? ε and δ computed again, by another way, with the standard library alone.

The certificate names the events, the lattice and where losses were cut. From these the checker computes every mass
again, in whole numbers, and the sums from which the interval follows; the theorem is in ``docs/accounting.md``.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounting_laws import Discrete, Law, ListedEvent, Smooth, positive, step, turned
from dpaudit.checker.accounting_sums import (
    ADDED,
    MOST_LOSS,
    ClaimedInterval,
    Composer,
    Lattice,
    Loss,
    Order,
    Sums,
    check_sum,
    digest,
    exact_sum,
    gaussian_sum,
    plain,
)
from dpaudit.checker.certificate import Checked
from dpaudit.checker.reading import (
    DIGITS_OF_ACCOUNT,
    CertificateError,
    ForgedError,
    fields,
    items,
    rational,
    shown,
    text,
    whole,
)
from dpaudit.checker.reals import DecimalField, Real

MOST_EVENTS = 1_000
MOST_CORNERS = 2_000_000
MOST_ORDERS = 100_000
Number = Fraction | float  # a fraction, or infinity
_FIELDS = {"format", "version", "kind", "events", "parameter", "at", "low", "high", "digits", "ends"}
_GUARDS = (25, 60)  # digits of the intervals beyond those of the masses: more where a mass is too close to call
_ENDS = "the upper end for all neighbours, the lower one for some"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,1999}", re.ASCII)


def check(given: dict[str, Any]) -> Checked:
    """Check a certificate of an account.

    Raises:
        ForgedError: it can be read and does not prove its interval.
        CertificateError: it is not of this format, or too large.
    """
    fields(given, _FIELDS, "the certificate")
    claimed = _claimed(given)
    listed = items(given["events"], "events", MOST_EVENTS, 1)
    ends = items(given["ends"], "ends", 3)
    with _many_digits():
        field = DecimalField(claimed.digits + _GUARDS[-1])
        steps = [step(event, f"event {number}", field, claimed.digits) for number, event in enumerate(listed)]
        relations = frozenset.intersection(*(one.relations for one in steps))
        if not relations:
            raise ForgedError("the events have no relation of neighbours in common")
        parameter, at = claimed.parameter, claimed.at
        if parameter in ADDED:
            told = check_sum(listed, steps, claimed, ends)
        elif claimed.digits:
            told = _composed(listed, steps, ends, claimed)
        elif parameter == "delta" or at:
            told = _by_formula(listed, steps, ends, claimed)
        else:
            told = _summed(listed, steps, ends, claimed)
        name = ADDED.get(parameter, "ε" if parameter == "epsilon" else "δ")
        other = "" if parameter in ADDED else f" at δ = {at}" if parameter == "epsilon" else f" at ε = {at}"
        said = f"{float(claimed.low):.9g} ≤ {name} ≤ {float(claimed.high):.9g}{other}: {_ENDS}."
        events = [f"{one.count} × {one.name}" for one in steps]
        scope = {name: given[name] for name in ("parameter", "at", "low", "high")}
        scope |= {"relations": sorted(relations), "events": events}
        return Checked(claimed.high, "account", {"name": " + ".join(events), "source": ""}, scope, (said, *told))


def _claimed(given: dict[str, Any]) -> ClaimedInterval:
    parameter, ends = given["parameter"], [given["low"], given["high"]]
    if type(parameter) is not str or parameter not in ("epsilon", "delta", *ADDED):
        raise CertificateError(f"the parameter is 'epsilon', 'delta', 'mu' or 'rho', not {shown(parameter)}")
    at = rational(given["at"], "at", DIGITS_OF_ACCOUNT)
    low, high = (
        math.inf if end == "infinity" and type(end) is str else rational(end, name, DIGITS_OF_ACCOUNT)
        for name, end in zip(("low", "high"), ends, strict=True)
    )
    if not 0 <= low <= high:
        raise CertificateError("the interval begins at 0 or above, and does not end before it begins")
    if math.inf in (low, high) and parameter != "epsilon":
        raise CertificateError("of all that is accounted for, ε alone may be infinite")
    if at < 0 or (parameter == "epsilon" and at >= 1) or (parameter == "delta" and high > 1):
        raise CertificateError("δ is at least 0 and at most 1 (below 1 where ε is asked for), and ε at least 0")
    return ClaimedInterval(parameter, at, low, high, whole(given["digits"], "digits", 0, DIGITS_OF_ACCOUNT))


@contextmanager
def _many_digits() -> Iterator[None]:
    """Let whole numbers of many digits become texts, which Python limits; refuse numbers beyond all ranges."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    except ArithmeticError as error:
        raise CertificateError("a number is too large or too small to check") from error
    finally:
        sys.set_int_max_str_digits(before)


def _by_formula(listed: list[Any], steps: list[ListedEvent], ends: list[Any], claimed: ClaimedInterval) -> list[str]:
    """Without masses the formula of Gaussian noise shows both ends, or one order the upper one and it the lower."""
    told = []
    for number, end in enumerate(ends):
        member = fields(end, {"side", "order"}, where := f"end {number}")
        if number:
            raise CertificateError(f"{where}: without digits there is at most one end, an order")
        told.append(_ordered(steps, member, where, claimed))
    return [*told, *gaussian_sum(listed, claimed, bounded=bool(ends) or claimed.is_open)]


def _summed(listed: list[Any], steps: list[ListedEvent], ends: list[Any], claimed: ClaimedInterval) -> list[str]:
    """At δ = 0, ε is the sum of the largest losses, and infinite where one of them is."""
    low, high, field = claimed.low, claimed.high, DecimalField(_GUARDS[-1])
    if ends:
        raise CertificateError("at δ = 0 the largest losses are added, and there are no ends")
    if isinstance(low, float):
        if not any(_unbounded(one.below) for one in steps):
            raise ForgedError("no loss is shown to have no bound")
        return ["Some losses have no bound, so that no finite ε holds at δ = 0."]
    if exact_sum(listed, low, high):
        return ["The largest losses of all steps were added, exactly."]
    total = [field(0), field(0)]
    for one in steps:
        for side, law in enumerate((one.below, one.above)):
            if not side or not isinstance(high, float):
                total[side] = total[side] + _largest(law) * one.count
    within = isinstance(high, float) or total[1].high <= field(high).low
    if not total[0].low >= field(low).high or not within:
        raise ForgedError("the largest losses do not add up to the interval")
    return ["The largest losses of all steps were added."]


def _unbounded(law: Law) -> bool:
    return bool(law.infinite or law.spare) if isinstance(law, Discrete) else law.high is None


def _largest(law: Law) -> Real:
    if isinstance(law, Discrete):
        most = None if law.infinite or law.lost or law.spare else law.values[-1][0]
    else:
        most = law.high
    if most is None:
        raise ForgedError("a loss has no bound, so that ε is infinite at δ = 0")
    return most


def _composed(listed: list[Any], steps: list[ListedEvent], ends: list[Any], claimed: ClaimedInterval) -> list[str]:
    parameter, at, low, high = claimed.parameter, claimed.at, claimed.low, claimed.high
    symmetric = all(one.symmetric for one in steps)
    wanted = (
        {("remove", "above")} | (set() if symmetric else {("add", "above")}) | ({("remove", "below")} if low else set())
    )
    curved = all(one.curved for one in steps)
    if not curved:
        wanted = {("order", "above")} | (wanted & {("remove", "below")})
    if claimed.is_open:
        wanted &= {("remove", "below")}
    told, seen = [], set()
    for number, end in enumerate(ends):
        where = f"end {number}"
        if high == math.inf and type(end) is dict and end.get("side") == "above":
            raise CertificateError(f"{where}: nothing is claimed from above, and here is a composition")
        if type(end) is dict and "order" in end:
            if ("order", "above") in seen:
                raise CertificateError(f"{where}: an order is there twice")
            seen.add(("order", "above"))
            told.append(_ordered(steps, fields(end, {"side", "order"}, where), where, claimed))
            continue
        needed = {"direction", "side", "step", "corners", "events", "cuts", "digest", "sums"}
        member = fields(end, needed, where, frozenset({"program", "factors"}))
        key = member["direction"], member["side"]
        if key not in {("remove", "above"), ("add", "above"), ("remove", "below")} or key in seen:
            raise CertificateError(f"{where}: {shown(key[0])}, {shown(key[1])} is unknown, or there twice")
        if key[1] == "above" and not curved:
            raise ForgedError(f"{where}: no pair dominates a claim of ρ, so it has no composition from above")
        seen.add(key)
        epsilon = (high if key[1] == "above" else low) if parameter == "epsilon" else at
        sums = _end(listed, member, where, key == ("add", "above"), key[1] == "above", claimed.digits, epsilon)
        value = sums.at_infinity() if isinstance(epsilon, float) else sums.delta(epsilon)
        if key[1] == "above":
            limit = at if parameter == "epsilon" else high
            if not Fraction(value) <= limit:
                raise ForgedError(f"{where}: δ is not shown to be at most {float(limit):.6g}, only {float(value):.6g}")
        elif low:
            limit = at if parameter == "epsilon" else low
            shows = Fraction(value) > limit if parameter == "epsilon" else Fraction(value) >= limit
            if not shows:
                raise ForgedError(f"{where}: δ is not shown to be above {float(limit):.6g}, only {float(value):.6g}")
        told.append(f"{key[0].capitalize()}, from {key[1]}: {sums.length:,} places, masses of {claimed.digits} digits.")
    if missing := wanted - seen:
        raise ForgedError(f"there is no composition for {', from '.join(min(missing))}")
    return told


def _ordered(steps: list[ListedEvent], end: dict[str, Any], where: str, claimed: ClaimedInterval) -> str:
    """δ ≤ e^((α − 1)(αρ − ε))·(1 − 1/α)^(α − 1)/α (Canonne, Kamath & Steinke 2020, Proposition 12)."""
    alpha = rational(end["order"], f"{where}: order", DIGITS_OF_ACCOUNT)
    if end["side"] != "above" or alpha <= 1:
        raise CertificateError(f"{where}: an order is above 1, and bounds from above")
    at, high = claimed.at, claimed.high
    if isinstance(high, float):
        raise CertificateError(f"{where}: an order bounds from above, and nothing is claimed there")
    rho = Fraction(0)
    for one in steps:
        if one.rho is None:
            raise ForgedError(f"{where}: {one.name} has no ρ that is known")
        rho += one.rho * one.count
    field = DecimalField(claimed.digits + _GUARDS[-1])
    epsilon, delta = (high, at) if claimed.parameter == "epsilon" else (at, high)
    # in logarithms, in which nothing overflows
    logarithm = (field(1 - 1 / alpha).log() + field(alpha * rho - epsilon)) * field(alpha - 1) - field(alpha).log()
    if delta < 1 and not (delta > 0 and logarithm.high <= field(delta).log().low):
        raise ForgedError(f"{where}: δ is not shown to be at most {float(delta):.6g}")
    return f"From above: ρ ≤ {float(rho):.6g}, by its divergence of order {float(alpha):.6g}."


def _end(
    listed: list[Any], member: dict[str, Any], where: str, add: bool, up: bool, digits: int, epsilon: Number
) -> Sums:
    """Compute one composition again, and compare digest and sums."""
    corners = [
        _places(given, f"{where}: corners") for given in items(member["corners"], where, len(listed), len(listed))
    ]
    events = [_places(given, f"{where}: events") for given in items(member["events"], where, len(listed), len(listed))]
    cuts = [
        tuple(_whole_of_text(value, f"{where}: a cut") for value in items(pair, f"{where}: cuts", 2, 2))
        for pair in items(member["cuts"], f"{where}: cuts", 100_000)
    ]
    for guard in _GUARDS:
        try:
            lattice, losses = _losses(listed, member, where, (add, up), digits, guard, corners, events)
            break
        except CertificateError:
            if guard == _GUARDS[-1]:
                raise
    counts = [event["count"] for event in listed]
    program, numbers = _program(member, where) if "program" in member or "factors" in member else plain(counts)
    composer = Composer(lattice, digits, cuts)  # type: ignore[arg-type]
    factors = composer.factors(losses, counts, program, numbers)
    if text(member["digest"], f"{where}: digest") != digest(factors):
        raise ForgedError(f"{where}: the masses are not those of the digest")
    sums = Sums(factors, lattice)
    given = fields(member["sums"], {"place", "above", "infinite"}, f"{where}: sums")
    above, infinite = (_whole_of_text(given[name], f"{where}: sums") for name in ("above", "infinite"))
    if isinstance(epsilon, float):
        whole(given["place"], f"{where}: the place of no finite loss", -1, -1)
        if above or infinite != sums.infinite:
            raise ForgedError(f"{where}: the sums are others")
        return sums
    place = whole(given["place"], f"{where}: the place", 0, 10**12)
    near = sums.places(lattice.field(epsilon))
    if not near[0] - 1 <= place <= near[-1] + 1:  # a claim may be at a place itself
        raise ForgedError(f"{where}: the first loss above the claim is at another place")
    if above != sums.above(place) or infinite != sums.infinite:
        raise ForgedError(f"{where}: the sums are others")
    return sums


def _losses(
    listed: list[Any],
    member: dict[str, Any],
    where: str,
    kind: tuple[bool, bool],
    digits: int,
    guard: int,
    corners: list[list[int]],
    events: list[list[int]],
) -> tuple[Lattice, list[Loss]]:
    """Return the lattice, and the losses of one step of each event."""
    add, up = kind
    field = DecimalField(digits + guard)
    again = _laws(listed, field, digits, add, up)
    size, wholes = _step(member["step"], again, f"{where}: step", field)
    if more := _more_digits(again, size, corners, where):
        # e^loss magnifies what is uncertain of Q
        field = DecimalField(digits + guard + more)
        again = _laws(listed, field, digits, add, up)
        size, wholes = _step(member["step"], again, f"{where}: step", field)
    lattice = Lattice(size, 10**digits, up, wholes, field)
    return lattice, [
        lattice.loss(law, number, corners[number], events[number], f"{where}: law {number}")
        for number, law in enumerate(again)
    ]


def _program(member: dict[str, Any], where: str) -> tuple[list[Order], list[int]]:
    """Return what to multiply and to move, in turn, and the numbers of the factors."""
    fields(member, {"program", "factors"}, where, frozenset(member))
    program: list[Order] = []
    for given in items(member["program"], f"{where}: program", MOST_ORDERS):
        number, other = items(given, f"{where}: program", 2, 2)
        if other not in ("even", "odd") or type(other) is not str:
            other = whole(other, f"{where}: program", 0, MOST_EVENTS + MOST_ORDERS)
        program.append((whole(number, f"{where}: program", 0, MOST_EVENTS + MOST_ORDERS), other))
    factors = items(member["factors"], f"{where}: factors", 2, 1)
    return program, [whole(number, f"{where}: factors", 0, MOST_EVENTS + MOST_ORDERS) for number in factors]


def _places(value: object, where: str) -> list[int]:
    """Return the first place and all others from [first, gap, how often, gap, how often, …]."""
    given = items(value, where, MOST_CORNERS)
    if not given:
        return []
    places = [whole(given[0], where, -(10**12), 10**12)]
    if len(given) % 2 == 0:
        raise CertificateError(f"{where}: after the first place come gaps, each with how often")
    for gap, times in zip(given[1::2], given[2::2], strict=True):
        whole(gap, where, 0, 10**12)
        for _ in range(whole(times, where, 1, MOST_CORNERS - min(len(places), MOST_CORNERS - 1))):
            places.append(places[-1] + gap)
    return places


def _whole_of_text(value: object, where: str) -> int:
    """Return a whole number from its text."""
    if type(value) is not str or not _NUMBER.fullmatch(value):
        raise CertificateError(f"{where}: must be a whole number as a text of digits, not {shown(value)}")
    return int(value)


def _laws(listed: list[Any], field: DecimalField, digits: int, add: bool, up: bool) -> list[Law]:
    """The loss of each event, of this direction and from this side."""
    steps = [step(event, f"event {number}", field, digits) for number, event in enumerate(listed)]
    return [(turned(one.above) if add and not one.symmetric else one.above) if up else one.below for one in steps]


def _more_digits(laws: list[Law], size: Real, corners: list[list[int]], where: str) -> int:
    """Digits that the largest loss on the lattice costs."""
    reach = 0.0
    for law, places in zip(laws, corners, strict=True):
        if isinstance(law, Smooth):
            own = max((abs(place) for place in places), default=0) * float(size.high)
            reach = max(reach, own + (0.0 if law.low is None else abs(float(law.low.low))))
    if not reach < MOST_LOSS:
        raise CertificateError(f"{where}: losses above {MOST_LOSS:,} are too large to check")
    return int(reach / 2.3) + 1


def _step(given: object, laws: list[Law], where: str, field: DecimalField) -> tuple[Real, tuple[int | None, ...]]:
    """Return the step of the lattice, and the distance of each law in steps where it certainly is a whole number."""
    if type(given) is dict:
        fields(given, {"law", "parts"}, where)
        anchor = whole(given["law"], f"{where}: the law", 0, len(laws) - 1)
        parts = whole(given["parts"], f"{where}: parts", 1, 10**9)
        law = laws[anchor]
        if isinstance(law, Discrete):
            if law.unit != "pair":
                raise CertificateError(f"{where}: the law has no distance of its own")
            span = law.values[1][0] - law.values[0][0]
        elif law.low is None or law.high is None:
            raise CertificateError(f"{where}: the law has no ends")
        else:
            span = law.high - law.low
        return span / parts, tuple(parts if number == anchor else None for number in range(len(laws)))
    number = positive(given, where)
    wholes: list[int | None] = []
    for law in laws:
        unit = law.unit if isinstance(law, Discrete) else law.span
        ratio = unit / number if isinstance(unit, Fraction) else None
        wholes.append(ratio.numerator if ratio is not None and ratio.denominator == 1 else None)
    return field(number), tuple(wholes)

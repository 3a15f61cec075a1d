"""Which whole numbers stand for the loss of one step? Computed from a certificate's lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpaudit.checker.accounting_laws import Discrete, Law, Smooth
from dpaudit.checker.accounting_numbers import Field, Real
from dpaudit.checker.reading import CertificateError, ForgedError

FINER = 4096  # thresholds of events in a step
MOST_PLACES = 6_000_000


class CloseError(CertificateError):
    """An interval does not tell to which whole number it is rounded; more digits would."""


@dataclass
class Loss:
    """Units ``masses[i]`` at base + size·2^level·(start + i), and ``infinite`` units at ∞."""

    masses: list[int]
    start: int
    infinite: int
    base: Real
    level: int = 0


@dataclass(frozen=True)
class Lattice:
    """What all losses of one composition share.

    Attributes:
        size: the step.
        unit: how many units are 1.
        up: whether bounds are from above.
        wholes: of each law, its distance in steps where that is a whole number, else None.
        field: of the intervals.
    """

    size: Real
    unit: int
    up: bool
    wholes: tuple[int | None, ...]
    field: Field

    def units(self, value: Real) -> int:
        """⌊value·unit + 1.3⌋ from above, ⌊value·unit − 0.3⌋ (or 0) from below."""
        return in_units(value, self.unit, self.field, up=self.up)

    def loss(self, law: Law, number: int, corners: Sequence[int], events: Sequence[int], where: str) -> Loss:
        """Return the masses of one law.

        Args:
            law: the law.
            number: its place in the list of events.
            corners: in steps from its base; none for a discrete law.
            events: from below, thresholds between the corners, `FINER` to a step.
            where: for messages.
        """
        whole = self.wholes[number]
        if isinstance(law, Discrete):
            if corners or events:
                raise CertificateError(f"{where}: a discrete loss has no corners and no events")
            return self._discrete(law, whole)
        if len(corners) < 2 or any(a >= b for a, b in pairwise(corners)) or corners[-1] - corners[0] > MOST_PLACES:
            raise CertificateError(f"{where}: corners are rising, two at least, within {MOST_PLACES:,} places")
        base = law.low if law.low is not None else self.field(0)
        if self.up:
            if events:
                raise CertificateError(f"{where}: there are no events from above")
            return self._above(law, whole, list(corners), base, where)
        return self._below(law, whole, list(corners), list(events), base, where)

    def _above(self, law: Smooth, whole: int | None, corners: list[int], base: Real, where: str) -> Loss:
        """Chords of the curve."""
        losses = [base + self.size * corner for corner in corners]
        ended = False
        if law.low is not None and law.high is not None:
            if corners[0] < 0 or not all(loss.high < law.high.low for loss in losses[:-1]):
                raise CertificateError(
                    f"{where}: only the last corner may be at the upper end, and none below the lower"
                )
            ended = corners[-1] == whole or losses[-1].low > law.high.high
            if not ended and not losses[-1].high < law.high.low:
                raise CertificateError(f"{where}: the last corner is too close to the upper end")
        values = []
        for loss in losses[: len(losses) - ended]:
            p, q = law.tails(loss)
            values.append(p - loss.exp() * q)
        values += [self.field(0)] * ended
        masses = self._masses(losses, values)
        if any(mass.high < 0 or (law.spliced and mass.low < 0) for mass in masses):
            raise ForgedError(f"{where}: the chords are not convex")
        infinite = 0 if ended else self.units(values[-1])
        return self._placed(
            {corner: self.units(mass) for corner, mass in zip(corners, masses, strict=True)}, infinite, base
        )

    def _below(
        self, law: Smooth, whole: int | None, corners: list[int], events: list[int], base: Real, where: str
    ) -> Loss:
        """Test lines."""
        if len(events) != len(corners) - 1 or any(a > b for a, b in pairwise(events)):
            raise CertificateError(f"{where}: there is one event between two corners, and they rise")
        if events[-1] < FINER * corners[-1] and not law.tested:
            raise ForgedError(f"{where}: the last event is not above the last corner")
        part = self.size / FINER
        thresholds = [base + part * event for event in events]
        if law.low is not None and law.high is not None:
            last = None if whole is None else FINER * whole
            if events[0] < 0 or not all(
                event == last or loss.high < law.high.low for event, loss in zip(events, thresholds, strict=True)
            ):
                raise CertificateError(f"{where}: events are between the ends of the loss")
        lines = [law.tails(loss) for loss in thresholds]
        losses = [base + self.size * corner for corner in corners]
        if law.tested and not (lines[-1][0] - losses[-1].exp() * lines[-1][1]).low >= 0:
            raise ForgedError(f"{where}: the last event shows no loss as large as the last corner")
        one = self.field(1)
        values = []
        for loss, (p, q), (r, s) in zip(losses[:-1], [(one, one), *lines[:-1]], lines, strict=True):
            alpha = loss.exp()
            values.append((p - alpha * q).smaller(r - alpha * s))
        masses = self._masses(losses, [*values, self.field(0)])
        if any(mass.low < 0 for mass in masses):
            raise ForgedError(f"{where}: the polyline of test lines is not convex")
        found = {corner: self.units(mass) for corner, mass in zip(corners, masses, strict=True)}
        return self._placed(found, 0, base)

    def _masses(self, losses: list[Real], values: list[Real]) -> list[Real]:
        """α times the increase of slope of the polyline that begins in (0, 1) and is level after its last corner."""
        alphas = [loss.exp() for loss in losses]
        slopes = [(values[0] - 1) / alphas[0]]
        slopes += [(w - v) / (b - a) for (v, w), (a, b) in zip(pairwise(values), pairwise(alphas), strict=True)]
        slopes.append(self.field(0))
        return [alpha * (after - before) for alpha, (before, after) in zip(alphas, pairwise(slopes), strict=True)]

    def _discrete(self, law: Discrete, whole: int | None) -> Loss:
        base = law.values[0][0]
        infinite = 0
        if self.up and law.spare:
            left = self.field(1 - law.infinite)
            for _, mass, _ in law.values:
                left = left - mass
            infinite = self.units(left + self.field(law.infinite))
        elif law.infinite:
            infinite = self.units(self.field(law.infinite))
        found: dict[int, Real] = {}

        def put(place: int, mass: Real) -> None:
            found[place] = found[place] + mass if place in found else mass

        for number, (loss, mass, _) in enumerate(law.values):
            if whole is not None or not number:
                put(number * (whole or 0), mass)
                continue
            offset = (loss - base) / self.size
            if not self.up:
                put(int(offset.low.to_integral_value(rounding="ROUND_FLOOR")), mass)
                continue
            # split between the places beside it, P and Q being kept
            high = int(offset.high.to_integral_value(rounding="ROUND_CEILING"))
            low_loss, high_loss = base + self.size * (high - 1), base + self.size * high
            share = ((low_loss - loss).exp() - (low_loss - high_loss).exp()) / (1 - (low_loss - high_loss).exp())
            put(high - 1, mass * share)
            put(high, mass * (1 - share))
        return self._placed({place: self.units(mass) for place, mass in found.items()}, infinite, base)

    def _placed(self, found: dict[int, int], infinite: int, base: Real) -> Loss:
        start = min(found)
        if max(found) - start > MOST_PLACES:
            raise CertificateError(f"a loss reaches over more than {MOST_PLACES:,} places")
        masses = [0] * (max(found) - start + 1)
        for place, mass in found.items():
            masses[place - start] = mass
        return Loss(masses, start, infinite, base)


def in_units(value: Real, unit: int, field: Field, *, up: bool) -> int:
    """⌊value·unit + 1.3⌋ from above, ⌊value·unit − 0.3⌋ (or 0) from below.

    Raises `CloseError` where the interval is too wide to tell.
    """
    moved = value * unit + field(Fraction(13, 10) if up else Fraction(-3, 10))
    low, high = (int(end.to_integral_value(rounding="ROUND_FLOOR")) for end in (moved.low, moved.high))
    if not up:
        low, high = max(0, low), max(0, high)
    if low != high:
        raise CloseError("a mass is too close to where it would be rounded otherwise")
    return low

"""What does it cost to align a class with that on a neighbouring dataset? Rows, worst differences and costs.

A class has one shift of its draws for each difference of the data. The differences of a relation form a polytope and
the cheapest cost is convex, so the worst differences are vertices. If a query can make the rows harder in one direction
only, the other direction is left out. For discrete draws shifts cannot be mixed, so every integer difference counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from dpaudit.checker.reading import (
    DIGITS_OF_VECTOR,
    CertificateError,
    Expression,
    ForgedError,
    Steps,
    fields,
    items,
    rational,
    to_integers,
)
from dpaudit.checker.tree import Condition, Draw, condition

MOST_DIFFERENCES = 20_000
MOST_LENGTH = 1_000
MOST_GROUP = 1_000
MOVEMENTS = ("all", "one", "monotone", "norm=1")


@dataclass(frozen=True, slots=True)
class Movement:
    """How the queries of neighbouring datasets differ.

    Attributes:
        name: "all", "one", "monotone" or "norm=1".
        group: how many steps.
        integer: whether the data are whole numbers.
    """

    name: str
    group: int
    integer: bool

    @property
    def summed(self) -> bool:
        """Whether the sum of all |differences| is limited, instead of each of them."""
        return self.name in ("one", "norm=1")

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of a query's difference; the box of each range is covered separately."""
        if self.name == "monotone":
            return [(up - self.group, up) for up in range(self.group + 1)]
        return [(-self.group, self.group)]


@dataclass(frozen=True, slots=True)
class Region:
    """What a shift must keep: the rows stay ≥ 0 and the equalities 0, both without their constants.

    Attributes:
        name: what messages call it.
        rows: inequalities over data, states and draws.
        equalities: conditions with "=" and released expressions.
        draws: the draws that are shifted.
    """

    name: str
    rows: tuple[Mapping[str, int], ...]
    equalities: tuple[Mapping[str, int], ...]
    draws: tuple[Draw, ...]

    @classmethod
    def of(
        cls, name: str, conditions: Sequence[Condition], kept: Iterable[Expression], draws: Sequence[Draw]
    ) -> Region:
        """Return the region of some conditions.

        Args:
            name: what messages call it.
            conditions: those of the region.
            kept: further expressions that must keep their value.
            draws: the draws that are shifted.
        """
        equal = [row for row in conditions if row.kind == "="]
        equal += [condition(expression, "=", draws, name) for expression in kept]
        rows = tuple(row.terms for row in conditions if row.kind != "=")
        return cls(name, rows, tuple(row.terms for row in equal), tuple(draws))

    @property
    def discrete(self) -> bool:
        """Whether one of the draws is discrete."""
        return any(not draw.continuous for draw in self.draws)

    def way(self, names: Sequence[str]) -> list[str]:
        """Return for each variable whether its worst differences are "low", "high" or "both"."""
        rises: set[str] = set()
        falls: set[str] = set()
        for row in self.rows:
            for name, coefficient in row.items():
                (rises if coefficient > 0 else falls).add(name)
        for row in self.equalities:
            rises.update(row)
            falls.update(row)
        return ["low" if name not in falls else "high" if name not in rises else "both" for name in names]

    def shift(self, value: object, where: str) -> list[Fraction]:
        """Return a shift of the draws that their laws allow."""
        given = items(value, where, len(self.draws), len(self.draws))
        shifts = [rational(number, where) for number in given]
        for number, (shift, draw) in enumerate(zip(shifts, self.draws, strict=True)):
            law = draw.law
            if shift and not (law.up or law.down):
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted, as by {shift}")
            if shift < 0 and not law.down:
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted down by {-shift}")
            if shift > 0 and not law.up:
                raise ForgedError(f"{where}: h{number} is {draw.method} noise and must not be shifted up by {shift}")
            if law.support == "integers" and shift.denominator != 1:
                raise ForgedError(f"{where}: h{number} is integer noise and must not be shifted by {shift}")
        return shifts

    def cost(self, values: Mapping[str, Fraction], shift: Sequence[Fraction], where: str, steps: Steps) -> Fraction:
        """Return the cost of a shift in nats.

        Args:
            values: the differences of the other variables ("1" has the value 1, for equalities to a constant).
            shift: of each draw.
            where: what to call it in messages.
            steps: the counter of the work.

        Raises:
            ForgedError: unless the shift keeps the region.
        """
        moved = dict(values)
        moved.update((f"h{number}", value) for number, value in enumerate(shift))
        integers, common = to_integers(list(moved.values()), DIGITS_OF_VECTOR, where)
        found = dict(zip(moved, integers, strict=True))
        weight = 1 + common.bit_length() // 512
        for what, rows in (("condition", self.rows), ("released expression or equality", self.equalities)):
            for row in rows:
                steps.spend((len(row) + 1) * weight)
                total = sum([coefficient * found[name] for name, coefficient in row.items()])
                if total < 0 or (total and rows is self.equalities):
                    text = " + ".join(f"{coefficient}·{name}" for name, coefficient in row.items())
                    raise ForgedError(f"{where}: the shift does not keep the {what} {text:.200}")
        sizes = [abs(s) / d.scale for s, d in zip(shift, self.draws, strict=True) if d.law.up or d.law.down]
        integers, common = to_integers(sizes, DIGITS_OF_VECTOR, where)
        return Fraction(sum(integers), common)


def worst(region: Region, length: int, movement: Movement, steps: Steps) -> Iterator[tuple[int, ...]]:
    """Yield the worst differences of a class over the queries q0, q1, …; some may come more than once.

    Args:
        region: what shifts must keep.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        CertificateError: if there are too many.
    """
    ways = region.way([f"q{number}" for number in range(length)])
    whole_numbers = region.discrete
    if not movement.summed:
        for box in movement.ranges:
            options = ends(ways, box, whole_numbers=whole_numbers)
            if prod(map(len, options)) > MOST_DIFFERENCES:
                raise CertificateError(f"{region.name}: more than {MOST_DIFFERENCES:,} worst differences")
            yield from product(*options)
    elif whole_numbers:
        yield from _points(ways, movement.group, region.name, steps)
    else:
        for number, way in enumerate(ways):
            for size in {"low": [-1], "high": [1], "both": [-1, 1]}[way]:
                yield tuple(size * movement.group * (j == number) for j in range(length))


def ends(ways: Iterable[str], box: tuple[int, int], *, whole_numbers: bool) -> list[list[int]]:
    """Return the worst differences of each query within a box, by the way in which it is worse."""
    low, high = box
    between = list(range(low, high + 1)) if whole_numbers else sorted({low, high})
    return [[low] if way == "low" else [high] if way == "high" else between for way in ways]


def _points(ways: list[str], most: int, where: str, steps: Steps) -> list[tuple[int, ...]]:
    """Return the integer points with Σ|δ| ≤ ``most``, each coordinate with the signs that ``ways`` allows."""
    points: list[tuple[tuple[int, ...], int]] = [((), most)]
    for way in ways:
        longer = []
        for point, left in points:
            low, high = (0 if way == "high" else -left), (0 if way == "low" else left)
            steps.spend((high - low + 1) * (len(point) + 1))
            longer += [((*point, here), left - abs(here)) for here in range(low, high + 1)]
            if len(longer) > MOST_DIFFERENCES:
                raise CertificateError(f"{where}: more than {MOST_DIFFERENCES:,} worst differences")
        points = longer
    return [point for point, _ in points]


def dearest(region: Region, value: object, length: int, movement: Movement, steps: Steps) -> Fraction:
    """Return the largest cost of a class's shifts in nats.

    Args:
        region: what the shifts must keep.
        value: the shifts as JSON.
        length: the number of queries.
        movement: how the queries of neighbours differ.
        steps: the counter of the work.

    Raises:
        ForgedError: if a shift fails, or a worst difference has none.
    """
    listed = costs(region, value, length, steps)
    for needed in worst(region, length, movement, steps):
        steps.spend(length + 1)
        if needed not in listed:
            raise ForgedError(f"{region.name}: no shift is given for the difference ({', '.join(map(str, needed))})")
    return max(listed.values(), default=Fraction(0))


def costs(region: Region, value: object, length: int, steps: Steps) -> dict[tuple[Fraction, ...], Fraction]:
    """Return the cost of the shift for each difference that is listed; raise if a shift fails.

    Args:
        region: what the shifts must keep.
        value: the shifts as JSON.
        length: the number of queries.
        steps: the counter of the work.
    """
    listed: dict[tuple[Fraction, ...], Fraction] = {}
    for entry in items(value, f"{region.name}: the shifts", MOST_DIFFERENCES * 2):
        where = f"{region.name}: shift {len(listed)}"
        steps.spend(length + len(region.draws) + 1)
        fields(entry, {"difference", "shift"}, where)
        given = items(entry["difference"], f"{where}: the difference", length, length)
        difference = tuple(rational(number, f"{where}: the difference") for number in given)
        shift = region.shift(entry["shift"], where)
        if difference in listed:
            raise CertificateError(f"{where}: its difference is listed twice")
        values = {f"q{number}": moved for number, moved in enumerate(difference)}
        listed[difference] = region.cost(values, shift, where, steps)
    return listed

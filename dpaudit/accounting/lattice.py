"""On which lattice do the losses of a composition lie? One step for all, and a base for each law.

A loss with atoms, or with ends, loses width of first order from below where its atoms are not on the lattice. So the
step divides the distance of these atoms exactly: a rational number of which all are multiples, or a part of the
distance itself, which need not be rational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from dpaudit.accounting.losses import (
    Atoms,
    Continuous,
    LargestLaw,
    LossLaw,
    Reversed,
    SampledLaw,
    Sketch,
    Spliced,
    ball,
    middle,
    rounded_down,
    rounded_up,
)
from dpaudit.accounting.plan import Tilt, between, indices, thresholds
from dpaudit.arrays import Floats

_FINER = 16  # a common divisor may be so many times finer than what width asks for
_FINEST = 64  # and the distance of ln(1 − q) from 0
_LEFT_OUT = 1e-9  # of the mass, by the sketch of a cluster
_CLUSTER = 0.05  # so much of the mass within half a step is one
_CELL = 0.7  # how far it reaches above its place, in steps


@dataclass(frozen=True)
class LatticeStep:
    """The step of a lattice: a rational number, or a part of the distance of the atoms of one law."""

    value: Fraction | None = None  # the number, or None
    anchor: int = -1  # else the number of the law, in the list of events
    parts: int = 1  # into how many steps its distance is cut

    def ball(self, laws: Sequence[LossLaw]) -> Any:
        """Return the step as a ball."""
        return ball(self.value) if self.value is not None else distance(laws[self.anchor]) / self.parts


def distance(law: LossLaw) -> Any:
    """Return what the step should divide, as a ball: the unit of atoms, the distance of ends."""
    if isinstance(law, Atoms):
        return law.unit() if callable(law.unit) else ball(law.unit or 0)
    ends = law.ends() if isinstance(law, Continuous) else None
    assert ends is not None
    return ends[1] - ends[0]


def _rational(law: LossLaw) -> Fraction | None:
    if isinstance(law, Atoms):
        return law.unit if isinstance(law.unit, Fraction) else None
    return law.span if isinstance(law, Continuous) else None


def _has_distance(law: LossLaw) -> bool:
    if isinstance(law, Atoms):
        return law.unit is not None
    return isinstance(law, Continuous) and not isinstance(law, Spliced) and law.ends() is not None


def step_for(laws: Sequence[tuple[LossLaw, int]], wanted: float) -> LatticeStep:
    """Return a step of at most about ``wanted``.

    Args:
        laws: each law with how often it is run.
        wanted: the step that width asks for.
    """
    anchored = [(number, law, count) for number, (law, count) in enumerate(laws) if _has_distance(law)]
    if not anchored:
        return LatticeStep(_by_cluster(laws, wanted) or _short(wanted))
    exact = [_rational(law) for _, law, _ in anchored]
    units = [unit for unit in exact if unit is not None]
    if len(units) == len(exact):
        common = reduce(_gcd, units)
        if all(isinstance(law, Atoms) for law, _ in laws):
            wanted = max(wanted, float(common)) if float(common) > wanted / _FINER else wanted
        if common > wanted / _FINER:
            return LatticeStep(common / max(1, math.ceil(common / Fraction(wanted))))
    number, law, _ = max(anchored, key=lambda item: (item[2], -item[0]))
    unit = _rational(law)
    parts = max(1, math.ceil(middle(distance(law)) / wanted))
    return LatticeStep(unit / parts) if unit is not None else LatticeStep(None, number, parts)


def _by_cluster(laws: Sequence[tuple[LossLaw, int]], wanted: float) -> Fraction | None:
    """Return a step of which a multiple is the mean loss of those who most likely do not take part.

    With little noise nearly all of the mass of a rare record lies just above ln(1 − q), in one cell. From below it goes
    to one place, and loses width of first order by how far its mean is from there.
    """
    sampled = [(count, law) for law, count in laws if isinstance(_one_way(law), SampledLaw)]
    if not sampled:
        return None
    sketch = _one_way(max(sampled, key=lambda item: item[0])[1]).sketch(_LEFT_OUT)
    edge = -float(sketch.losses[0])
    if float(sketch.masses[sketch.at < wanted / 2 - edge].sum()) < _CLUSTER or edge < wanted / _FINEST:
        return None
    p, q = (np.cumsum(masses) for masses in (sketch.masses, sketch.masses * np.exp(-sketch.at)))
    parts = math.ceil(edge / wanted)

    def mean(end: float) -> float:
        """ln(P/Q) of all losses up to one: where its test line meets 1 − α."""
        return math.log(np.interp(end, sketch.losses[1:], p) / np.interp(end, sketch.losses[1:], q))

    low, high = -mean(0.0) / parts, edge / parts
    if not 0 < low < high:
        return None
    for _ in range(40):
        half = (low + high) / 2
        low, high = (low, half) if mean((_CELL - parts) * half) > -parts * half else (half, high)
    return Fraction(f"{low:.9g}")


def _one_way(law: LossLaw) -> LossLaw:
    return law.law if isinstance(law, Reversed) else law


def multiple(law: LossLaw, number: int, step: LatticeStep) -> int | None:
    """Return the distance of a law in steps where it certainly is a whole number of them, else None."""
    if step.value is None:
        return step.parts if number == step.anchor else None
    unit = _rational(law)
    if unit is None:
        return None
    ratio = unit / step.value
    return ratio.numerator if ratio.denominator == 1 else None


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _short(value: float) -> Fraction:
    """A number of three digits at most as large."""
    digits = 2 - math.floor(math.log10(value))
    return Fraction(math.floor(value * 10**digits), 10**digits) if digits >= 0 else Fraction(math.floor(value))


# --- Which masses on a lattice stand for a loss, certainly from above, or certainly from below? ---
#
# The curve H(α) = sup over events E of P(E) − α·Q(E) is convex, with H(0) = 1. A convex polyline v with v(0) = 1 is the
# curve of a discrete loss, whose masses are α_i times the increase of slope at its corners α_i = e^(l_i), with v beyond
# the last corner as the probability of an infinite loss.
#
# *From above, connect the dots* (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022): chords between points of H.
# *From below, test lines*: each event E gives a line P(E) − αQ(E) that H exceeds. With events between the corners, v at
# a corner is the smaller of the two lines that meet there, so that each chord of v is below a line; v is 1 at 0 and 0
# from the last corner on. Masses are certified not to be negative, or a corner is left out together with an event.

FINER = 4096  # thresholds of events are on a lattice so many times finer


@dataclass
class Masses:
    """A loss on a lattice: ``masses[i]`` units at base + step·(start + i), and ``infinite`` units at ∞."""

    masses: list[int]  # whole numbers of units, (n,)
    start: int  # the index of the first
    infinite: int  # units at ∞
    base: Any  # a ball
    nodes: list[int] = field(default_factory=list)  # of a continuous law, the corners, in steps from the base
    # from below, the thresholds of the events between them, `FINER` to a step
    events: list[int] = field(default_factory=list)


def polyline(nodes: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the masses of the polyline through (0, 1) and (e^node, value): e^node times the increase of slope.

    Args:
        nodes: the losses of its corners, as balls, rising.
        values: its values there.
    """
    corners = [node.exp() for node in nodes]
    slopes = [(values[0] - 1) / corners[0]]
    slopes += [
        (right - left) / (after - before)
        for left, right, before, after in zip(values, values[1:], corners, corners[1:], strict=False)
    ]
    slopes.append(ball(0))
    return [corner * (after - before) for corner, before, after in zip(corners, slopes, slopes[1:], strict=False)]


class Grid:
    """The nodes of one law on the lattice of a composition.

    Args:
        law: the law.
        number: its place in the list of events.
        step: of the lattice.
        size: of the step, as a ball.
        tilt: where to look.
        unit: how many units are 1.
    """

    def __init__(self, law: LossLaw, number: int, step: LatticeStep, size: Any, tilt: Tilt, unit: int) -> None:
        self.law, self.size, self.unit = law, size, unit
        self.whole = multiple(law, number, step)
        self._tilt, self._number = tilt, number

    def above(self) -> Masses:
        """Return masses whose curve is nowhere below that of the law."""
        if isinstance(self.law, Atoms):
            return self._atoms_above(self.law)
        assert isinstance(self.law, Continuous)
        nodes = self._nodes()
        return above(self.law, nodes, self._base(), self.size, self.whole, self.unit)

    def below(self) -> Masses:
        """Return masses whose curve is nowhere above that of the law."""
        if isinstance(self.law, Atoms):
            return self._atoms_below(self.law)
        assert isinstance(self.law, Continuous)
        nodes = self._nodes()
        ends = self.law.ends()
        while ends is not None and self.whole is None and not self._base() + self.size * nodes[-1] < ends[1]:
            nodes.pop()
        events = self._events(nodes)
        if self.law.ends() is not None:
            events[0] = FINER * nodes[0]  # without the atom at the lower end
        return below(self.law, nodes, events, self._base(), self.size, self.unit)

    def _events(self, nodes: list[int]) -> list[int]:
        """Thresholds between corners, and the last at the last corner."""
        base, size = middle(self._base()), middle(self.size)
        sketch = self._tilt.sketches[self._number]
        levels = thresholds(
            sketch, [base + size * node for node in nodes], [base + size * end for end in between(nodes)]
        )
        if not isinstance(self.law, LargestLaw):
            return [*(round(FINER * (loss - base) / size) for loss in levels[:-1]), FINER * nodes[-1]]
        placed = self.law.placed(np.array([*levels[:-1], size * (nodes[-1] + 1)]), self._tilt.tail)
        return [round(FINER * float(event) / size) for event in placed]

    def _sketch(self) -> tuple[Sketch, Any]:
        return self._tilt.sketches[self._number], self._tilt.weights[self._number]

    def _base(self) -> Any:
        """The loss that index 0 stands for: the lower end of a law that has ends, else 0."""
        ends = None if isinstance(self.law, Spliced) or not isinstance(self.law, Continuous) else self.law.ends()
        return ball(0) if ends is None else ends[0]

    def _nodes(self) -> list[int]:
        """Corners, in steps from the base."""
        sketch, weights = self._sketch()
        ends = self.law.ends() if isinstance(self.law, Continuous) else None
        if ends is None or isinstance(self.law, Spliced):
            nodes = indices(sketch, weights, middle(self.size), self._tilt.tilt)
            if isinstance(self.law, Spliced):
                nodes = sorted({*nodes, 0})
                if ends is not None:  # one node beyond each end, for only there is nothing left
                    most = int(middle(ends[1] / self.size)) + 1
                    nodes = [-most, *(node for node in nodes if -most < node < most), most]
            return nodes
        last = self.whole if self.whole is not None else int(middle((ends[1] - ends[0]) / self.size)) + 1
        return list(range(last + 1))

    def _atoms_above(self, law: Atoms) -> Masses:
        values = law.values()
        base = values[0][0]
        spare = 1 - ball(law.infinite) - sum((mass for _, mass, _ in values), ball(0)) if law.spare else ball(0)
        beyond = ball(law.infinite) + spare
        infinite = rounded_up(beyond, self.unit) if law.spare or law.infinite else 0
        if self.whole is not None:
            atoms = {index * self.whole: mass for index, (_, mass, _) in zip(law.indices, values, strict=True)}
        else:
            atoms = _split(values, base, self.size)
        return _dense({index: rounded_up(mass, self.unit) for index, mass in atoms.items()}, infinite, base)

    def _atoms_below(self, law: Atoms) -> Masses:
        values = law.values()
        base = values[0][0]
        infinite = rounded_down(ball(law.infinite), self.unit) if law.infinite else 0
        if self.whole is not None:
            atoms = {index * self.whole: mass for index, (_, mass, _) in zip(law.indices, values, strict=True)}
        else:
            atoms = _lowered(values, base, self.size)
        return _dense({index: rounded_down(mass, self.unit) for index, mass in atoms.items()}, infinite, base)


def above(law: Continuous, nodes: list[int], base: Any, size: Any, last: int | None, unit: int) -> Masses:
    """Connect the dots.

    Args:
        law: the law.
        nodes: the corners, in steps from the base.
        base, size: the loss of index 0, and a step, as balls.
        last: the index of the upper end of the law, where that certainly is on the lattice.
        unit: how many units are 1.
    """
    top = None if isinstance(law, Spliced) else law.ends()
    losses = [base + size * node for node in nodes]
    while top is not None and not losses[-2] < top[1]:
        del nodes[-1], losses[-1]  # the formulas of the tails hold up to the end, and one corner beyond it is enough
    values = [height(law, loss) for loss in losses]
    ended = top is not None and (nodes[-1] == last or losses[-1] > top[1])
    if ended:
        values[-1] = ball(0)  # no loss is larger, so nothing is left for ∞
    while True:
        masses = polyline(losses, values)
        bad = [i for i, mass in enumerate(masses) if mass < 0 or (isinstance(law, Spliced) and not mass >= 0)]
        if not bad:
            break
        # every curve below these points is convex, so a longer chord is above it too
        for i in reversed(bad[::2]):
            del nodes[i], losses[i], values[i]
    infinite = 0 if ended else rounded_up(values[-1], unit)
    atoms = {node: rounded_up(mass, unit) for node, mass in zip(nodes, masses, strict=True)}
    return Masses(*_spread(atoms), infinite, base, nodes)


def height(law: Continuous, loss: Any) -> Any:
    """Return the curve P(L > u) − e^u·Q(L > u) at a loss u, as a ball."""
    p, q = law.tails(loss)
    return p - loss.exp() * q


def below(law: Continuous, nodes: list[int], events: list[int], base: Any, size: Any, unit: int) -> Masses:
    """Connect test lines.

    The last event lies at or above the last corner, so that all its losses are at least as large and its line is not
    negative there: v may be 0 from there on. Of a test, the line itself is looked at.

    Args:
        law: the law.
        nodes: the corners, in steps from the base.
        events: thresholds of the events between them, `FINER` to a step: one fewer; the last is at the last corner.
        base, size: the loss of index 0, and a step, as balls.
        unit: how many units are 1.
    """
    part = size / FINER
    lines = [law.tails(base + part * event) for event in events]
    losses = [base + size * node for node in nodes]
    if law.tested and not lines[-1][0] - losses[-1].exp() * lines[-1][1] >= 0:
        raise ArithmeticError("the last event shows no loss as large as the last corner")
    while True:
        masses = polyline(losses, _smaller(losses, lines))
        bad = [i for i, mass in enumerate(masses) if not mass >= 0]
        if not bad:
            break
        if len(nodes) - len(bad[::2]) < 2:
            return Masses([0], 0, 0, base, [0, 1], [FINER])
        for i in reversed(bad[::2]):
            # with a corner goes the event on the side of the end; the last event stays
            gone = i if i < len(nodes) - 1 else i - 2
            gone = min(max(gone, 0), len(events) - 2)
            del nodes[i], losses[i], events[gone], lines[gone]
    atoms = {node: rounded_down(mass, unit) for node, mass in zip(nodes, masses, strict=True)}
    return Masses(*_spread(atoms), 0, base, nodes, events)


def _smaller(losses: list[Any], lines: list[tuple[Any, Any]]) -> list[Any]:
    """At each corner the smaller of the two lines that meet there; 1 − α before the first, 0 at the last."""
    corners = [loss.exp() for loss in losses]
    one = ball(1)
    meeting = zip(corners[:-1], [(one, one), *lines[:-1]], lines, strict=True)
    return [(p - corner * q).min(r - corner * s) for corner, (p, q), (r, s) in meeting] + [ball(0)]


def _split(values: list[tuple[Any, Any, Any]], base: Any, size: Any) -> dict[int, Any]:
    """Split each atom between the nodes beside it, so that P and Q are kept: who puts them together has it back.

    An atom that may lie a hair below the node that floating point names is moved up to it whole, which only adds loss:
    a share above 1 would leave a negative mass.
    """
    atoms: dict[int, Any] = {}
    for loss, mass, _ in values:
        index = int(middle((loss - base) / size) // 1)
        while not loss <= base + size * (index + 1):
            index += 1
        if loss is base:
            atoms[0] = mass
            continue
        low, high = base + size * index, base + size * (index + 1)
        share = (((low - loss).exp() - (low - high).exp()) / (1 - (low - high).exp())).min(ball(1))
        atoms[index] = atoms.get(index, ball(0)) + mass * share
        atoms[index + 1] = atoms.get(index + 1, ball(0)) + mass * (1 - share)
    return atoms


def _lowered(values: list[tuple[Any, Any, Any]], base: Any, size: Any) -> dict[int, Any]:
    """Move each atom down to the next node."""
    atoms: dict[int, Any] = {}
    for loss, mass, _ in values:
        index = int(middle((loss - base) / size) // 1)
        while loss is not base and not base + size * index <= loss:
            index -= 1
        atoms[index] = atoms.get(index, ball(0)) + mass
    return atoms


def _dense(atoms: dict[int, int], infinite: int, base: Any) -> Masses:
    return Masses(*_spread(atoms), infinite, base)


def _spread(atoms: dict[int, int]) -> tuple[list[int], int]:
    if any(mass < 0 for mass in atoms.values()):
        raise ArithmeticError("a mass is negative: the curve of the losses would not be bounded")
    start = min(atoms)
    masses = [0] * (max(atoms) - start + 1)
    for index, mass in atoms.items():
        masses[index - start] = mass
    return masses, start


# --- How does a loss get to a lattice of twice the step, certainly above or certainly below what it was? ---
#
# Every second place is kept, and the masses between are moved to the places beside them. From above each is split so
# that P and Q are kept; from below a part of it moves up only where enough mass moves down to the same place. Proofs
# are in ``docs/accounting.md``. The width that this costs is of second order in the step, for each copy of the block: a
# block of many steps has few copies, and is as well told on a coarser lattice.


@dataclass(frozen=True)
class Shares:
    """What of a mass may go where, in units."""

    below: int  # from above, the share that goes to the place below; at most 1/(1 + e^h)
    partner: int  # from below, how much may move up for each unit that moves down; at most e^(−h)


def shares(size: Any, unit: int) -> Shares:
    """Return the shares of a lattice.

    Args:
        size: its step h, as a ball, before it is doubled.
        unit: how many units are 1.
    """
    return Shares(rounded_down(1 / (1 + size.exp()), unit), rounded_down((-size).exp(), unit))


def coarser(
    masses: Sequence[Any], start: int, odd: bool, share: Shares, unit: int, *, up: bool
) -> tuple[list[Any], int]:
    """Return masses on every second place, and the index of the first, in steps twice as long.

    Args:
        masses: whole numbers, from ``start`` on.
        start: the index of the first.
        odd: whether odd places are kept, else even ones.
        share: of the lattice.
        unit: how many units are 1.
        up: from above.
    """
    kept, moved, first = _parted(masses, start, odd)
    if up:
        for k, mass in enumerate(moved):
            low = mass * share.below // unit
            kept[k] += low
            kept[k + 1] += mass - low
        return _stripped(kept, first)
    above = 0  # of the next mass, what moves up
    for k in range(len(moved) - 1, -1, -1):
        mass = moved[k]
        rises = min(mass, (moved[k + 1] - above) * share.partner // unit) if k + 1 < len(moved) else 0
        kept[k] += mass - rises
        kept[k + 1] += rises
        above = rises
    return _stripped(kept, first)


def _parted(masses: Sequence[Any], start: int, odd: bool) -> tuple[list[Any], list[Any], int]:
    """Masses at kept places, those between, of which there is one fewer, and the new index of the first kept place."""
    begin = (start - odd) % 2
    kept, moved = list(masses[begin::2]), list(masses[1 - begin :: 2])
    if begin:
        kept.insert(0, 0)
    if len(moved) == len(kept):
        kept.append(0)
    return kept, moved, (start - begin - odd) // 2


def _stripped(masses: list[Any], start: int) -> tuple[list[Any], int]:
    """Without zeros at the ends; one place stays."""
    first, last = 0, len(masses)
    while last > 1 and not masses[last - 1]:
        last -= 1
    while first < last - 1 and not masses[first]:
        first += 1
    return masses[first:last], start + first


def costs(masses: Floats, start: int, step: float, tilt: float, *, up: bool) -> tuple[float, float]:
    """Return by how much ln δ changes if even places are kept, and if odd ones are; floating point, for choosing.

    Args:
        masses: from ``start`` on, (n,).
        start: the index of the first.
        step: of the lattice.
        tilt: λ.
        up: from above.
    """
    if tilt * step > 30:
        return math.inf, math.inf
    with np.errstate(divide="ignore"):
        logs = np.log(masses) + tilt * step * np.arange(len(masses))
    tilted = np.exp(logs - logs.max())
    whole = float(tilted.sum())
    rise, fall = math.expm1(tilt * step), math.expm1(-tilt * step)
    rises_by = []
    for odd in (False, True):
        begin = 1 - (start - odd) % 2
        weights = tilted[begin::2]
        if up:
            share = 1 / (1 + math.exp(step))
            rises_by.append(float(weights.sum()) * (share * fall + (1 - share) * rise) / whole)
            continue
        rising = _rising(masses[begin::2], math.exp(-step))
        rises_by.append(-float(np.sum(weights * (rising * (rise - fall) + fall))) / whole)
    return rises_by[0], rises_by[1]


def _rising(moved: Floats, partner: float) -> Floats:
    """The share of each mass that moves up."""
    rising_shares = [0.0] * len(moved)
    above = after = 0.0
    for k, mass in enumerate(reversed(moved.tolist())):
        rises = min(mass, (after - above) * partner)
        rising_shares[len(rising_shares) - 1 - k] = rises / mass if mass else 0.0
        above, after = rises, mass
    return np.array(rising_shares)

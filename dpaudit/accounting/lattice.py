"""On which lattice do the losses of a composition lie? One step for all, and a base for each law.

A loss with atoms, or with ends, loses width of first order from below where its atoms are not on the lattice. So the
step divides the distance of these atoms exactly: a rational number of which all are multiples, or a part of the
distance itself, which need not be rational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from dpaudit.accounting.balls import ball, middle
from dpaudit.accounting.losses import Atoms, Continuous, Law, Reversed, SampledLaw, Spliced

_FINER = 16  # a common divisor may be so many times finer than what width asks for
_FINEST = 64  # and the distance of ln(1 − q) from 0
_LEFT_OUT = 1e-9  # of the mass, by the sketch of a cluster
_CLUSTER = 0.05  # so much of the mass within half a step is one
_CELL = 0.7  # how far it reaches above its place, in steps


@dataclass(frozen=True)
class Step:
    """The step of a lattice: a rational number, or a part of the distance of the atoms of one law.

    Attributes:
        value: the number, or None.
        anchor: else the number of the law, in the list of events.
        parts: into how many steps its distance is cut.
    """

    value: Fraction | None = None
    anchor: int = -1
    parts: int = 1

    def ball(self, laws: Sequence[Law]) -> Any:
        """Return the step as a ball."""
        return ball(self.value) if self.value is not None else distance(laws[self.anchor]) / self.parts


def distance(law: Law) -> Any:
    """Return what the step should divide, as a ball: the unit of atoms, the distance of ends."""
    if isinstance(law, Atoms):
        return law.unit() if callable(law.unit) else ball(law.unit or 0)
    ends = law.ends() if isinstance(law, Continuous) else None
    assert ends is not None
    return ends[1] - ends[0]


def _rational(law: Law) -> Fraction | None:
    if isinstance(law, Atoms):
        return law.unit if isinstance(law.unit, Fraction) else None
    return law.span if isinstance(law, Continuous) else None


def _has_distance(law: Law) -> bool:
    if isinstance(law, Atoms):
        return law.unit is not None
    return isinstance(law, Continuous) and not isinstance(law, Spliced) and law.ends() is not None


def step_for(laws: Sequence[tuple[Law, int]], wanted: float) -> Step:
    """Return a step of at most about ``wanted``.

    Args:
        laws: each law with how often it is run.
        wanted: the step that width asks for.
    """
    anchored = [(number, law, count) for number, (law, count) in enumerate(laws) if _has_distance(law)]
    if not anchored:
        return Step(_by_cluster(laws, wanted) or _short(wanted))
    exact = [_rational(law) for _, law, _ in anchored]
    units = [unit for unit in exact if unit is not None]
    if len(units) == len(exact):
        common = reduce(_gcd, units)
        if all(isinstance(law, Atoms) for law, _ in laws):
            wanted = max(wanted, float(common)) if float(common) > wanted / _FINER else wanted
        if common > wanted / _FINER:
            return Step(common / max(1, math.ceil(common / Fraction(wanted))))
    number, law, _ = max(anchored, key=lambda item: (item[2], -item[0]))
    unit = _rational(law)
    parts = max(1, math.ceil(middle(distance(law)) / wanted))
    return Step(unit / parts) if unit is not None else Step(None, number, parts)


def _by_cluster(laws: Sequence[tuple[Law, int]], wanted: float) -> Fraction | None:
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


def _one_way(law: Law) -> Law:
    return law.law if isinstance(law, Reversed) else law


def multiple(law: Law, number: int, step: Step) -> int | None:
    """Return the distance of a law in steps where it certainly is a whole number of them, else None."""
    if step.value is None:
        return step.parts if number == step.anchor else None
    unit = _rational(law)
    if unit is None:
        return None
    found = unit / step.value
    return found.numerator if found.denominator == 1 else None


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _short(value: float) -> Fraction:
    """A number of three digits at most as large."""
    digits = 2 - math.floor(math.log10(value))
    return Fraction(math.floor(value * 10**digits), 10**digits) if digits >= 0 else Fraction(math.floor(value))

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

from dpaudit.accounting.balls import ball, middle
from dpaudit.accounting.losses import Atoms, Continuous, Law, Spliced

_FINER = 16  # a common divisor may be so many times finer than what width asks for


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
        return Step(_short(wanted))
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

"""How does a loss get to a lattice of twice the step, certainly above or certainly below what it was?

Every second place is kept, and the masses between are moved to the places beside them. From above each is split so
that P and Q are kept; from below a part of it moves up only where enough mass moves down to the same place. Proofs are
in ``docs/accounting.md``. The width that this costs is of second order in the step, for each copy of the block: a
block of many steps has few copies, and is as well told on a coarser lattice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.accounting.balls import rounded_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """What of a mass may go where, in units.

    Attributes:
        below: from above, the share that goes to the place below; at most 1/(1 + e^h).
        partner: from below, how much may move up for each unit that moves down; at most e^(−h).
    """

    below: int
    partner: int


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
    found = []
    for odd in (False, True):
        begin = 1 - (start - odd) % 2
        weights = tilted[begin::2]
        if up:
            share = 1 / (1 + math.exp(step))
            found.append(float(weights.sum()) * (share * fall + (1 - share) * rise) / whole)
            continue
        rising = _rising(masses[begin::2], math.exp(-step))
        found.append(-float(np.sum(weights * (rising * (rise - fall) + fall))) / whole)
    return found[0], found[1]


def _rising(moved: Floats, partner: float) -> Floats:
    """The share of each mass that moves up."""
    found = [0.0] * len(moved)
    above = after = 0.0
    for k, mass in enumerate(reversed(moved.tolist())):
        rises = min(mass, (after - above) * partner)
        found[len(found) - 1 - k] = rises / mass if mass else 0.0
        above, after = rises, mass
    return np.array(found)


__all__ = ["Shares", "coarser", "costs", "shares"]

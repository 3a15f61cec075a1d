"""What may each record tell of itself? A bit that a coin of its own turns over: randomised response (Warner 1965).

Each report is released by its own noise, at ln((1 − p)/p). How many there are is public where records are replaced.
"""

from __future__ import annotations

from typing import Any

from dpaudit.reading.universe import steps
from dpaudit.reading.universe.columns import Column
from dpaudit.reading.universe.frames import column_sum
from dpaudit.reading.universe.noise import note, same_step
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.released import Token
from dpaudit.reading.universe.state import Private, current, refuse

_FLIP = "mask ^ noise.bernoulli(p, size=len(df)) of the same df"


class Flips(Private):
    """A coin for each record."""

    __slots__ = ("is_used", "level", "probability", "rows")
    noun = "coin of each record"

    def __init__(self, probability: float, length: Number) -> None:
        rows = length.rows
        if rows is None or not rows.has_all or rows.selection.kind != "record" or rows.sample is not None:
            refuse("coins for rows that were chosen, of which the number is private", "size=len(df) of all records")
        if probability >= 1:
            refuse("coins that turn over every bit, which hides none", "a probability below 1")
        self.probability, self.rows, self.is_used, self.level = probability, rows, False, current().level

    def turned(self, mask: Any) -> Token:
        """``mask ^ flips``."""
        same_step(self.level)
        if not isinstance(mask, Column) or not mask.is_mask or not mask.rows.same(self.rows):
            refuse("coins together with anything but a mask of the same rows", _FLIP)
        if self.is_used:
            refuse("coins that are used twice", "coins of their own for each report")
        self.is_used = True
        told, truth, rows = column_sum(mask), mask.step(), mask.rows.made
        told.terms = None if truth is None or rows is None else steps.alone(steps.Step("reports", (rows, truth)))
        note("randomised_response", told, 1.0, (("probability", self.probability),))
        return Token()


def operated(name: str, left: Any, right: Any) -> Token:
    """``mask ^ flips``, in either order."""
    flips, mask = (left, right) if isinstance(left, Flips) else (right, left)
    return flips.turned(mask) if name == "xor" else refuse("coins of each record in another form", _FLIP)


__all__ = ["Flips", "operated"]

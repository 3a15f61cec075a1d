"""What may be done with reports that each record makes of itself? Add them up: each is released by its own noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.draw import Draw, note
from dpaudit.program.tracked.magnitude import ONE
from dpaudit.program.tracked.movement import Linear, Term
from dpaudit.program.tracked.path import NUMBER, PATH, refuse
from dpaudit.program.tracked.private import Private
from dpaudit.program.tracked.released import released
from dpaudit.program.tracked.rows import EVERYTHING, Length, Mask, Rows


def coins(probability: Fraction, rows: Length) -> Draw:
    """Return a coin for each row, which shows true with a probability."""
    if not 0 < probability < 1:
        refuse(f"bits that are flipped with the probability {probability}, which hides none; give one between 0 and 1")
    return Draw("randomised_response", ONE, rows, (("probability", probability),))


def flipped(mask: Mask, draw: Any) -> Reports:
    """Flip a bit of each row where its coin shows true: randomised response (Warner 1965)."""
    if not isinstance(draw, Draw) or draw.law != "randomised_response":
        return refuse("a combination of bits with anything but coins: mask ^ noise.bernoulli(p, size=len(frame))")
    rows: Rows = mask.rows
    if not isinstance(draw.shape, Length) or draw.shape.rows != rows:
        refuse("coins for other rows than those of the mask; write size=len(frame) of the same frame")
    if rows.parts != (EVERYTHING,) or rows.source or rows.sample is not None or rows.most != 1 or rows.distinct:
        refuse("bits of rows that were chosen, of which the number is private; flip those of all records")
    draw.use()
    moves = Linear(tuple(Term(part, ONE, ONE) for part in mask.parts))
    note(draw.law, draw.scale, (moves,), None, draw.details)
    return Reports(PATH.get().fresh())


class Reports(Private):
    """A bit for each record, flipped or not; how many records there are is public, as records are only replaced."""

    inner = Private.inner | {"number"}

    def __init__(self, number: int) -> None:
        self.number = number

    def sum(self) -> Any:
        """Return how many bits are set."""
        return released((), "sum of reports", self.number, sure=NUMBER)

    def mean(self) -> Any:
        """Return which share of them is set."""
        return released((), "mean of reports", self.number)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Return the sum or the mean."""
        if function in (np.sum, np.count_nonzero, np.mean) and len(args) == 1 and not kwargs:
            return self.mean() if function is np.mean else self.sum()
        return refuse(f"np.{function.__name__} of reports; sum them, or take their mean")

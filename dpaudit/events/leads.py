"""Where would the outputs of a path differ that runs made earlier point to? Boxes, and the loss as a score.

A path that seems to cost more than is claimed says which numbers of its outputs move, and which way: then its outputs
tell most that are far out on the side that they move away from. Where to cut is said by learning runs, and so is the
middle of each number: nothing else is known here than outputs, and how far they move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.evidence.event import Box, Linear, Score

_SHARES = np.geomspace(1e-4, 0.9, 24)  # of the runs of a path, inside a box
_LEAST = 5  # runs in it
_UNCLIPPED = 1e9


@dataclass(frozen=True, slots=True)
class Lead:
    """A path whose outputs may show a violation.

    Attributes:
        form: of its outputs.
        fixed: (numbers,) those that the path decides; None for those with noise.
        moves: (numbers,) how far each moves from the recorded side to the other; 0 for those that stay.
        losses: (numbers,) the largest loss of each by itself, |move|/scale; of Gaussian noise (move/scale)². Empty
            where they are not known, or do not add up.
        clipped: whether the loss of a number stops growing beyond its two middles, as for Laplace noise.
    """

    form: str
    fixed: tuple[float | None, ...]
    moves: tuple[float, ...]
    losses: tuple[float, ...] = ()
    clipped: bool = True

    def scores(self, rows: Floats) -> Iterator[tuple[Score, bool]]:
        """Yield scores that may tell the sides apart, and whether each is a box, with two values.

        Args:
            rows: (runs, numbers), learning runs of this form, of both sides.
        """
        if rows.shape[1] != len(self.fixed):
            return
        decided = [place for place, value in enumerate(self.fixed) if value is not None]
        own = rows[(rows[:, decided] == [self.fixed[place] for place in decided]).all(axis=1)]
        if len(own) < _LEAST:
            return
        if decided:
            yield Box(self.fixed, self.fixed), True
        moved = np.flatnonzero(self.moves)
        if not len(moved):
            return
        shares = _SHARES[_SHARES * len(own) >= _LEAST]
        for sign in (1.0, -1.0):
            up = sign * np.array(self.moves)[moved] < 0  # what moves down tells most far up
            for limits in np.quantile(np.where(up, -own[:, moved], own[:, moved]), shares, axis=0):
                low, high = list(self.fixed), list(self.fixed)
                for place, limit, is_up in zip(moved.tolist(), limits.tolist(), up.tolist(), strict=True):
                    if is_up:
                        low[place] = -limit
                    else:
                        high[place] = limit
                yield Box(tuple(low), tuple(high)), True
        if self.losses and not decided:
            yield self._loss(own), False

    def _loss(self, own: Floats) -> Linear:
        """The privacy loss of independent noises.

        With f the density of noise of scale s and a move m, ln f(x)/f(x − m) is |m|/s·clip((c − x)/h, −1, 1) for
        Laplace noise, and (m/s)²/2·(c − x)/h for Gaussian noise, h = m/2 and c in the middle between both.
        """
        moves = np.array(self.moves)
        weights = -np.sign(moves) * np.array(self.losses) / (1.0 if self.clipped else 2.0)
        scale = np.where(moves == 0, 1.0, abs(moves) / 2)
        clip = 1.0 if self.clipped else _UNCLIPPED
        return Linear(tuple(np.median(own, axis=0).tolist()), _rounded(scale), (clip,), (_rounded(weights),))


def _rounded(values: Floats) -> tuple[float, ...]:
    """Keep 2 digits: events are published, and the data of the pair are not."""
    return tuple(float(f"{value:.2g}") for value in values.tolist())

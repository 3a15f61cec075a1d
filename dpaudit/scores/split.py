"""Which recorded outputs choose the event, and which measure it?

Everything else in dpaudit plays a game in which a fair coin picks the side of every run. Recorded outputs come in
numbers that somebody fixed, without a coin. So the coins are tossed here: N of them, and each takes the next unused
output of the side that it shows. What it takes is a draw of that side's law, independent of all coins, so (coin,
output) is exactly one run of the game, and every bound of the game holds. All that no coin took chooses the event.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.game.outputs import Outputs

Positions = np.ndarray[Any, np.dtype[np.int64]]

SHARE = 0.3  # of the outputs, which choose the event; tuned on other seeds than those that are reported
_LEAST_SHARE = 0.2  # where they are few
_NATS = 28.0  # e^-28 is the chance that coins ask for more outputs of a side than there are
_SPLIT, _TIES = 4, 5  # the first entries of spawn keys, after those of `game.blocks`


@dataclass(frozen=True, slots=True)
class Split:
    """Positions of the outputs of side 0 and side 1 that choose the event, and of those that measure it."""

    learning: tuple[Positions, Positions]
    measuring: tuple[Positions, Positions]


def coins_for(fewer: int, share: float = SHARE) -> int:
    """Return how many coins to toss where the smaller side has ``fewer`` outputs.

    At most (1 − share) of both sides, and so few that one side is asked for more than it has with a probability of
    at most e^-28 (Hoeffding 1963): N/2 + √(28·N/2) ≤ fewer. Where that leaves very few, as many as can never ask too
    much.
    """
    root = math.sqrt(_NATS / 2 + 2 * fewer) - math.sqrt(_NATS / 2)
    return max(int((1 - _LEAST_SHARE) * fewer), min(int((1 - share) * 2 * fewer), int(root * root)))


def split(sizes: tuple[int, int], seed: int) -> Split | None:
    """Return the split that hangs on the seed; None, with next to no chance, where coins ask for more than there is."""
    rng = generator(seed, _SPLIT)
    coins = coins_for(min(sizes))
    heads = int(rng.binomial(coins, 0.5))
    taken = heads, coins - heads
    if any(take > size for take, size in zip(taken, sizes, strict=True)):
        return None
    orders = [rng.permutation(size) for size in sizes]
    learning = orders[0][taken[0] :], orders[1][taken[1] :]
    return Split(learning, (orders[0][: taken[0]], orders[1][: taken[1]]))


def shuffled(size: int, seed: int) -> Positions:
    """Return an order that hangs on the seed alone, in which ties are broken."""
    return np.asarray(generator(seed, _TIES).permutation(size), dtype=np.int64)


def generator(seed: int, purpose: int) -> np.random.Generator:
    """Return the generator of one purpose."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(purpose,))))


def at(outputs: Outputs, positions: Positions) -> Outputs:
    """Return the outputs at these positions, in this order: recorded ones may have been sorted by somebody."""
    codes = outputs.codes[positions]
    rows = []
    for code, numbers in enumerate(outputs.numbers):
        row = np.cumsum(outputs.codes == code) - 1  # of each output, among those of its form
        rows.append(numbers[row[positions[codes == code]]])
    return Outputs(outputs.forms, codes, tuple(rows))

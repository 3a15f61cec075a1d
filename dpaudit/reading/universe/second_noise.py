"""What does a program that is given its noise draw in a run of the second net? Pending numbers, and choices to repeat.

A run on a neighbour draws the same coins for the same records, makes the choices of the run that it is held against,
and pays for them by how much less likely they are on its data. Where a rule allows that no run of the neighbour does
the same, at a δ, the pair shows nothing of ε and is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.program.noise import Noise, shape_of_size
from dpaudit.reading.universe import second_draws


class GivenNoise(Noise):
    """Stands for the noise of a program."""

    def _draw(self, method: str, *arguments: Any) -> Any:
        run = second_draws.now()
        if method == "uniform":
            low, high = arguments
            return low + (high - low) * float(run.rng.random())
        if method == "bernoulli":
            return bool(run.rng.random() < arguments[0])
        return second_draws.Pending(second_draws.Drawn(method, *arguments)) * (
            1 if method in second_draws.WHOLE else arguments[0]
        )

    def _as_array(self, draws: Any) -> Any:
        return second_draws.array_of(list(draws), draws.shape)

    def _pick(self, weights: Sequence[float]) -> int:
        return int(second_draws.choice(len(weights), p=np.asarray(weights, float) / sum(weights)))

    def bernoulli(self, probability: Any, size: Any = None) -> Any:
        """A coin; or one for each record, to turn over what it says."""
        if size is not None and shape_of_size(size) == (second_draws.now().size,):
            return Coins(float(probability), second_draws.uniform(second_draws.now().size) < probability)
        return super().bernoulli(probability, size)

    def poisson(self, data: Any, rate: Any) -> Any:
        """Each record, by the coin that is its own in both runs."""
        self._scale("poisson", "rate", rate, 1.0)
        coins = second_draws.uniform(second_draws.now().size) < rate
        mine = data.index if hasattr(data, "index") and not isinstance(data, list) else range(len(data))
        kept = [bool(coins[place]) for place in mine]
        return data[np.array(kept, bool)] if not isinstance(data, list) else [
            each for each, is_kept in zip(data, kept, strict=True) if is_kept
        ]  # fmt: skip

    def propose_test_release(self, options: Any, scores: Any, scale: Any, threshold: Any) -> Any:
        """The option of the largest score, or None: the same as before while its lead can make up for it."""
        run, listed, given = second_draws.now(), list(options), [float(score) for score in scores]
        first = given.index(max(given))
        lead = given[first] - max(given[:first] + given[first + 1 :])
        noise = float(second_draws.Drawn("laplace").value) * float(scale)
        is_told, before = lead + noise > threshold, run.repeated()
        if before is not None:
            known, was_told, far = before
            if known != first:
                raise second_draws.PassedOverError("another option leads")
            is_told, run.cost = was_told, run.cost + abs(lead - far) / float(scale)
        run.choices.append((first, is_told, lead))
        return listed[first] if is_told else None


class Coins:
    """A coin for each record, that turns over a bit which it tells of itself."""

    __pandas_priority__ = 5_000
    __array_ufunc__ = None

    def __init__(self, probability: float, coins: Any) -> None:
        self.probability, self.coins = probability, coins

    def __len__(self) -> int:
        return len(self.coins)

    def __xor__(self, bits: Any) -> Any:
        """The reports: those of the run before, at a price for each bit that has to be turned over otherwise."""
        run, plain = second_draws.now(), np.asarray(bits, bool)
        reports = plain ^ self.coins
        before = run.repeated()
        if before is not None:
            (told,) = before
            if len(told) != len(reports):
                raise second_draws.DiffersError("another number of reports")
            odds = self.probability / (1 - self.probability)
            run.cost += int(np.count_nonzero(told != reports)) * abs(math.log(odds))
            reports = told
        run.choices.append((reports,))
        return type(bits)(reports, index=bits.index) if hasattr(bits, "index") else reports

    __rxor__ = __xor__


__all__ = ["GivenNoise"]

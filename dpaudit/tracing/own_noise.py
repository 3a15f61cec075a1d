"""How is the noise of a dpaudit program followed? One more reading of `dpaudit.program.noise`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS as SAMPLED
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, pick
from dpaudit.tracing.array_functions import array_of, extreme
from dpaudit.tracing.forms import Form
from dpaudit.tracing.laws import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    EXPONENTIAL,
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    UNIFORM,
    UNKNOWN,
    NoiseLaw,
)
from dpaudit.tracing.primitives import choose_one
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.values import closed, followed, is_followed

_OWN: dict[str, NoiseLaw] = {
    "laplace": LAPLACE,
    "gaussian": GAUSSIAN,
    "exponential": EXPONENTIAL,
    "gumbel": GUMBEL,
    "discrete_laplace": DISCRETE_LAPLACE,
    "discrete_gaussian": DISCRETE_GAUSSIAN,
    "uniform": UNIFORM,
}


class FollowedNoise(Noise):
    """Noise for one run whose use is followed; ``rng`` draws what is not handed out otherwise."""

    __slots__ = ("_drawn", "_rng")

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._drawn = 0

    def _argument(self, method: str, what: str, value: Any) -> Any:
        return closed(value)

    def _draw(self, method: str, *arguments: Any) -> Any:
        self._drawn += 1
        if self._drawn >= MOST_DRAWS:
            raise endless()
        values = [float(each) for each in arguments]
        recorder = active()
        if recorder is None:
            return SAMPLED[method].sample(self._rng, 1, *values)[0].item()
        where = site()
        with recorder.own_work():
            sample = SAMPLED[method].sample(self._rng, 1, *values)
            if method == "bernoulli":
                chances = [values[0], 1 - values[0]]
                return choose_one(recorder, "noise.bernoulli", [True, False], chances, 0 if sample[0] else 1)
            low, scale = (values[0], values[1] - values[0]) if method == "uniform" else (0.0, values[0])
            drawn = np.asarray(sample, dtype=np.float64) - low
            form, found = recorder.draw(
                _OWN.get(method, UNKNOWN), np.array([scale]), Form.constant([low]), drawn, where, f"noise.{method}"
            )
            return followed(found.reshape(()), form, where, recorder)

    def _pick(self, weights: Sequence[float]) -> int:
        total = float(sum(weights))
        recorder = active()
        if recorder is None:
            return int(pick(self._rng, 1, weights)[0])
        with recorder.own_work():
            place = int(pick(self._rng, 1, weights)[0])
            chances = [each / total for each in weights]
            return int(choose_one(recorder, "noise.choice", list(range(len(weights))), chances, place))

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value: one decision."""
        values = list(values)
        if any(map(is_followed, values)):
            return extreme(array_of(values), 1)
        return super().argmax(values)

"""How is the noise of a dpaudit program followed? One more reading of `dpaudit.program.noise`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpaudit.program.coverage.instructions import Unfollowed
from dpaudit.program.laws import LAWS as SAMPLED
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, pick, shape_of_size
from dpaudit.tracing.array_functions import array_of, extreme
from dpaudit.tracing.coins import Coins
from dpaudit.tracing.forms import Form
from dpaudit.tracing.laws import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    EXPONENTIAL,
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    TRUNCATED_LAPLACE,
    UNIFORM,
    UNKNOWN,
    NoiseLaw,
)
from dpaudit.tracing.primitives import choose_one
from dpaudit.tracing.recording import SAMPLE, active, site
from dpaudit.tracing.values import closed, followed, is_followed

OWN: dict[str, NoiseLaw] = {
    "laplace": LAPLACE,
    "gaussian": GAUSSIAN,
    "exponential": EXPONENTIAL,
    "gumbel": GUMBEL,
    "discrete_laplace": DISCRETE_LAPLACE,
    "discrete_gaussian": DISCRETE_GAUSSIAN,
    "truncated_laplace": TRUNCATED_LAPLACE,
    "uniform": UNIFORM,
}
"""The laws of the methods of `Noise`."""
SELECT, PROPOSE = "noise.select", "noise.propose_test_release"
_WIDE_CALLS, _WIDE_STEPS = 5_000, 5  # of a run that is only to release: a reading knows a repeated step from any state


class FollowedNoise(Noise):
    """Noise for one run whose use is followed; ``rng`` draws what is not handed out otherwise.

    Args:
        rng: draws.
        spread: None for noise as it is asked for. A number for runs that are to see many branches, and not to be
            private: noise is so many times wider, options are chosen whatever their scores, and a repeated step is done
            a few times.
    """

    __slots__ = ("_calls", "_drawn", "_rng", "_spread")

    def __init__(self, rng: np.random.Generator, *, spread: float | None = None) -> None:
        self._rng, self._spread = rng, spread
        self._drawn = self._calls = 0

    def _argument(self, method: str, what: str, value: Any) -> Any:
        return closed(value)

    def _count(self, number: int) -> None:
        self._drawn, self._calls = self._drawn + number, self._calls + 1
        if self._drawn >= MOST_DRAWS or (self._spread is not None and self._calls > _WIDE_CALLS):
            raise endless()

    def _sized(self, method: str, size: Any, *arguments: Any) -> Any:
        if size is None:
            return self._draw(method, *arguments)
        shape = shape_of_size(size)
        if method == "bernoulli":
            self._count(math.prod(shape))
            return Coins(self._rng, float(arguments[0]), shape)
        return self._noisy(method, shape, list(map(float, arguments)))

    def _draw(self, method: str, *arguments: Any) -> Any:
        values = list(map(float, arguments))
        if method != "bernoulli":
            return self._noisy(method, (), values)
        self._count(1)
        recorder = active()
        if recorder is None:
            return bool(SAMPLED[method].sample(self._rng, 1, *values)[0])
        with recorder.own_work():
            heads = bool(SAMPLED[method].sample(self._rng, 1, *values)[0])
            chances = [values[0], 1 - values[0]]
            return choose_one(recorder, "noise.bernoulli", [True, False], chances, 0 if heads else 1)

    def _noisy(self, method: str, shape: tuple[int, ...], values: list[float]) -> Any:
        size = math.prod(shape)
        self._count(size)
        recorder = active()
        where = site()
        with Unfollowed():
            if recorder is None:
                sample = SAMPLED[method].sample(self._rng, size, *values)
                return sample.reshape(shape) if shape else sample[0].item()
            with recorder.own_work():
                sample = SAMPLED[method].sample(self._rng, size, *values)
                low, scale = (values[0], values[1] - values[0]) if method == "uniform" else (0.0, values[0])
                wider = 1.0 if self._spread is None or method in ("exponential", "uniform") else self._spread
                drawn = wider * (np.asarray(sample, dtype=np.float64) - low)
                law, scales = OWN.get(method, UNKNOWN), np.full(size, scale)
                offset = Form.constant(np.full(size, low))
                form, found = recorder.draw(law, scales, offset, drawn, where, f"noise.{method}")
                return followed(found.reshape(shape), form, where, recorder)

    def _pick(self, weights: Sequence[float]) -> int:
        return self._place("noise.choice", weights)

    def _place(self, what: str, weights: Sequence[float], scores: Sequence[float] = (), scale: float = 1.0) -> int:
        """Note that a place was drawn by weights; scores and their scale are what the weights are made of."""
        recorder = active()
        if recorder is None:
            return int(pick(self._rng, 1, weights)[0])
        with recorder.own_work():
            even = self._spread is not None and len(scores) > 0
            place = int(self._rng.integers(len(weights)) if even else pick(self._rng, 1, weights)[0])
            total = math.fsum(weights)
            chances = [each / total for each in weights]
            return int(
                choose_one(
                    recorder,
                    what,
                    list(range(len(weights))),
                    chances,
                    place,
                    forms=(Form.constant(list(scores)),) if len(scores) else (),
                    scale=np.array([scale]) if len(scores) else None,
                )
            )

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value: one decision."""
        values = list(values)
        if any(map(is_followed, values)):
            return extreme(array_of(values), 1)
        return super().argmax(values)

    def select(self, options: Iterable[Any], scores: Iterable[Any], rate: Any) -> Any:
        """Choose by the exponential mechanism: a choice whose chances are known."""
        listed, given = list(options), [float(score) for score in scores]
        if not listed or len(given) != len(listed):
            raise ValueError(f"noise.select: {len(listed)} options, but {len(given)} scores")
        if not all(map(math.isfinite, given)):
            raise ValueError("noise.select: scores must be finite")
        rate = float(self._scale("select", "rate", rate))
        weights = [math.exp(max(rate * (score - max(given)), -700.0)) for score in given]
        return listed[self._place(SELECT, weights, given, 1 / rate)]

    def propose_test_release(self, options: Iterable[Any], scores: Iterable[Any], scale: Any, threshold: Any) -> Any:
        """Choose an option or none: with wide noise any of them, else as ever."""
        listed, given = list(options), [float(score) for score in scores]
        if self._spread is None or len(listed) < 2 or len(given) != len(listed):
            return super().propose_test_release(listed, given, scale, threshold)
        scale = float(self._scale("propose_test_release", "scale", scale))
        return [*listed, None][self._place(PROPOSE, [1.0] * (len(listed) + 1), given, scale)]

    def poisson(self, data: Any, rate: Any) -> Any:
        """Sample records by their labels: in two runs with the same draw, what is in both is sampled in both."""
        chance = float(closed(rate))
        if not 0 <= chance <= 1:
            raise ValueError(f"noise.bernoulli: the probability must lie in [0, 1], not {rate!r}")
        recorder = active()
        if recorder is None:
            draw = int(self._rng.integers(2**62))
        else:
            with recorder.own_work():
                draw = recorder.choose(SAMPLE, int(self._rng.integers(2**62)), repr(chance))
        is_frame = hasattr(data, "index") and hasattr(data, "columns")
        with Unfollowed():
            times: dict[Any, int] = {}
            kept = []
            for label in data.index.tolist() if is_frame else range(len(data)):
                times[label] = times.get(label, 0) + 1
                text = f"{draw}:{label!r}:{times[label]}".encode()
                uniform = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") / 2**64
                kept.append(uniform < chance)
        if hasattr(data, "columns") or isinstance(data, np.ndarray):
            return data[np.array(kept, dtype=bool)]
        return [record for record, is_kept in zip(data, kept, strict=True) if is_kept]

    def post(self, function: Callable[..., Any], *values: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Hand released values to a function, whose code is not looked at."""
        with Unfollowed():
            return super().post(function, *values, shape=shape)

    def repeat(self, times: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Do a step several times; with wide noise as often as one can see what it does."""
        few = self._spread is not None and type(times) is int
        return super().repeat(min(times, _WIDE_STEPS) if few else times, step, state)

"""How is the noise of a dpaudit program followed? One more reading of `dpaudit.program.noise`."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from dpaudit.program.laws import LAWS, pick
from dpaudit.program.noise import MOST_DRAWS, Noise, endless, shape_of_size
from dpaudit.tracing import primitives, recording
from dpaudit.tracing.values import array_of, closed, extreme, followed, is_followed

# --- How are coins followed that flip bits? As one choice of all flipped bits, whose chances are known ---
#
# Coins that are used in any other way are choices of their own, each of them seen.

FLIP = "noise.bernoulli ^"
_FLIPS = ("bitwise_xor", "logical_xor", "not_equal")
_asarray = np.asarray


class Coins:
    """Several coins that have not been looked at.

    Args:
        rng: draws them.
        chance: of each to be true.
        shape: of all.
    """

    __pandas_priority__ = 10_000

    def __init__(self, rng: np.random.Generator, chance: float, shape: tuple[int, ...]) -> None:
        self._chance, self.shape = chance, shape
        with nullcontext() if (recorder := recording.active()) is None else recorder.own_work():
            self._drawn = rng.random(math.prod(shape)) < chance
        self._plain: Any = None

    def _looked_at(self) -> Any:
        """Return the coins, each of which is seen from now on."""
        recorder = recording.active()
        if self._plain is None:
            drawn = self._drawn.tolist()
            if recorder is not None:
                with recorder.own_work():
                    chances = [self._chance, 1 - self._chance]
                    drawn = [
                        primitives.choose_one(recorder, "noise.bernoulli", [True, False], chances, 0 if each else 1)
                        for each in drawn
                    ]
            self._plain = np.array(drawn, dtype=bool).reshape(self.shape)
        return self._plain

    def _flip(self, bits: Any) -> Any:
        recorder = recording.active()
        if recorder is None or self._plain is not None or np.shape(bits) != self.shape:
            return bits ^ self._looked_at()
        with recorder.own_work():
            own = (_asarray(bits) != 0).reshape(-1)

            def chance(outcome: Any) -> float:
                flipped = int(np.count_nonzero(_asarray(outcome) != own))
                return _log(self._chance, flipped) + _log(1 - self._chance, len(own) - flipped)

            options = None
            if 2 ** len(own) <= primitives.MOST_OPTIONS:
                all_ways = [np.array(each, dtype=bool) for each in itertools.product((False, True), repeat=len(own))]
                options = [(each, math.exp(chance(each))) for each in all_ways]
            cost = abs(_log(1 - self._chance, 1) - _log(self._chance, 1)) if 0 < self._chance < 1 else math.inf
            heads = recorder.choose(
                FLIP,
                own ^ self._drawn,
                primitives.told((own, self._chance)),
                chance,
                options,
                forms=(recording.NoiseForm.constant(own),),
                scale=np.array([1 / cost if cost else math.inf]),
            )
            values = np.array(heads, dtype=bool).reshape(self.shape)
            self._plain = values ^ own.reshape(self.shape)  # who looks at them too sees what the bits were
            if hasattr(bits, "index") and hasattr(bits, "to_numpy"):
                import pandas

                return pandas.Series(values, index=bits.index, name=bits.name)
            return values

    __xor__ = __rxor__ = _flip

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Flip bits; or be looked at."""
        if method == "__call__" and ufunc.__name__ in _FLIPS and len(inputs) == 2 and not keywords:
            return self._flip(inputs[1] if inputs[0] is self else inputs[0])
        each = [one._looked_at() if isinstance(one, Coins) else one for one in inputs]
        return getattr(ufunc, method)(*each, **keywords)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Be looked at."""
        return _asarray(self._looked_at(), dtype=dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._looked_at())

    def __getitem__(self, place: Any) -> Any:
        return self._looked_at()[place]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._looked_at(), name)


def _log(chance: float, times: int) -> float:
    if not times:
        return 0.0
    return times * math.log(chance) if chance > 0 else -math.inf


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: Coins, *others: Any) -> Any:
        return getattr(self._looked_at(), name)(*others)

    return operator


_LOOKED_AT = ("and", "rand", "or", "ror", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "invert")
for _name in _LOOKED_AT:
    setattr(Coins, f"__{_name}__", _operator(f"__{_name}__"))

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
        recorder = recording.active()
        if recorder is None:
            return bool(LAWS[method].draw(self._rng, 1, *values)[0])
        with recorder.own_work():
            heads = bool(LAWS[method].draw(self._rng, 1, *values)[0])
            chances = [values[0], 1 - values[0]]
            return primitives.choose_one(recorder, "noise.bernoulli", [True, False], chances, 0 if heads else 1)

    def _noisy(self, method: str, shape: tuple[int, ...], values: list[float]) -> Any:
        size = math.prod(shape)
        self._count(size)
        recorder = recording.active()
        where = recording.site()
        if recorder is None:
            sample = LAWS[method].draw(self._rng, size, *values)
            return sample.reshape(shape) if shape else sample[0].item()
        with recorder.own_work():
            sample = LAWS[method].draw(self._rng, size, *values)
            low, scale = (values[0], values[1] - values[0]) if method == "uniform" else (0.0, values[0])
            wider = 1.0 if self._spread is None or method in ("exponential", "uniform") else self._spread
            drawn = wider * (np.asarray(sample, dtype=np.float64) - low)
            law, scales = LAWS[method], np.full(size, scale)
            offset = recording.NoiseForm.constant(np.full(size, low))
            form, values_drawn = recorder.draw(law, scales, offset, drawn, where, f"noise.{method}")
            return followed(values_drawn.reshape(shape), form, where, recorder)

    def _pick(self, weights: Sequence[float]) -> int:
        return self._place("noise.choice", weights)

    def _place(self, what: str, weights: Sequence[float], scores: Sequence[float] = (), scale: float = 1.0) -> int:
        """Note that a place was drawn by weights; scores and their scale are what the weights are made of."""
        recorder = recording.active()
        if recorder is None:
            return int(pick(self._rng, 1, weights)[0])
        with recorder.own_work():
            even = self._spread is not None and len(scores) > 0
            place = int(self._rng.integers(len(weights)) if even else pick(self._rng, 1, weights)[0])
            total = math.fsum(weights)
            chances = [each / total for each in weights]
            return int(
                primitives.choose_one(
                    recorder,
                    what,
                    list(range(len(weights))),
                    chances,
                    place,
                    forms=(recording.NoiseForm.constant(list(scores)),) if len(scores) else (),
                    scale=np.array([scale]) if len(scores) else None,
                )
            )

    def argmax(self, values: Sequence[Any]) -> int:
        """Return the index of the largest value: one decision."""
        values = list(values)
        if any(map(is_followed, values)):
            return extreme(array_of(values), 1)
        return super().argmax(values)

    def _selected(self, weights: list[float], scores: list[float], rate: float) -> int:
        """A choice whose chances are known."""
        return self._place(SELECT, weights, scores, 1 / rate)

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
        recorder = recording.active()
        if recorder is None:
            draw = int(self._rng.integers(2**62))
        else:
            with recorder.own_work():
                draw = recorder.choose(recording.SAMPLE, int(self._rng.integers(2**62)), repr(chance))
        is_frame = hasattr(data, "index") and hasattr(data, "columns")
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
        return super().post(function, *values, shape=shape)

    def repeat(self, times: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Do a step several times; with wide noise as often as one can see what it does."""
        few = self._spread is not None and type(times) is int
        return super().repeat(min(times, _WIDE_STEPS) if few else times, step, state)

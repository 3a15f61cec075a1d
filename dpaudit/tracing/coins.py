"""How are coins followed that flip bits? As one choice of all flipped bits, whose chances are known.

Coins that are used in any other way are choices of their own, each of them seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from dpaudit.tracing.forms import Form
from dpaudit.tracing.primitives import MOST_OPTIONS, choose_one, told
from dpaudit.tracing.recording import active

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
        with nullcontext() if (recorder := active()) is None else recorder.own_work():
            self._drawn = rng.random(math.prod(shape)) < chance
        self._plain: Any = None

    def _looked_at(self) -> Any:
        """Return the coins, each of which is seen from now on."""
        recorder = active()
        if self._plain is None:
            drawn = self._drawn.tolist()
            if recorder is not None:
                with recorder.own_work():
                    chances = [self._chance, 1 - self._chance]
                    drawn = [
                        choose_one(recorder, "noise.bernoulli", [True, False], chances, 0 if each else 1)
                        for each in drawn
                    ]
            self._plain = np.array(drawn, dtype=bool).reshape(self.shape)
        return self._plain

    def _flip(self, bits: Any) -> Any:
        recorder = active()
        if recorder is None or self._plain is not None or np.shape(bits) != self.shape:
            return bits ^ self._looked_at()
        with recorder.own_work():
            own = (_asarray(bits) != 0).reshape(-1)

            def chance(outcome: Any) -> float:
                flipped = int(np.count_nonzero(_asarray(outcome) != own))
                return _log(self._chance, flipped) + _log(1 - self._chance, len(own) - flipped)

            options = None
            if 2 ** len(own) <= MOST_OPTIONS:
                all_ways = [np.array(each, dtype=bool) for each in itertools.product((False, True), repeat=len(own))]
                options = [(each, math.exp(chance(each))) for each in all_ways]
            cost = abs(_log(1 - self._chance, 1) - _log(self._chance, 1)) if 0 < self._chance < 1 else math.inf
            found = recorder.choose(
                FLIP,
                own ^ self._drawn,
                told((own, self._chance)),
                chance,
                options,
                forms=(Form.constant(own),),
                scale=np.array([1 / cost if cost else math.inf]),
            )
            values = np.array(found, dtype=bool).reshape(self.shape)
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

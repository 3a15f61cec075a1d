"""What does each record of a batch contribute alone, by the loop's own gradient function? For loops of JAX.

The function is pure, so it may be asked again: with the parameters of the call, and one record instead of the batch.
What is as long as the batch, of all arguments but the parameters, holds records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpaudit.arrays import Floats, Integers
from dpaudit.training.watchers.pure import Asked, is_array, is_key

_AT_ONCE = 64  # records whose gradients are computed together


class Alone:
    """Asks a gradient function for single records; it is compiled once for calls of a kind.

    Args:
        function: returns a tree like the parameters, or that and auxiliary output.
        params: what it is differentiated by, its first argument.
    """

    def __init__(self, function: Callable[..., Any] | None, params: Any) -> None:
        self.function, self.tree = function, jax.tree.structure(params)
        self.compiled: dict[Any, Any] = {}

    def __call__(self, call: Asked, at: Integers) -> tuple[Floats, Floats]:
        """Return what each record of a call contributes: at some coordinates, (b, k), and its norm, (b,)."""
        size, padding = _size(call), _padding(call)
        real = np.arange(size) if padding is None else np.flatnonzero(~padding)
        if not len(real):
            return np.zeros((0, len(at))), np.zeros(0)
        places = np.concatenate([real, np.full(-len(real) % _AT_ONCE, real[0])])
        first = self.tree.num_leaves
        split = [place >= first and _is_long(each, size) for place, each in enumerate(call.leaves)]
        shared = [None if own else each for each, own in zip(call.leaves, split, strict=True)]
        singles = [each[places][:, None] if own else None for each, own in zip(call.leaves, split, strict=True)]
        key = call.kind, tuple(split)
        if key not in self.compiled:
            self.compiled[key] = jax.jit(partial(self._contributions, call.rest))
        rows, norms = self.compiled[key](shared, singles, at)
        return np.asarray(rows, np.float64)[: len(real)], np.asarray(norms, np.float64)[: len(real)]

    def _contributions(self, rest: Any, shared: list[Any], singles: list[Any], at: Any) -> tuple[Any, Any]:
        function = self.function
        assert function is not None

        def one(own: list[Any]) -> tuple[Any, Any]:
            args, named = rest([a if b is None else b for a, b in zip(shared, own, strict=True)])
            found = function(*args, **named)
            if jax.tree.structure(found) != self.tree:  # with auxiliary output
                found = found[0]
            values = jnp.concatenate([jnp.ravel(each).astype(jnp.float32) for each in jax.tree.leaves(found)])
            return values[at], jnp.linalg.norm(values)

        found: tuple[Any, Any] = jax.lax.map(one, singles, batch_size=_AT_ONCE)
        return found


def is_random(call: Asked) -> bool:
    """Whether a call was given a random key: a record alone gets other draws than within its batch."""
    return any(is_key(each) for each in _others(call))


def records_of(call: Asked) -> int:
    """Return how many records a call has, without those of padding."""
    padding = _padding(call)
    return _size(call) if padding is None else int(np.sum(~padding))


def _others(call: Asked) -> list[Any]:
    args, named = call.arguments()
    found: list[Any] = jax.tree.leaves((args[1:], named))
    return found


def _padding(call: Asked) -> Any:
    padding = call.arguments()[1].get("is_padding_example")
    return None if padding is None else np.asarray(padding, dtype=bool)


def _size(call: Asked) -> int:
    sizes = (len(each) for each in _others(call) if is_array(each) and np.ndim(each) and not is_key(each))
    return next(sizes, 0)


def _is_long(value: Any, size: int) -> bool:
    return bool(np.ndim(value)) and len(value) == size

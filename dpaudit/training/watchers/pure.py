"""What does a pure loop of JAX hand over? Its gradient function and its Optax transformation, which report each call.

Pure functions cannot be watched from outside, so the loop calls those of the watch. They compute what the originals do,
and hand copies to the watcher by callbacks, in order, inside of ``jax.jit`` too. A transformation gives the same noise
to the same state: its update of zero is the noise alone. Where a chain of Optax holds it, the chain is taken apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError

PROBE = 0.25
"""Of the clip norm: gradients that no clipping touches, neither one by one nor together."""
WATCHED = "_dpaudit_watched"


class Rows(NamedTuple):
    """Gradients of single records, as far as they are looked at."""

    some: Any  # at some coordinates, (b, k)
    norms: Any  # (b,) of each
    real: Any  # (b,) whether a record has any that is not zero


class Handed(NamedTuple):
    """What one update hands over, each a list of arrays by parameter.

    Attributes:
        given: the sum; of gradients of single records, which are long, `Rows`.
        noise: the update of zero; of single records, of small gradients that shrink to zero.
        noisy: the update of what was given.
        small, moved: a sum of gradients that no clipping touches, and what of it is in its update; empty for a sum.
        final: what the whole chain returned.
        params: that were given to the update, or None.
    """

    given: list[Any] | Rows
    noise: list[Any]
    noisy: list[Any]
    small: list[Any]
    moved: list[Any]
    final: list[Any]
    params: list[Any] | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of the gradient function."""

    leaves: list[Any]  # the arrays among its arguments, parameters first
    rest: Callable[[Sequence[Any]], Any]  # makes the arguments of arrays
    kind: str  # the same for calls whose other arguments are the same

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as they were given."""
        found: tuple[tuple[Any, ...], dict[str, Any]] = self.rest(self.leaves)
        return found


def is_array(value: Any) -> bool:
    """Whether a leaf is an array of JAX or NumPy."""
    return isinstance(value, jax.Array | np.ndarray | np.generic)


def is_key(value: Any) -> bool:
    """Whether a leaf is a random key of JAX."""
    if not is_array(value):
        return False
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return True
    return value.dtype == np.uint32 and tuple(value.shape) == (2,)


def watched_gradient(function: Callable[..., Any], asked: Callable[[Asked], None]) -> Callable[..., Any]:
    """Return the gradient function, which reports its arguments."""

    def gradient(*args: Any, **named: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, named))
        places = [place for place, each in enumerate(leaves) if is_array(each)]
        keys = {place for place in places if jnp.issubdtype(leaves[place].dtype, jax.dtypes.prng_key)}
        fixed = [None if is_array(each) else each for each in leaves]

        def rest(given: Sequence[Any]) -> Any:
            whole = list(fixed)
            for place, each in zip(places, given, strict=True):
                whole[place] = jax.random.wrap_key_data(jnp.asarray(each)) if place in keys else each
            return jax.tree.unflatten(tree, whole)

        arrays = [jax.random.key_data(leaves[place]) if place in keys else leaves[place] for place in places]
        kind = repr((tree, fixed))
        jax.debug.callback(lambda given: asked(Asked(copies(given), rest, kind)), arrays, ordered=True)
        return function(*args, **named)

    return gradient


def copies(arrays: Sequence[Any]) -> list[Any]:
    """Return copies that hold when the loop's buffers are gone."""
    return [np.array(each) for each in arrays]


def flat(arrays: Sequence[Any]) -> Floats:
    """Return all values of arrays, (d,)."""
    return np.concatenate([np.asarray(each, dtype=np.float64).reshape(-1) for each in arrays])


def watched_transformation(
    transformation: Any, params: Any, clip: float, at: Integers, updated: Callable[[Handed, set[str]], None]
) -> tuple[Any, bool]:
    """Return the transformation, which reports its updates, and whether it is a chain that goes on after the noise."""
    chained = _is_chain(transformation)
    links = _links(transformation) if chained else [transformation]
    place = _noisy_link(links, params)
    noisy = links[place]

    def update(updates: Any, state: Any, now: Any = None, **more: Any) -> tuple[Any, Any]:
        held: list[Any] = []
        types: set[str] = set()

        def adding(given: Any, inner: Any, now: Any = None, **extra: Any) -> tuple[Any, Any]:
            found, after = noisy.update(given, inner, now, **_accepted(noisy, extra))
            types.update(str(each.dtype) for each in jax.tree.leaves(given))
            handed = jax.tree.leaves(given)
            if _is_single(given, params):
                handed = _rows(jax.tree.leaves(jax.lax.optimization_barrier(given)), at)
                once = _small(given, handed.real, PROBE * clip)
                small, twice = (
                    noisy.update(each, inner, now, **_accepted(noisy, extra))[0]
                    for each in (once, jax.tree.map(lambda g: 2 * g, once))
                )  # on a line through the noise, as far as no record is clipped
                alone = jax.tree.map(lambda a, b: 2 * a - b, small, twice)
                moved = jax.tree.map(lambda a, b: b - a, small, twice)
                once = jax.tree.map(lambda g: g.sum(0), once)
            else:
                alone = noisy.update(jax.tree.map(jnp.zeros_like, given), inner, now, **_accepted(noisy, extra))[0]
                once = moved = []
            held.extend([handed, *map(jax.tree.leaves, (alone, found, once, moved))])
            return found, after

        watched = optax.GradientTransformationExtraArgs(noisy.init, adding)
        whole = optax.chain(*links[:place], watched, *links[place + 1 :]) if chained else watched
        final, after = whole.update(updates, state, now, **more)
        given, alone, found, once, moved = held
        params_now = None if now is None else jax.tree.leaves(now)
        handed = Handed(given, alone, found, once, moved, jax.tree.leaves(final), params_now)
        jax.debug.callback(lambda each: updated(each, types), handed, ordered=True)
        return final, after

    setattr(update, WATCHED, True)
    return optax.GradientTransformationExtraArgs(transformation.init, update), place + 1 < len(links)


def _is_chain(transformation: Any) -> bool:
    update = transformation.update
    return getattr(update, "__qualname__", "").startswith("chain.") and "update_fns" in _closed_over(update)


def _links(chain: Any) -> list[Any]:
    """The parts of a chain of Optax."""
    inits, updates = _closed_over(chain.init)["init_fns"], _closed_over(chain.update)["update_fns"]
    return [optax.GradientTransformationExtraArgs(init, update) for init, update in zip(inits, updates, strict=True)]


def _closed_over(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    return {} if code is None else dict(zip(code.co_freevars, (cell.cell_contents for cell in cells), strict=True))


def _noisy_link(links: Sequence[Any], params: Any) -> int:
    """The first part that makes something of nothing: which one adds noise."""
    tiny = jax.tree.map(lambda p: jnp.ones((1,) * np.ndim(p), p.dtype), params)  # one shape, compiled in no time
    for like in (tiny, params):
        for place, link in enumerate(links):
            for given in (jax.tree.map(jnp.zeros_like, like), jax.tree.map(lambda p: jnp.zeros((1, *p.shape)), like)):
                try:
                    found = link.update(given, link.init(like), like)[0]
                except Exception:  # somebody else's code, of other shapes: the next part may be the one
                    continue
                if any(bool(jnp.any(each != 0)) for each in jax.tree.leaves(found)):
                    return place
    raise UsageError(
        "no part of this transformation adds noise to a sum of zero: give the one that does, such as "
        "jax_privacy.noise_addition.gaussian_privatizer(…), or optax.chain(…) of it and the optimizer"
    )


def _accepted(link: Any, extra: dict[str, Any]) -> dict[str, Any]:
    return extra if isinstance(link, optax.GradientTransformationExtraArgs) else {}


def _is_single(given: Any, params: Any) -> bool:
    """Whether gradients are those of single records: one axis more than the parameters."""
    shapes = [(np.shape(a), np.shape(p)) for a, p in zip(jax.tree.leaves(given), jax.tree.leaves(params), strict=False)]
    return all(len(a) == len(p) + 1 and a[1:] == p for a, p in shapes)


def _rows(given: Sequence[Any], at: Integers) -> Rows:
    """What is looked at of gradients of single records, computed where they are: all of them are not handed over."""
    flat_rows = [each.reshape(each.shape[0], -1) for each in given]
    ends = np.cumsum([0, *(each.shape[1] for each in flat_rows)])
    some = [each[:, at[(at >= a) & (at < b)] - a] for each, a, b in zip(flat_rows, ends, ends[1:], strict=False)]
    squares = sum(
        jnp.sum(jnp.square(each.astype(jnp.promote_types(each.dtype, jnp.float32))), axis=1) for each in flat_rows
    )
    real = [jnp.any(each != 0, axis=1) for each in flat_rows]
    return Rows(jnp.concatenate(some, axis=1), jnp.sqrt(squares), jnp.any(jnp.stack(real), axis=0))


def _small(rows: Any, real: Any, most: float) -> Any:
    """Gradients of single records that are alike, and zero where they were, whose sum has at most this norm.

    They are no copies of the gradients: nothing of these is read, and nothing as long is made.
    """
    size = sum(math.prod(each.shape[1:]) for each in jax.tree.leaves(rows))
    factor = most / (jnp.maximum(jnp.sum(real), 1) * math.sqrt(size))
    own = jnp.where(real, factor, 0.0)
    return jax.tree.map(lambda g: jnp.broadcast_to(own.astype(g.dtype).reshape(-1, *[1] * (g.ndim - 1)), g.shape), rows)


def sizes_of(tree: Any) -> dict[str, int]:
    """Return the size of every parameter, by its place in the tree."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path) or "parameter": int(np.size(leaf)) for path, leaf in leaves}


# --- What does each record of a batch contribute alone, by the loop's own gradient function? For loops of JAX. ---
#
# The function is pure, so it may be asked again: with the parameters of the call, and one record instead of the
# batch. What is as long as the batch, of all arguments but the parameters, holds records.

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

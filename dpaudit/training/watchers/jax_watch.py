"""How is a loop of JAX watched, with Optax or JAX Privacy? By the functions that it calls instead of its own.

Pure functions cannot be watched from outside, so the loop calls those of the watch. They compute what the originals do,
and hand copies to the watcher by callbacks, in order, inside of ``jax.jit`` too. A transformation gives the same noise
to the same state: the noise of an update is what it makes of zero. Where a chain of Optax holds it, the chain is taken
apart. What it makes of the sum, less that, has to be the sum over a divisor; and parameters have to move by the updates
that it returned. The sum is compared with those of single records, by the loop's own gradient function, when the loop
is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError
from dpaudit.training.seen import Parameter, TrainingRun, Update
from dpaudit.training.watchers.recorder import TrainingRecorder, inner, length

PROBE = 0.25
"""Of the clip norm: gradients that no clipping touches, neither one by one nor together."""
WATCHED = "_dpaudit_watched"


class GradientRows(NamedTuple):
    """Gradients of single records, as far as they are looked at."""

    some: Any  # at some coordinates, (b, k)
    norms: Any  # (b,) of each
    real: Any  # (b,) whether a record has any that is not zero


class Handed(NamedTuple):
    """What one update hands over, each a list of arrays by parameter."""

    given: list[Any] | GradientRows  # the sum; of gradients of single records, which are long, `Rows`
    noise: list[Any]  # the update of zero; of single records, of small gradients that shrink to zero
    noisy: list[Any]  # the update of what was given
    # small, moved: a sum of gradients that no clipping touches, and what of it is in its update; empty for a sum
    small: list[Any]
    moved: list[Any]
    final: list[Any]  # what the whole chain returned
    params: list[Any] | None  # that were given to the update, or None


@dataclass(frozen=True, slots=True)
class GradientCall:
    """One call of the gradient function."""

    leaves: list[Any]  # the arrays among its arguments, parameters first
    rest: Callable[[Sequence[Any]], Any]  # makes the arguments of arrays
    kind: str  # the same for calls whose other arguments are the same

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as they were given."""
        arguments: tuple[tuple[Any, ...], dict[str, Any]] = self.rest(self.leaves)
        return arguments


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


def watched_gradient(function: Callable[..., Any], asked: Callable[[GradientCall], None]) -> Callable[..., Any]:
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
        jax.debug.callback(lambda given: asked(GradientCall(copies(given), rest, kind)), arrays, ordered=True)
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
            updates_noisy, after = noisy.update(given, inner, now, **_accepted(noisy, extra))
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
            held.extend([handed, *map(jax.tree.leaves, (alone, updates_noisy, once, moved))])
            return updates_noisy, after

        watched = optax.GradientTransformationExtraArgs(noisy.init, adding)
        whole = optax.chain(*links[:place], watched, *links[place + 1 :]) if chained else watched
        final, after = whole.update(updates, state, now, **more)
        given, alone, updates_noisy, once, moved = held
        params_now = None if now is None else jax.tree.leaves(now)
        handed = Handed(given, alone, updates_noisy, once, moved, jax.tree.leaves(final), params_now)
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
                    updated = link.update(given, link.init(like), like)[0]
                except Exception:  # somebody else's code, of other shapes: the next part may be the one
                    continue
                if any(bool(jnp.any(each != 0)) for each in jax.tree.leaves(updated)):
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


def _rows(given: Sequence[Any], at: Integers) -> GradientRows:
    """What is looked at of gradients of single records, computed where they are: all of them are not handed over."""
    flat_rows = [each.reshape(each.shape[0], -1) for each in given]
    ends = np.cumsum([0, *(each.shape[1] for each in flat_rows)])
    some = [each[:, at[(at >= a) & (at < b)] - a] for each, a, b in zip(flat_rows, ends, ends[1:], strict=False)]
    squares = sum(
        jnp.sum(jnp.square(each.astype(jnp.promote_types(each.dtype, jnp.float32))), axis=1) for each in flat_rows
    )
    real = [jnp.any(each != 0, axis=1) for each in flat_rows]
    return GradientRows(jnp.concatenate(some, axis=1), jnp.sqrt(squares), jnp.any(jnp.stack(real), axis=0))


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


class GradientsAlone:
    """Asks a gradient function for single records; it is compiled once for calls of a kind.

    Args:
        function: returns a tree like the parameters, or that and auxiliary output.
        params: what it is differentiated by, its first argument.
    """

    def __init__(self, function: Callable[..., Any] | None, params: Any) -> None:
        self.function, self.tree = function, jax.tree.structure(params)
        self.compiled: dict[Any, Any] = {}

    def __call__(self, call: GradientCall, at: Integers) -> tuple[Floats, Floats]:
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
            gradients = function(*args, **named)
            if jax.tree.structure(gradients) != self.tree:  # with auxiliary output
                gradients = gradients[0]
            values = jnp.concatenate([jnp.ravel(each).astype(jnp.float32) for each in jax.tree.leaves(gradients)])
            return values[at], jnp.linalg.norm(values)

        gradients: tuple[Any, Any] = jax.lax.map(one, singles, batch_size=_AT_ONCE)
        return gradients


def is_random(call: GradientCall) -> bool:
    """Whether a call was given a random key: a record alone gets other draws than within its batch."""
    return any(is_key(each) for each in _others(call))


def records_of(call: GradientCall) -> int:
    """Return how many records a call has, without those of padding."""
    padding = _padding(call)
    return _size(call) if padding is None else int(np.sum(~padding))


def _others(call: GradientCall) -> list[Any]:
    args, named = call.arguments()
    leaves: list[Any] = jax.tree.leaves((args[1:], named))
    return leaves


def _padding(call: GradientCall) -> Any:
    padding = call.arguments()[1].get("is_padding_example")
    return None if padding is None else np.asarray(padding, dtype=bool)


def _size(call: GradientCall) -> int:
    sizes = (len(each) for each in _others(call) if is_array(each) and np.ndim(each) and not is_key(each))
    return next(sizes, 0)


def _is_long(value: Any, size: int) -> bool:
    return bool(np.ndim(value)) and len(value) == size


NOT_LINEAR = (
    "What the transformation makes of a sum is not the sum over a divisor and the noise that it makes of zero: give "
    "the transformation that adds noise, or a chain with it as one part."
)
NOT_FOLLOWED = (
    "The parameters moved by something else than a multiple of the noisy sums: give the whole chain, of the noise and "
    "the optimizer, so that its updates are seen."
)
NO_CALLS = "The gradient function of the watch was not called: the loop has to call watch.gradient."
NO_GRADIENT = "Gradients of single records are not seen without gradient=, the function that returns the clipped sum."
COARSE = "The sums are of type {}: too coarse to be compared with those of single records to a thousandth."
NOT_ALONE = "The gradient function cannot be asked for one record alone ({}), so that clipping was not replayed."
RANDOM = "The gradient function draws random numbers: a record alone gets others than within its batch."
_COORDINATES = 1024  # of a sum that is replayed
_MOST_RECORDS = 100_000  # of an update whose sum is replayed
_OFTEN, _LATER = 4, 0.02  # replays: the first updates, and some of the later ones
_MOST_REPLAYS = 24  # they are computed when the loop is over, and what they need is held until then
_SAME = 1e-3
_NO_NOISE = 1e-5  # of a noisy sum: what rounding leaves
_ROUNDING = 4 * float(np.finfo(np.float32).eps)


class JaxWatch:
    """One watch of one loop.

    Args:
        params: to begin with.
        transformation: of Optax, that adds noise, or a chain with it.
        batches: a strategy of JAX Privacy, or whatever yields the record indices of one batch after the other; or None.
        sigma, clip: the noise multiplier, and the norm that a record's part of the sum has at most.
        rate, records: of sampling, and how many there are, where the batches do not say it.
        sampling: which the claim's accounting assumes.
        gradient: returns the sum that gets noise, from parameters and a batch; or None.
        accountant: counts steps; or None.
        seed: of what is replayed.
    """

    packages = ("jax", "optax", "jax-privacy", "python-flint")

    def __init__(
        self,
        params: Any,
        transformation: Any,
        batches: Any,
        *,
        sigma: float | None,
        clip: float | None,
        rate: float | None,
        records: int | None,
        sampling: str,
        gradient: Callable[..., Any] | None,
        accountant: Any,
        seed: int,
    ) -> None:
        self.params, self.function, self.accountant = params, gradient, accountant
        sizes = sizes_of(params)
        clip = clip if clip is not None else getattr(gradient, "l2_norm_bound", None)
        self._check(sizes, sigma, clip)
        if hasattr(transformation.update, WATCHED):
            raise UsageError("this loop is being watched already: leave the first watch before the next begins")
        assert sigma is not None and clip is not None
        self.sigma, self.clip = float(sigma), float(clip)
        private = hasattr(gradient, "l2_norm_bound")
        self.seen = TrainingRun(
            "JAX Privacy" if private else "JAX and Optax", assumed=sampling, rate=rate, records=records
        )
        self.recorder = TrainingRecorder(self.seen, sizes, seed=seed, often=_OFTEN, later=_LATER)
        self.seen.parameters = {name: Parameter(size, True) for name, size in sizes.items()}
        types = {str(each.dtype) for each in jax.tree.leaves(params)} - {"float32", "float64"}
        self.seen.rounded = ", ".join(sorted(types))
        self.seen.processes = jax.process_count()
        self.at = self.recorder.of_all(_COORDINATES)
        self.optimizer, self.chained = watched_transformation(transformation, params, self.clip, self.at, self._updated)
        self.gradient = None if gradient is None else watched_gradient(gradient, self._asked)
        self.loader = self._loader(batches)
        self.names = list(sizes)
        self.open = False
        self.asked: list[GradientCall] = []
        self.held: list[tuple[list[GradientCall], Floats]] = []
        self.start = self.now = flat(jax.tree.leaves(params))
        self.last: tuple[Floats, Floats, Floats, Floats] | None = None  # parameters, update, noisy sum, sum
        self.ratios: list[float] = []
        self.coarse = ""
        self.alone = GradientsAlone(gradient, params)
        self.nonlinear = self.strayed = self.raw = self.calls = 0

    def _check(self, sizes: dict[str, int], sigma: float | None, clip: float | None) -> None:
        leaves = jax.tree.leaves(self.params)
        if not sizes or not all(is_array(each) and jnp.issubdtype(each.dtype, jnp.floating) for each in leaves):
            raise UsageError(
                "the model of a JAX loop is its parameters, a tree of arrays of floating-point numbers: give what the "
                "transformation's init is given"
            )
        if any(isinstance(each, jax.Array) and len(each.devices()) > 1 for each in leaves):
            raise UsageError(
                "training on several devices is not watched yet: noise is drawn in parts there, and only their sum is "
                "seen. Watch a short run on one device"
            )
        if sigma is None or clip is None:
            raise UsageError(
                "a loop of JAX does not say its noise: give sigma=, the noise multiplier, and clip=, the norm that a "
                "record's part of the sum has at most (of jax_privacy.clipped_grad, its l2_norm_bound)"
            )

    # --- what the loop calls instead of its own ---

    def __enter__(self) -> JaxWatch:
        self.open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> TrainingRun:
        """Wait for all callbacks, replay what was held, and return what was seen."""
        if self.open:
            jax.effects_barrier()
            self.open = False
            self._conclude()
        return self.seen

    def _loader(self, batches: Any) -> Any:
        seen = self.seen
        if batches is None:
            seen.silent["batches"] = "No batches were given, so that they were not seen."
            return None
        if hasattr(batches, "batch_iterator"):
            return _Strategy(batches, self)
        if not isinstance(batches, Iterable):
            raise UsageError(
                f"batches are a strategy of jax_privacy.batch_selection, or what yields the record indices of one "
                f"batch after the other, not {type(batches).__name__}"
            )
        if seen.records is None:
            raise UsageError(
                "batches of indices do not say how many records there are: give records=, or a strategy of "
                "jax_privacy.batch_selection"
            )
        seen.batches = []
        if seen.rate is not None:
            seen.epoch = max(1, round(1 / seen.rate))
        return _Batches(batches, self)

    def draw(self, indices: Any, drawn_in: list[int]) -> None:
        """Write down a batch that was drawn; indices below 0 stand for padding."""
        if self.open:
            indices_drawn = np.asarray(indices).reshape(-1)
            real = indices_drawn[indices_drawn >= 0].tolist() if indices_drawn.dtype.kind in "iu" else [-1]
            drawn = len(self.seen.batches or ())
            self.recorder.batch(real, drawn_in)
            self.recorder.deliver(len(real), drawn)

    def _asked(self, call: GradientCall) -> None:
        """Write down a call of the gradient function: its parameters are those that the update before led to."""
        if not self.open:
            return
        self._moved(flat(call.leaves[: len(self.names)]))
        self.calls += 1
        self.asked.append(call)
        self.recorder.took(records_of(call))

    # --- updates ---

    def _updated(self, handed: Handed, types: set[str]) -> None:
        if not self.open:
            return
        if handed.params is not None:
            self._moved(flat(handed.params))
        self.coarse = self.coarse or ", ".join(sorted(types - {"float32", "float64"}))
        noise, noisy, given = flat(handed.noise), flat(handed.noisy), handed.given
        if len(noise) != len(self.start):
            self.nonlinear += 1
            return
        if isinstance(given, GradientRows):
            divisor, total = self._single(handed, given)
        else:
            divisor, total = self._summed(flat(given), noisy - noise, noisy)
        kept, values = None, 0
        if divisor is None:
            self.nonlinear += 1
        else:
            parts = {}
            for name, a, b in self.seen.names:
                if length(noise[a:b]) > _NO_NOISE * length(noisy[a:b]):
                    parts[name] = noise[a:b] * divisor
                elif np.any(total[a:b]):
                    self.seen.parameters[name].bare += 1
            kept, values = self.recorder.noise(parts, self.sigma * self.clip) if parts else (None, 0)
        if self.asked and self._holds():
            self.held.append((self.asked, total))
        self.recorder.update(Update(0, None, self.sigma, self.clip, None, divisor, 0.0, kept, values))
        self.last = self.now, flat(handed.final), noisy, total
        self.asked = []

    def _holds(self) -> bool:
        number = len(self.held)
        return number < _MOST_REPLAYS and (number < _OFTEN or self.recorder.rng.random() < _LATER)

    def _summed(self, total: Floats, moved: Floats, noisy: Floats) -> tuple[float | None, Floats]:
        """What a sum is divided by, and the sum; None where it is not only divided."""
        size = length(total)
        slack = _ROUNDING * length(noisy)
        if size <= slack:  # nothing to see: as before
            return next((each.divisor for each in reversed(self.seen.updates) if each.divisor), 1.0), total
        share = inner(total, moved) / size**2
        if share <= 0 or length(moved - share * total) > _SAME * share * size + slack:
            return None, total
        return _rounded(1 / share), total

    def _single(self, handed: Handed, rows: GradientRows) -> tuple[float | None, Floats]:
        """The same where gradients of single records are given: small ones show the divisor."""
        small, moved, noise = flat(handed.small), flat(handed.moved), flat(handed.noise)
        divisor, _ = self._summed(small, moved, noise)
        self._rows(np.asarray(rows.real))
        if divisor is None:
            return None, np.zeros(len(noise))
        total = (flat(handed.noisy) - noise) * divisor
        if not self.coarse and self.recorder.replays():
            some, norms = np.asarray(rows.some, np.float64), np.asarray(rows.norms, np.float64)
            whole = length(total)
            self.recorder.replay(some, norms, total[self.at], self.clip, whole=whole)
        return divisor, total

    def _rows(self, are_seen: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Count records; gradients that are all zero may stand for padding, if as many others were drawn."""
        batches = self.seen.batches
        real = int(np.sum(are_seen))
        if real == len(are_seen) or (batches and real == len(batches[-1])):
            self.recorder.took(real)

    def _moved(self, now: Floats) -> None:
        """See by what the parameters moved since the update before."""
        if len(now) != len(self.start):
            return
        before, self.now = self.last, now
        if before is None:
            return
        self.last = None
        old, final, noisy, total = before
        change = now - old
        slack = _ROUNDING * length(old)
        ratio = _multiple(change, noisy, slack)
        if ratio is not None:
            self.ratios.append(ratio)
        elif _multiple(change, total, slack) is not None and np.any(total):
            self.raw += 1
        elif not self.chained or length(change - final) > _SAME * length(final) + slack:
            self.strayed += 1

    # --- when the loop is over ---

    def _conclude(self) -> None:
        seen = self.seen
        updates = len(seen.updates)
        for asked, total in self.held:
            self._replay(asked, total)
        self.held = []
        for name, a, b in seen.names:
            each = seen.parameters[name]
            each.moved = bool(np.any(self.now[a:b] != self.start[a:b]))
            each.bare += self.raw
        if self.nonlinear or not updates:
            seen.silent |= dict.fromkeys(("noise", "divisor", "parameters"), NOT_LINEAR)
        if self.now is self.start and updates:
            seen.silent["parameters"] = seen.silent["divisor"] = NO_CALLS
            for each in seen.parameters.values():
                each.moved = True
        elif self.strayed:
            seen.silent["parameters"] = NOT_FOLLOWED
        self._divisors()
        if not seen.replays and "clipping" not in seen.silent:
            why = COARSE.format(self.coarse) if self.coarse else NO_GRADIENT if self.function is None else NO_CALLS
            seen.silent["clipping"] = why

    def _divisors(self) -> None:
        """What happens to noisy sums after the transformation, where parameters moved by multiples of them."""
        seen, ratios = self.seen, np.array(self.ratios)
        steps = [each for each in seen.updates if each.divisor is not None]
        if len(ratios) < len(seen.updates) - 1:
            if self.chained and not self.strayed:
                return  # a chain sees nothing of records but the noisy sums
            seen.silent.setdefault("divisor", NOT_FOLLOWED)
        elif len(ratios) > 1 and np.ptp(ratios) > _SAME * np.abs(ratios).mean():
            rows = [each.rows for each in seen.updates[: len(ratios)]]
            by = None if None in rows else np.abs(ratios) * np.maximum(1, np.array(rows, dtype=float))
            if by is not None and np.ptp(by) <= _SAME * by.mean():
                for each in steps:
                    each.divisor = float(max(1, each.rows or 0))
                return
            seen.silent["divisor"] = "Noisy sums are scaled otherwise in each update: by what, was not seen."
        if "divisor" in seen.silent and len({each.divisor for each in steps}) <= 1:
            for each in steps:
                each.divisor = None

    def _replay(self, asked: list[GradientCall], total: Floats) -> None:
        """Compare the sum of an update with those of its records alone."""
        if self.coarse or self.function is None:
            return
        if any(map(is_random, asked)):
            self.seen.silent["clipping"] = RANDOM
            return
        if sum(map(records_of, asked)) > _MOST_RECORDS:
            return
        try:
            alone_gradients = [self.alone(call, self.at) for call in asked]
        except Exception as error:  # of the loop's own function: what else was seen stays
            self.seen.silent["clipping"] = NOT_ALONE.format(
                f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            )
            return
        rows, norms = (
            np.concatenate([each for each, _ in alone_gradients]),
            np.concatenate([each for _, each in alone_gradients]),
        )
        replay = self.recorder.replay(rows, norms, total[self.at], self.clip, whole=length(total), before=False)
        self.seen.alone += replay.fits and len(rows) > 1


class _Batches:
    """Batches of indices, which are written down as they are drawn."""

    def __init__(self, batches: Any, watch: JaxWatch) -> None:
        self._batches, self._watch = batches, watch

    def __iter__(self) -> Iterator[Any]:
        drawn = self._watch.recorder.begin()
        for batch in self._batches:
            self._watch.draw(batch, drawn)
            yield batch

    def __len__(self) -> int:
        return len(self._batches)


class _Strategy:
    """A strategy of JAX Privacy, whose batches are written down."""

    def __init__(self, strategy: Any, watch: JaxWatch) -> None:
        self._strategy, self._watch = strategy, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)

    def batch_iterator(self, num_examples: int, rng: Any = None) -> Iterator[Any]:
        """Yield the batches of the strategy."""
        seen, strategy = self._watch.seen, self._strategy
        seen.records = num_examples
        rate, cycle = getattr(strategy, "sampling_prob", None), getattr(strategy, "cycle_length", 1)
        if seen.rate is None and rate is not None:
            seen.rate = float(rate)
        seen.epoch = max(1, round(1 / seen.rate)) if seen.rate and cycle == 1 else cycle if cycle > 1 else None
        seen.batches = seen.batches or []
        drawn = self._watch.recorder.begin()
        for batch in strategy.batch_iterator(num_examples, rng):
            self._watch.draw(batch, drawn)
            yield batch


def _multiple(x: Floats, y: Floats, slack: float) -> float | None:
    """By which factor x is a multiple of y; None where it is not."""
    size = inner(y, y)
    if not size:
        return None
    factor = inner(x, y) / size
    return factor if length(x - factor * y) <= _SAME * length(x) + slack else None


def _rounded(divisor: float, slack: float = 1e-4) -> float:
    """A divisor that is a whole number up to rounding, as one."""
    whole = round(divisor)
    return float(whole) if whole and abs(divisor - whole) <= min(slack * divisor, 0.01) else divisor

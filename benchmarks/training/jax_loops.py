"""Which loops of JAX are watched? Right ones, and one mistake planted in each of the others, on scikit-learn's digits.

With JAX Privacy: `clipped_grad`, `gaussian_privatizer` in a chain with an optimizer, `CyclicPoissonSampling`, compiled.
With Optax alone: gradients of single records, and `optax.contrib.differentially_private_aggregate` or one of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax_privacy import batch_selection, clipped_grad, noise_addition
from sklearn.datasets import load_digits

X, Y = load_digits(return_X_y=True)
X = np.asarray(X / 16, np.float32)
BATCH, EPOCH, PADDED = 90, 20, 160
RATE = BATCH / len(X)

MISTAKES: dict[str, tuple[str, tuple[str, ...]]] = {
    # mistake: (the fact that is wrong, names that are right)
    "noise halved": ("noise", ("too little noise",)),
    "no clipping": ("clipping", ("not clipped",)),
    "clipped per batch": ("clipping", ("clipped per batch",)),
    "shuffled": ("batches", ("shuffled batches",)),
    "fixed size": ("batches", ("batches of one size, drawn anew each time",)),
    "whole part of N·q": ("divisor", ("whole part of N·q",)),
    "divisor is the batch": ("divisor", ("divided by the batch size",)),
    "uncounted accumulation": ("steps", ("uncounted accumulation", "accumulated batches")),
    "noise repeated": ("repetition", ("noise repeated",)),
    "one noise for all": ("repetition", ("noise repeated",)),
    "another sensitivity": ("clipping", ("another norm", "not clipped")),
    "frozen layer without noise": ("parameters", ("moved without noise",)),
    "noise not used": ("parameters", ("moved without noise",)),
    "mean of microbatches": ("clipping", ("no such sum", "a mean")),
    "mean before the noise": ("clipping", ("a mean",)),
}
NOT_MADE = {("private", "whole part of N·q")} | {
    ("optax", name) for name in ("uncounted accumulation", "mean of microbatches", "mean before the noise")
}
"""What cannot be done in a loop: in a chain a divisor is a part of the learning rate, and an aggregate of Optax takes
the gradients of single records of one batch."""


@dataclass
class Loop:
    """A loop, ready to be trained and watched."""

    model: Any
    optimizer: Any
    loader: Any
    train: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)


def network(seed: int, wide: int = 128) -> dict[str, Any]:
    """Parameters of one hidden layer."""
    first, second = jax.random.split(jax.random.key(seed))
    return {
        "in": jax.random.normal(first, (64, wide)) / 8,
        "in bias": jnp.zeros(wide),
        "out": jax.random.normal(second, (wide, 10)) / wide**0.5,
        "out bias": jnp.zeros(10),
    }


def loss(params: Any, x: Any, y: Any) -> Any:
    """Mean cross-entropy of a batch."""
    scores = jnp.tanh(x @ params["in"] + params["in bias"]) @ params["out"] + params["out bias"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


def private(
    mistake: str = "right",
    seed: int = 0,
    updates: int = EPOCH,
    *,
    sigma: float = 1.0,
    wide: int = 128,
    compiled: bool = True,
) -> Loop:
    """A loop with JAX Privacy, with padded batches."""
    clip = 1e-2 if mistake == "another sensitivity" else 1.0
    gradient: Any = clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
    if mistake == "no clipping":
        gradient = clipped_grad(loss, l2_clip_norm=1e3, batch_argnums=(1, 2))
    if mistake == "clipped per batch":
        gradient = _per_batch
    if mistake == "mean of microbatches":
        gradient = _microbatches
    privatizer = noise_addition.gaussian_privatizer(
        stddev=sigma * clip * (0.5 if mistake == "noise halved" else 1.0), prng_key=jax.random.key(seed + 7)
    )
    privatizer = {"one noise for all": _shared, "frozen layer without noise": _frozen}.get(mistake, lambda p: p)(
        privatizer
    )
    by = float(int(0.0505 * len(X))) if mistake == "whole part of N·q" else float(BATCH)
    own = optax.adam(0.002) if mistake == "adam" else optax.sgd(0.5)
    chain = optax.chain(privatizer, optax.scale(1 / by), own)
    outside = mistake in ("divisor is the batch", "alone")
    strategy = _strategy(mistake, updates * (2 if mistake == "uncounted accumulation" else 1))

    def train(watch: Any, at: Callable[[int], object] = lambda number: None) -> Any:
        function, transformation = watch.gradient, watch.optimizer
        params = network(seed, wide)
        state, repeated = transformation.init(params), transformation.init(params)

        @_compiled(compiled)
        def step(params: Any, state: Any, x: Any, y: Any, padding: Any, held: Any) -> Any:
            total = function(params, x, y, is_padding_example=padding)
            size = jnp.maximum(1, jnp.sum(~padding))
            if mistake == "mean before the noise":
                total = jax.tree.map(lambda g: g / size, total)
            if held is not None:
                total = jax.tree.map(jnp.add, total, held)
            found, state = transformation.update(total, state, params)
            if outside:
                found = jax.tree.map(lambda g: -0.5 * g / (size if mistake == "divisor is the batch" else BATCH), found)
            if mistake == "noise not used":
                found = jax.tree.map(lambda g: -0.5 * g / BATCH, total)
            return optax.apply_updates(params, found), state

        sums = jax.jit(lambda params, x, y, padding: function(params, x, y, is_padding_example=padding))
        held = None
        for number, indices in enumerate(_drawn(watch.loader, seed)):
            at(number)
            padded = batch_selection.pad_to_multiple_of(np.asarray(indices), PADDED)
            batch = X[padded], Y[padded], padded < 0
            if mistake == "uncounted accumulation" and number % 2 == 0:
                held = sums(params, *batch)
                continue
            params, state = step(params, repeated if mistake == "noise repeated" else state, *batch, held)
        return params

    return Loop(
        network(seed, wide),
        privatizer if outside else chain,
        strategy,
        train,
        {"sigma": sigma, "clip": clip, "gradient": gradient, **_counts(strategy)},
    )


def optax_alone(
    mistake: str = "right",
    seed: int = 0,
    updates: int = EPOCH,
    *,
    sigma: float = 1.0,
    wide: int = 128,
    compiled: bool = True,
) -> Loop:
    """A loop of Optax alone: gradients of single records go into a transformation that clips, sums and adds noise."""
    clip = 1e-2 if mistake == "another sensitivity" else 1.0
    if mistake in ("right", "adam"):
        aggregate = optax.contrib.differentially_private_aggregate(clip, sigma, key=seed + 7)
    else:
        aggregate = _aggregate(mistake, sigma * clip, seed)
    own = optax.adam(0.002) if mistake == "adam" else optax.sgd(0.5)
    chain = optax.chain(aggregate, own)
    strategy = _strategy(mistake, updates)
    each = jax.vmap(jax.grad(lambda params, x, y: loss(params, x[None], y[None])), in_axes=(None, 0, 0))

    def train(watch: Any, at: Callable[[int], object] = lambda number: None) -> Any:
        transformation = watch.optimizer

        @_compiled(compiled)
        def step(params: Any, state: Any, x: Any, y: Any, padding: Any) -> Any:
            rows = each(params, x, y)
            rows = jax.tree.map(lambda g: jnp.where(padding.reshape(-1, *[1] * (g.ndim - 1)), 0, g), rows)
            found, state = transformation.update(rows, state, params)
            if mistake == "noise not used":
                found = jax.tree.map(lambda g: -0.5 * g / BATCH, _clipped_sum(rows, 1.0))
            return optax.apply_updates(params, found), state

        params = network(seed, wide)
        state = first = transformation.init(params)
        for number, indices in enumerate(_drawn(watch.loader, seed)):
            at(number)
            padded = batch_selection.pad_to_multiple_of(np.asarray(indices), PADDED)
            batch = X[padded], Y[padded], padded < 0
            params, state = step(params, first if mistake == "noise repeated" else state, *batch)
        return params

    return Loop(network(seed, wide), chain, strategy, train, {"sigma": sigma, "clip": clip, **_counts(strategy)})


def _compiled(asked: bool) -> Callable[[Any], Any]:
    return jax.jit if asked else lambda function: function


# --- batches --------------------------------------------------------------------------------------------------


def _strategy(mistake: str, updates: int) -> Any:
    if mistake == "shuffled":
        return _Shuffled(updates)
    if mistake == "fixed size":
        return _FixedSize(updates)
    rate = 0.0505 if mistake == "whole part of N·q" else RATE
    return batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=updates)


def _counts(strategy: Any) -> dict[str, Any]:
    return {} if hasattr(strategy, "batch_iterator") else {"records": len(X), "rate": RATE}


def _drawn(loader: Any, seed: int) -> Any:
    if hasattr(loader, "batch_iterator"):
        return loader.batch_iterator(len(X), rng=seed)
    return loader


class _Shuffled:
    """Batches of one permutation after the other."""

    def __init__(self, updates: int) -> None:
        self.updates = updates

    def __iter__(self) -> Any:
        rng = np.random.default_rng(3)
        left = np.zeros(0, dtype=int)
        for _ in range(self.updates):
            if len(left) < BATCH:
                left = rng.permutation(len(X))
            yield left[:BATCH]
            left = left[BATCH:]


class _FixedSize(_Shuffled):
    """Batches of one size, drawn anew each time."""

    def __iter__(self) -> Any:
        rng = np.random.default_rng(4)
        for _ in range(self.updates):
            yield rng.choice(len(X), BATCH, replace=False)


# --- sums and noise -------------------------------------------------------------------------------------------


def _norm(tree: Any) -> Any:
    return jnp.maximum(optax.global_norm(tree), 1e-12)


def _rows(params: Any, x: Any, y: Any, weights: Any) -> Any:
    rows = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, x[:, None], y[:, None])
    return jax.tree.map(lambda g: g * weights.reshape(-1, *[1] * (g.ndim - 1)), rows)


def _per_batch(params: Any, x: Any, y: Any, is_padding_example: Any) -> Any:
    return _clipped_sum(_rows(params, x, y, ~is_padding_example), 1.0, per_batch=True)


def _microbatches(params: Any, x: Any, y: Any, is_padding_example: Any) -> Any:
    """Pairs of records are averaged, and their means clipped."""
    rows, size = _rows(params, x, y, ~is_padding_example), min(2, len(x))
    pairs = jax.tree.map(lambda g: g.reshape(-1, size, *g.shape[1:]).mean(1), rows)
    return _clipped_sum(pairs, 1.0)


def _clipped_sum(rows: Any, clip: float, *, per_batch: bool = False, bare: bool = False) -> Any:
    norms = jnp.sqrt(sum(jnp.sum(g.reshape(len(g), -1) ** 2, axis=1) for g in jax.tree.leaves(rows)))
    factors = jnp.minimum(1, clip / jnp.maximum(norms, 1e-12))
    if per_batch or bare:
        factors = jnp.ones_like(factors)
    total = jax.tree.map(lambda g: jnp.tensordot(factors, g, 1), rows)
    if per_batch:
        total = jax.tree.map(lambda g: g * jnp.minimum(1, clip / _norm(total)), total)
    return total


def _shared(inner: Any) -> Any:
    """The same noise for every parameter."""

    def update(total: Any, state: Any, params: Any = None) -> Any:
        largest = max(jax.tree.leaves(total), key=lambda g: g.size)
        noise, state = inner.update(jnp.zeros(largest.size), state)
        return jax.tree.map(lambda g: g + noise[: g.size].reshape(g.shape), total), state

    return optax.GradientTransformation(lambda params: inner.init(jnp.zeros(1)), update)


def _frozen(inner: Any) -> Any:
    """One layer gets no noise."""

    def update(total: Any, state: Any, params: Any = None) -> Any:
        found, state = inner.update(total, state)
        return {**found, "out bias": total["out bias"]}, state

    return optax.GradientTransformation(inner.init, update)


def _aggregate(mistake: str, scale: float, seed: int) -> Any:
    """Clips, sums, adds noise, and divides by a public number."""
    public = float(int(0.0505 * len(X))) if mistake == "whole part of N·q" else float(BATCH)

    def update(rows: Any, key: Any, params: Any = None) -> Any:
        total = _clipped_sum(rows, 1.0, per_batch=mistake == "clipped per batch", bare=mistake == "no clipping")
        key, own = jax.random.split(key)
        leaves, tree = jax.tree.flatten(total)
        half = 0.5 if mistake == "noise halved" else 1.0
        keys = [own] * len(leaves) if mistake == "one noise for all" else jax.random.split(own, len(leaves))
        noise = [half * scale * _normal(k, g.shape, mistake) for k, g in zip(keys, leaves, strict=True)]
        if mistake == "frozen layer without noise":
            noise[-1] = jnp.zeros_like(noise[-1])
        real = jnp.sum(sum(jnp.abs(g).reshape(len(g), -1).sum(1) for g in jax.tree.leaves(rows)) > 0)
        by = jnp.maximum(1, real) if mistake == "divisor is the batch" else public
        made = [(g + n) / by for g, n in zip(leaves, noise, strict=True)]
        return jax.tree.unflatten(tree, made), key

    return optax.GradientTransformation(lambda params: jax.random.key(seed + 7), update)


def _normal(key: Any, shape: Any, mistake: str) -> Any:
    if mistake == "one noise for all":
        size = int(np.prod(shape))
        return jax.random.normal(key, (9000,))[:size].reshape(shape)
    return jax.random.normal(key, shape)

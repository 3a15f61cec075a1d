"""Train a classifier of digits with JAX Privacy and Optax, and audit the training run.

    pip install 'dpaudit[jax,proof]' jax-privacy scikit-learn
    dpaudit train examples/train_digits_jax.py:train --claim "epsilon=8, delta=1e-5"

or, from Python, with the one line that watches: python examples/train_digits_jax.py
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax_privacy import batch_selection, clipped_grad, noise_addition
from sklearn.datasets import load_digits

BATCH, UPDATES, SIGMA = 90, 100, 1.0


def loss(params: Any, x: Any, y: Any) -> Any:
    """Mean cross-entropy of a network with one hidden layer."""
    scores = jnp.tanh(x @ params["in"] + params["in bias"]) @ params["out"] + params["out bias"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


def made_private(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Return parameters, a transformation, batches and a gradient function: σ = 1, clip norm 1, about 90 records."""
    first, second, noise = jax.random.split(jax.random.key(seed), 3)
    params = {
        "in": jax.random.normal(first, (64, 128)) / 8,
        "in bias": jnp.zeros(128),
        "out": jax.random.normal(second, (128, 10)) / 128**0.5,
        "out bias": jnp.zeros(10),
    }
    gradient = clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
    privatizer = noise_addition.gaussian_privatizer(stddev=SIGMA, prng_key=noise)  # of one clip norm
    optimizer = optax.chain(privatizer, optax.scale(1 / BATCH), optax.sgd(0.5))  # a public number, not the batch's size
    batches = batch_selection.CyclicPoissonSampling(sampling_prob=0.05, iterations=UPDATES)
    return params, optimizer, batches, gradient


def fit(params: Any, optimizer: Any, batches: Any, gradient: Any, seed: int = 0) -> Any:
    """Train, and return the parameters: the loop that is watched."""
    images, labels = load_digits(return_X_y=True)
    images = np.asarray(images / 16, np.float32)

    @jax.jit
    def step(params: Any, state: Any, x: Any, y: Any, padding: Any) -> Any:
        total = gradient(params, x, y, is_padding_example=padding)
        updates, state = optimizer.update(total, state, params)
        return optax.apply_updates(params, updates), state

    state = optimizer.init(params)
    for indices in batches.batch_iterator(len(images), rng=seed):
        padded = batch_selection.pad_to_multiple_of(np.asarray(indices), 160)  # so that it is compiled once
        params, state = step(params, state, images[padded], labels[padded], padded < 0)
    return params


def train(watch: Any) -> None:
    """What `dpaudit train` runs: the loop within a watch, with the functions of the watch instead of its own."""
    params, optimizer, batches, gradient = made_private()
    with watch(params, optimizer, batches, gradient=gradient, sigma=SIGMA) as seen:
        fit(params, seen.optimizer, seen.loader, seen.gradient)


def main() -> None:
    """Watch the loop from Python."""
    import dpaudit as dp

    params, optimizer, batches, gradient = made_private()
    with dp.watch_training(
        params,
        optimizer,
        batches,
        gradient=gradient,
        sigma=SIGMA,
        claim="epsilon=8, delta=1e-5",
        name="digits, JAX Privacy",
    ) as watch:
        fit(params, watch.optimizer, watch.loader, watch.gradient)
    evidence = watch.evidence
    print(evidence.verdict, evidence.reason, sep=": ")
    evidence.save("digits_jax.json")
    evidence.to_html("digits_jax.html")


if __name__ == "__main__":
    main()

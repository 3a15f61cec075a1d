"""Noise of JAX, in small programs."""

from __future__ import annotations

import secrets

import jax
import jax.numpy as jnp
from case import Case

DISTRIBUTION = "jax"
MORE = ([1.0, 2.0], [1.0, 2.0, 1.0])


def key():
    return jax.random.key(secrets.randbits(31))


def laplace(scale, make=key):
    return lambda data: jnp.sum(jnp.array(data)) + scale * jax.random.laplace(make())


CASES = [
    Case("Laplace with a fixed key", laplace(1.0, lambda: jax.random.key(0)), MORE, mistake="a fixed key",
         relation="add-remove"),
    Case("Laplace, a scale too small", laplace(0.5), MORE, mistake="a scale too small", relation="add-remove"),
    Case("Laplace", laplace(1.0), MORE, relation="add-remove"),
    Case("normal", lambda data: float(jnp.array(len(data)) + 4 * jax.random.normal(key(), (3,))[1]), MORE, "mu=0.5",
         relation="add-remove"),
]  # fmt: skip

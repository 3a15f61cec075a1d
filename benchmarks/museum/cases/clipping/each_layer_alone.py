"""Every layer's gradient is clipped to C by itself, and the noise is made for a whole gradient of length C.

Two layers of length 1 make a gradient of length √2: μ = √2 at a claim of 1, by hand. Fixed: C/√2 for each layer.
"""

import numpy as np

SOURCES = ("fedbiomed/fedbiomed#1443", "google-deepmind/jax_privacy#385")
REPORTED = "2025-09"
DATA = "w1,w2,b1,b2\n" + "\n".join(f"{i % 3 - 1},{(i % 5) / 2},{-i % 4},{i / 10}" for i in range(15))
COMMAND = (
    "audit {} --data people.csv --relation add-remove --claim mu=1 "
    "--domain 'w1=[-9, 9]' --domain 'w2=[-9, 9]' --domain 'b1=[-9, 9]' --domain 'b2=[-9, 9]'"
)
LOSS = {"wrong": 2**0.5, "fixed": 1}
NAMED = ("one more record|without one record", r"np\.random\.normal")


def clipped(gradients, largest):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1.0, largest / np.maximum(lengths, 1e-12))


def released(people, largest):
    answer = []
    for layer in (["w1", "w2"], ["b1", "b2"]):
        total = clipped(people[layer].to_numpy(dtype=float), largest).sum(axis=0)
        answer.append((total + np.random.normal(0, 1.0, 2)).tolist())
    return answer


def wrong(people):
    return released(people, 1.0)


def fixed(people):
    return released(people, 1.0 / np.sqrt(2))

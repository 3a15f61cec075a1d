"""A client's update is clipped to norm 1, and the noise is made for a sensitivity of 1e-4 that stands in a setting.

Two updates lie up to 2 apart, at σ = 4.8e-5: μ = 4e4. Fixed: σ = 1.03 for a move of 2: μ = 1.94, ε = 9.64 at δ =
1e-5.
"""

import numpy as np

SOURCES = ("londonaicentre/FLIP#833",)
REPORTED = "2026-07"
DATA = "g1,g2,g3\n0.4,-1.2,0.7\n"
COMMAND = (
    "audit {} --data people.csv --relation replace --claim 'epsilon=10, delta=1e-5' "
    "--domain 'g1=[-5, 5]' --domain 'g2=[-5, 5]' --domain 'g3=[-5, 5]'"
)
MISSED = (
    "Runs cannot decide on ε = 10 at δ = 1e-5, and the proof refuses the choice of a row by its place; the account "
    "of the same noise, `dpaudit account --gaussian 1.03 --sensitivity 2`, is PROVED."
)
LOSS = {"fixed": 9.6404}
NAMED = ("in place of|replaced", r"np\.random\.normal")


def private(update, sigma):
    g = update[["g1", "g2", "g3"]].to_numpy(dtype=float)[0]
    clipped = g * min(1.0, 1.0 / max(np.linalg.norm(g), 1e-12))
    return (clipped + np.random.normal(0, sigma, clipped.shape)).tolist()


def wrong(update):
    return private(update, 1e-4 * np.sqrt(2 * np.log(1.25 / 1e-5)) / 10.0)


def fixed(update):
    return private(update, 1.03)

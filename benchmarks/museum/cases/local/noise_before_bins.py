"""Noise on every value before the bins, or on the counts of the bins after: it was asked which is private.

Values clipped to [0, 100] with noise of scale 100 each keep ε = 1 where a record is replaced, and so do the counts
with noise of scale 2. Both sides are right; the second is more accurate.
"""

import numpy as np

SOURCES = ("opendp/dp-wizard#100",)
REPORTED = "2024-10"
DATA = "age\n" + "\n".join(str(20 + (13 * i) % 60) for i in range(25))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1 --domain 'age=[0, 100]'"
MISSED = (
    "The trace looks for a shift of the noise that hides the change. Where records come in another order as well, it "
    "shifts the noise of each and prices all of them; that the noise may change places as they do, it does not see."
)
LOSS = {"reported": 1, "fixed": 1}


def reported(people):
    age = np.clip(people["age"].to_numpy(dtype=float), 0, 100)
    counts, _ = np.histogram(age + np.random.laplace(0, 100, len(age)), bins=[-1e9, 25, 50, 75, 1e9])
    return counts.tolist()


def fixed(people):
    counts, _ = np.histogram(people["age"].to_numpy(dtype=float), bins=[-1e9, 25, 50, 75, 1e9])
    return (counts + np.random.laplace(0, 2.0, 4)).tolist()

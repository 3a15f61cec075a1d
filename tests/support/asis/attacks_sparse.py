"""Wrong sparse vectors over a frame: noise that is missing, shared, too small, seeded or undone; what leaks beside it."""
# ruff: noqa: NPY002 – people draw from np.random

import numpy as np

DOMAIN = {"age": list(range(0, 101, 10))}
EDGES = (20, 30, 40)

def w02_sparse(df):  # one draw for all
    z = np.random.laplace(0, 4)
    for e in EDGES:
        if (df["age"] > e).sum() + z > 50: return e
def w05_sparse(df):  # threshold of data
    t = len(df) / 2 + np.random.laplace(0, 0.5)
    for e in EDGES:
        if (df["age"] > e).sum() + np.random.laplace(0, 1) > t: return e
def w06_sparse(df):  # scale too small
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if (df["age"] > e).sum() + np.random.laplace(0, 1) > t: return e
def w07_sparse(df):  # noisy sum unscaled
    for e in EDGES:
        if df["age"][df["age"] > e].sum() + np.random.laplace(0, 4) > 50: return e
def w08_sparse(df):  # all answers
    t = 50 + np.random.laplace(0, 1)
    return [(df["age"] > e).sum() + np.random.laplace(0, 2) > t for e in EDGES]
def w11_sparse(df):  # while
    e = 0
    while (df["age"] > e).sum() + np.random.laplace(0, 1) > 5 and e < 5: e += 1
    return e
def w13_sparse(df):  # any over noisy with shared noise
    z = np.random.laplace(0, 2)
    return any((df["age"] > e).sum() + z > 50 for e in EDGES)
def w16_sparse(df):  # seeded
    r = np.random.default_rng(1)
    return [e for e in EDGES if (df["age"] > e).sum() + r.laplace(0, 40) > 50]
def w18_sparse(df):  # reuses
    zs = np.random.laplace(0, 10, 2)
    return [(df["age"] > e).sum() + zs[i % 2] > 50 for i, e in enumerate(EDGES)]
def w19_sparse(df):  # noise clipped away
    for e in EDGES:
        if (df["age"] > e).sum() + np.clip(np.random.laplace(0, 10), -1, 1) > 50: return e
def w21_sparse(df):
    t = 50 + np.random.laplace(0, 2)
    out = []
    for e in EDGES:
        noisy = (df["age"] > e).sum() + np.random.laplace(0, 2)
        out.append(noisy if noisy > t else None)
    return out
def w24_sparse(df):
    return sum((df["age"] > e).sum() + np.random.laplace(0, 0.5) > 50 for e in EDGES)

"""Centring x and y, before a slope, share one slice of the budget that each spends whole.

Half for each mean and half for the slope: 1.5 at a claim of 1, by composition; one record that goes from (0, 0) to
(1, 1) moves all three. Fixed: a quarter for each mean.
"""

import numpy as np

SOURCES = ("IBM/differential-privacy-library#104",)
REPORTED = "2025-09"
DATA = "x,y\n" + "\n".join(f"{(i * 7) % 10 / 10},{(i * 3) % 10 / 10}" for i in range(20))
COMMAND = "audit {} --data people.csv --relation replace --claim epsilon=1 --domain 'x=[0, 1]' --domain 'y=[0, 1]'"
LOSS = {"wrong": 1.5, "fixed": 1}
NAMED = ("in place of|replaced", r"np\.random\.laplace")


def fit(people, centring):
    x = np.clip(people["x"].to_numpy(dtype=float), 0, 1)
    y = np.clip(people["y"].to_numpy(dtype=float), 0, 1)
    n = len(x)
    mean_x = x.mean() + np.random.laplace(0, 1 / (n * centring))
    mean_y = y.mean() + np.random.laplace(0, 1 / (n * centring))
    moment = (x * y).mean() + np.random.laplace(0, 1 / (n * 0.5))
    return {"x": float(mean_x), "y": float(mean_y), "slope": float(moment - mean_x * mean_y)}


def wrong(people):
    return fit(people, 0.5)


def fixed(people):
    return fit(people, 0.25)

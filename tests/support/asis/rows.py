# ruff: noqa: NPY002, PERF401 – functions as people write them
"""Functions that go through rows, or make frames of noisy numbers: what a pass for many runs has to do once."""

import math
from collections import defaultdict

import numpy as np
import pandas as pd

CITIES, SEXES = ["a", "b", "c"], ["f", "m"]
DOMAIN = {"age": list(range(121)), "city": CITIES, "sex": SEXES, "income": (-1e6, 1e6)}
CLAIM = {"12": 2.0}


def p01_iterrows(df):
    old, total = 0, 0.0
    for _, row in df.iterrows():
        if row["age"] >= 65:
            old += 1
            total += min(max(row["income"], 0.0), 1000.0)
    return old + np.random.laplace(0, 2), total + np.random.laplace(0, 2000)


def p02_itertuples(df):
    found = dict.fromkeys(CITIES, 0)
    for row in df.itertuples(index=False):
        found[row.city] += 1
    return {city: n + np.random.laplace(0, 1) for city, n in found.items()}


def p03_index(df):
    ages, n = df["age"].tolist(), 0
    for place in range(len(ages)):
        if 18 <= ages[place] < 65:
            n += 1
    return round(n + np.random.laplace(0, 1))


def p04_zip(df):
    found = defaultdict(int)
    for city, sex in zip(df["city"], df["sex"], strict=True):
        found[city, sex] += 1
    return {(city, sex): found[city, sex] + np.random.laplace(0, 1) for city in CITIES for sex in SEXES}


def p05_crosstab(df):
    counts = pd.crosstab(df["city"], df["sex"]).reindex(index=CITIES, columns=SEXES, fill_value=0)
    return (counts + np.random.laplace(0, 1, size=(3, 2))).round(1)


def p06_pivot(df):
    counts = df.pivot_table(index="city", columns="sex", values="age", aggfunc="count", fill_value=0)
    counts = counts.reindex(index=CITIES, columns=SEXES, fill_value=0)
    return (counts + np.random.laplace(0, 1, size=(3, 2))).round().astype(int).clip(lower=0).to_dict()


def p07_shares(df):
    counts = df.groupby(["city", "sex"]).size().unstack(fill_value=0).reindex(index=CITIES, columns=SEXES, fill_value=0)
    noisy = counts + np.random.laplace(0, 1, size=counts.shape)
    return noisy.div(noisy.sum(axis=1), axis=0)


def p08_unstack(df):
    places = pd.MultiIndex.from_product([CITIES, SEXES])
    counts = df.groupby(["city", "sex"]).size().reindex(places, fill_value=0)
    return (counts + np.random.laplace(0, 1, size=6)).unstack().round(2)


def p09_records(df):
    out = []
    for city in CITIES:
        n = int((df["city"] == city).sum()) + np.random.laplace(0, 1)
        out.append({"city": city, "n": n, "people": round(max(n, 0.0))})
    return pd.DataFrame(out)


def p10_bands(df):
    bands = [0] * 5
    for age in df["age"]:
        bands[min(math.floor(age / 20), 4)] += 1
    return [n + np.random.laplace(0, 1) for n in bands]


def p11_largest(df):
    counts = {}
    for city in df["city"].tolist():
        counts[city] = counts.get(city, 0) + 1
    noisy = {city: counts.get(city, 0) + np.random.gumbel(0, 2) for city in CITIES}
    return max(noisy, key=noisy.get)


def p12_both(df):
    total = 0.0
    for income in df["income"]:
        total += min(max(income, 0.0), 1000.0)
    counts = pd.crosstab(df["city"], df["sex"]).reindex(index=CITIES, columns=SEXES, fill_value=0)
    noisy = counts + np.random.laplace(0, 1, size=(3, 2))
    return total + np.random.laplace(0, 1000), noisy.max(), noisy.sum(axis=1)

# ruff: noqa: NPY002, PLW2901 – functions as people write them
"""What analysts return of 50,000 rows: tables, text, JSON, choices, searches. Repeated runs have all of it to follow."""

import json
import math
import random
import statistics
from collections import Counter, namedtuple
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

CITIES = [f"c{i}" for i in range(20)]
DOMAIN = {"age": list(range(100)), "city": CITIES, "income": (0.0, 1e6)}
REPLACE = ("37",)  # their number of records is public
CLAIM = {"11": 0.022, "12": 0.05, "28": 0.01, "32": 0.5, "34": 0.3, "35": 1.0, "37": 1.0, "38": 1.0}
PUBLIC = pd.DataFrame({"city": CITIES, "population": [40_000 + 1_000 * i for i in range(20)]})


def p01_by_city(df, epsilon=1.0):
    d = df.assign(income=df["income"].clip(0, 100_000))
    g = d.groupby("city")["income"].agg(["sum", "count"]).reindex(CITIES, fill_value=0)
    total = g["sum"] + np.random.laplace(0, 100_000 / (epsilon / 2), size=len(g))
    n = g["count"] + np.random.laplace(0, 1 / (epsilon / 2), size=len(g))
    return (total / n.clip(lower=1)).round(2).to_dict()


def p02_histogram(df, epsilon=1.0):
    counts, _ = np.histogram(df["age"], bins=np.arange(0, 110, 10))
    noisy = np.maximum(counts + np.random.laplace(0, 1 / epsilon, size=10), 0)
    return noisy / noisy.sum()


def p03_median(df, epsilon=1.0):
    low, high = 0.0, 100.0
    n = len(df) + np.random.laplace(0, 11 / epsilon)
    for _ in range(10):
        middle = (low + high) / 2
        if (df["age"] <= middle).sum() + np.random.laplace(0, 11 / epsilon) < n / 2:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 1)


def p04_sparse(df, epsilon=1.0):
    threshold = 2500 + np.random.laplace(0, 2 / epsilon)
    for c in CITIES:
        if (df["city"] == c).sum() + np.random.laplace(0, 4 / epsilon) >= threshold:
            return c
    return None


def p05_exponential(df, epsilon=1.0):
    scores = df["city"].value_counts().reindex(CITIES, fill_value=0).to_numpy()
    w = np.exp(epsilon * (scores - scores.max()) / 2)
    return np.random.choice(CITIES, p=w / w.sum())


def p06_regression(df, epsilon=1.0):
    x = np.c_[np.ones(len(df)), df["age"].clip(0, 100) / 100]
    y = df["income"].clip(0, 100_000) / 100_000
    a = x.T @ x + np.random.laplace(0, 8 / epsilon, size=(2, 2))
    b = x.T @ y + np.random.laplace(0, 4 / epsilon, size=2)
    return np.linalg.solve((a + a.T) / 2, b)


def p07_frame(df, epsilon=1.0):
    g = df.groupby("city").agg(n=("age", "count"), old=("age", lambda a: (a >= 65).sum()))
    g = g.reindex(CITIES, fill_value=0)
    noisy = {c: np.round(g[c] + np.random.laplace(0, 2 / epsilon, size=len(g))).astype(int) for c in g}
    return pd.DataFrame(noisy, index=CITIES).clip(lower=0)


def p08_text(df, epsilon=1.0):
    n = len(df) + np.random.laplace(0, 2 / epsilon)
    k = (df["age"] >= 65).sum() + np.random.laplace(0, 2 / epsilon)
    return f"{n:,.0f} people, {100 * k / n:.1f} % of them 65 or older"


def p09_python(df, epsilon=1.0):
    counts = {}
    for c in df["city"].tolist():
        counts[c] = counts.get(c, 0) + 1
    noisy = {c: counts.get(c, 0) + random.expovariate(epsilon) - random.expovariate(epsilon) for c in CITIES}
    top = sorted(noisy, key=noisy.get, reverse=True)[:3]
    return json.dumps({c: int(round(noisy[c])) for c in top})


def p10_generator(df, epsilon=1.0, seed=None):
    rng = np.random.default_rng(seed)
    edges = np.arange(0, 101, 5)
    counts = np.histogram(df["age"].to_numpy(), bins=edges)[0] + rng.laplace(0, 1 / epsilon, size=20)
    below = np.cumsum(np.maximum(counts, 0))
    below /= below[-1]
    return {q: int(edges[np.searchsorted(below, q)]) for q in (0.25, 0.5, 0.75)}


def p11_median_many_paths(df, epsilon=0.002):
    low, high = 0.0, 100.0
    n = len(df) + np.random.laplace(0, 11 / epsilon)
    for _ in range(10):
        middle = (low + high) / 2
        if (df["age"] <= middle).sum() + np.random.laplace(0, 11 / epsilon) < n / 2:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 1)


def p12_sparse_noisy(df, epsilon=0.05):
    threshold = 2600 + np.random.laplace(0, 2 / epsilon)
    for c in CITIES:
        if (df["city"] == c).sum() + np.random.laplace(0, 4 / epsilon) >= threshold:
            return c
    return None


def p21_nlargest(df, epsilon=1.0):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0)
    noisy = n + np.random.laplace(0, 1 / epsilon, size=len(n))
    return noisy.nlargest(5).round(1).to_dict()


def p22_sort_values(df, epsilon=1.0):
    n = df.groupby("city").size().reindex(CITIES, fill_value=0)
    out = pd.DataFrame({"city": CITIES, "n": n.to_numpy() + np.random.laplace(0, 1 / epsilon, size=20)})
    return out.sort_values("n", ascending=False).head(3).reset_index(drop=True)


def p23_idxmax(df, epsilon=1.0):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0)
    return (n + np.random.exponential(2 / epsilon, size=len(n))).idxmax()


def p24_merge(df, epsilon=1.0):
    n = df.groupby("city").size().reindex(CITIES, fill_value=0)
    t = pd.DataFrame({"city": CITIES, "n": (n + np.random.laplace(0, 1 / epsilon, size=20)).to_numpy()})
    t = t.merge(PUBLIC, on="city")
    t["rate"] = (1000 * t["n"] / t["population"]).round(2)
    return t[["city", "rate"]]


def p25_rename(df, epsilon=1.0):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0)
    s = (n + np.random.laplace(0, 1 / epsilon, size=20)).clip(lower=0).round().astype(int)
    return s.rename(lambda c: c.upper()).to_dict()


def p26_argsort(df, epsilon=1.0):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0).to_numpy()
    noisy = n + np.random.laplace(0, 1 / epsilon, size=20)
    order = np.argsort(-noisy)
    return [CITIES[i] for i in order[:5]]


def p27_where_cumsum(df, epsilon=1.0):
    n, _ = np.histogram(df["age"], bins=np.arange(0, 110, 10))
    noisy = n + np.random.laplace(0, 1 / epsilon, size=10)
    c = np.cumsum(np.where(noisy > 100, noisy, 0.0))
    return (c / c[-1]).tolist()


def p28_quantiles(df, epsilon=0.01):
    n, edges = np.histogram(df["age"], bins=np.arange(0, 101, 2))
    noisy = np.maximum(n + np.random.laplace(0, 1 / epsilon, size=50), 0)
    return edges[np.searchsorted(np.cumsum(noisy) / noisy.sum(), [0.1, 0.25, 0.5, 0.75, 0.9])]


def p29_polyfit(df, epsilon=1.0):
    b = np.clip(df["age"] // 10, 0, 9)
    x = df["income"].clip(0, 100_000)
    s = np.bincount(b, weights=x, minlength=10) + np.random.laplace(0, 200_000 / epsilon, size=10)
    n = np.bincount(b, minlength=10) + np.random.laplace(0, 2 / epsilon, size=10)
    slope, start = np.polyfit(np.arange(10), s / np.maximum(n, 1), 1)
    return {"slope": round(float(slope), 1), "start": round(float(start), 1)}


def p30_eigen(df, epsilon=1.0):
    x = np.c_[df["age"] / 100, df["income"].clip(0, 100_000) / 100_000, np.ones(len(df))]
    e = np.random.laplace(0, 9 / epsilon, size=(3, 3))
    w, v = np.linalg.eigh(x.T @ x + (e + e.T) / 2)
    return v @ np.diag(1 / np.maximum(w, 1.0)) @ v.T


def p31_while_bound(df, epsilon=1.0):
    bound = 1000.0
    while (df["income"] > bound).sum() + np.random.laplace(0, 20 / epsilon) > 500:
        bound *= 2
    total = df["income"].clip(0, bound).sum() + np.random.laplace(0, 2 * bound / epsilon)
    return bound, round(total, -3)


def p32_sparse_three(df, epsilon=0.1):
    found, t = [], 2520 + np.random.laplace(0, 6 / epsilon)
    for c in CITIES:
        if (df["city"] == c).sum() + np.random.laplace(0, 12 / epsilon) > t:
            found.append(c)
            t = 2520 + np.random.laplace(0, 6 / epsilon)
            if len(found) == 3:
                break
    return found


def p33_gumbel(df, epsilon=1.0):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0).to_numpy()
    return CITIES[int(np.argmax(epsilon * n / 2 + np.random.gumbel(size=20)))]


def p34_peeling(df, epsilon=0.3):
    scores, out = df["city"].value_counts().reindex(CITIES, fill_value=0), []
    for _ in range(3):
        w = np.exp(epsilon / 3 * (scores - scores.max()) / 2)
        p = w / w.sum()
        c = np.random.choice(scores.index.to_numpy(), p=p.to_numpy())
        out.append(c)
        scores = scores.drop(c)
    return out


def p35_rejection(df, epsilon=1.0):
    n = (df["age"] >= 98).sum()
    while True:
        x = n + np.random.laplace(0, 200 / epsilon)
        if 900 <= x <= 1100:
            return round(x)


def p36_geometric(df, epsilon=1.0):
    p = 1 - math.exp(-epsilon)
    return {c: int((df["city"] == c).sum() + np.random.geometric(p) - np.random.geometric(p)) for c in CITIES}


def p37_response(df, epsilon=1.0):  # draws for each record
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    bit = (df["age"] >= 65).to_numpy()
    said = np.where(np.random.random(len(df)) < keep, bit, ~bit)
    return (said.mean() - (1 - keep)) / (2 * keep - 1)


def p38_subsample(df, epsilon=1.0, q=0.01):  # draws for each record
    rng = np.random.default_rng()
    d = df[rng.random(len(df)) < q]
    return float(d["income"].clip(0, 100_000).sum() / q + rng.laplace(0, 100_000 / epsilon / q))


class Budget:
    def __init__(self, epsilon):
        self.left = epsilon

    def noise(self, sensitivity, epsilon):
        if epsilon > self.left + 1e-9:
            raise ValueError("budget is spent")
        self.left -= epsilon
        return np.random.laplace(0, sensitivity / epsilon)


def p39_budget(df, epsilon=1.0):
    b = Budget(epsilon)
    n = max(len(df) + b.noise(1, epsilon / 4), 1.0)
    total = df["income"].clip(0, 200_000).sum() + b.noise(200_000, epsilon / 2)
    old = (df["age"] >= 65).sum() + b.noise(1, b.left)
    return {"n": int(n), "mean": round(total / n, 2), "share": min(max(old / n, 0.0), 1.0)}


def p40_report(df, epsilon=1.0):
    out = {}
    for c in CITIES[:5]:
        d = df[df["city"] == c]
        n = len(d) + np.random.laplace(0, 2 / epsilon)
        s = d["income"].clip(0, 100_000).sum() + np.random.laplace(0, 200_000 / epsilon)
        note = f"{c}: {n:.0f} people" if n > 2500 else "small"
        out[c] = {"n": int(round(n)), "mean": round(s / max(n, 1), 1), "note": note}
    return json.dumps(out, sort_keys=True)


# --- ten that were written after the reading ---------------------------------------------------------------


@dataclass
class Row:
    city: str
    people: int
    income: float


def p51_dataclass_rows(df, epsilon=1.0):
    rows = []
    for city in CITIES:
        part = df[df["city"] == city]
        n = len(part) + np.random.laplace(scale=2 / epsilon)
        s = part.income.clip(0, 50_000).sum() + np.random.laplace(scale=100_000 / epsilon)
        rows.append(asdict(Row(city, max(round(n), 0), round(s / max(n, 1.0), -2))))
    return sorted(rows, key=lambda row: (-row["people"], row["city"]))[:3]


def p52_deciles(df, epsilon=1.0):
    rng = np.random.default_rng()
    counts = Counter((df["age"] // 10).tolist())
    noisy = [max(0.0, counts[k] + rng.laplace(0, 1 / epsilon)) for k in range(10)]
    whole = math.fsum(noisy)
    return [f"{100 * each / whole:.1f} %" for each in noisy] if whole else []


def p53_hierarchy(df, epsilon=1.0):
    leaves = np.bincount(df["age"], minlength=128)
    levels = []
    while len(leaves) > 1:
        levels.append(leaves + np.random.laplace(0, 7 / epsilon, size=len(leaves)))
        leaves = leaves.reshape(-1, 2).sum(axis=1)
    out, start = 0.0, 0
    for level in levels:
        if start + len(levels) % 2 < 18 <= 100:
            out += float(level[start])
            start = start // 2
    return round(out, 3)


def p54_pivot(df, epsilon=1.0):
    old = np.where(df["age"] >= 65, "old", "young")
    table = pd.crosstab(df["city"], old).reindex(index=CITIES, columns=["old", "young"], fill_value=0)
    noisy = table + np.random.laplace(0, 1 / epsilon, size=table.shape)
    return (noisy["old"] / noisy.clip(lower=1).sum(axis=1)).round(3)


Summary = namedtuple("Summary", "low mean high")


def p55_interval(df, epsilon=1.0):
    n = max(len(df) + random.gauss(0, 10 / epsilon), 2)
    mean = (df["age"].clip(0, 100).sum() + random.gauss(0, 1000 / epsilon)) / n
    square = ((df["age"].clip(0, 100) ** 2).sum() + random.gauss(0, 1e5 / epsilon)) / n
    half = 1.96 * math.sqrt(max(square - mean**2, 0.0) / n)
    return Summary(round(mean - half, 2), round(mean, 2), round(mean + half, 2))


def p56_best_split(df, epsilon=1.0):
    best = None
    for bound in range(10, 100, 10):
        under = (df["age"] < bound).sum()
        score = -abs(int(under) - (len(df) - int(under))) + np.random.gumbel(0, 2 / epsilon)
        if best is None or score > best[1]:
            best = bound, score
    return best[0]


def p57_smoothed(df, epsilon=1.0):
    series = df.groupby("age").size().reindex(range(100), fill_value=0)
    noisy = pd.Series(series + np.random.laplace(0, 1 / epsilon, 100), name="people")
    return noisy.rolling(5, center=True, min_periods=1).mean().round().astype(int).clip(lower=0)


def p58_two_stage(df, epsilon=1.0):
    counts = {c: int((df["city"] == c).sum()) for c in CITIES}
    large = {c for c in CITIES if counts[c] + np.random.laplace(0, 2 / epsilon) > 2500}
    report = {}
    for c in sorted(large):
        total = df.loc[df["city"] == c, "income"].clip(upper=1e5).sum()
        report[c] = round(float(total + np.random.laplace(0, 2e5 / epsilon)), -3)
    return report


def p59_correlation(df, epsilon=1.0):
    x, y = df["age"] / 50 - 1, (df["income"].clip(0, 1e5) / 5e4) - 1
    moments = np.array([(x * y).sum(), (x**2).sum(), (y**2).sum()])
    xy, xx, yy = moments + np.random.laplace(0, 3 / epsilon, 3)
    return float(np.clip(xy / np.sqrt(max(xx, 1.0) * max(yy, 1.0)), -1, 1))


def p60_vote(df, epsilon=1.0):
    votes = statistics.multimode([])
    for _ in range(5):
        n = df["city"].value_counts().reindex(CITIES, fill_value=0)
        noisy = n + np.random.laplace(0, 5 / epsilon, len(n))
        votes.append(str(noisy.idxmax()))
    winner, times = Counter(votes).most_common(1)[0]
    return {"winner": winner, "sure": times >= 4}

"""Right functions as analysts write them, written after the tables and not tuned on: each is 1-DP by add-remove of one row."""
from __future__ import annotations

import contextlib
import functools
import itertools
import json
import logging
import math
import random
import time
import warnings
from collections import defaultdict, namedtuple
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Callable, Iterable, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
CITIES = ["a", "b", "c"]
EPSILON = 1.0
log = logging.getLogger(__name__)


class Noise(Enum):
    LAPLACE = "laplace"
    GAUSS = "gauss"


@dataclass(frozen=True)
class Config:
    epsilon: float = EPSILON
    cap: float = 50_000.0
    bands: tuple[tuple[int, int], ...] = ((0, 18), (18, 65), (65, 121))
    noise: Noise = Noise.LAPLACE


@dataclass
class Accountant:
    total: float
    spent: float = 0.0
    log: list[tuple[str, float]] = field(default_factory=list)

    def charge(self, name: str, epsilon: float) -> float:
        if self.spent + epsilon > self.total + 1e-9:
            raise RuntimeError("budget is exhausted")
        self.spent += epsilon
        self.log.append((name, epsilon))
        return epsilon

    @property
    def left(self) -> float:
        return self.total - self.spent


def p01_accountant(df):
    acc = Accountant(1.0)
    out = {}
    for name, mask in {"young": df["age"] < 30, "old": df["age"] >= 65}.items():
        eps = acc.charge(name, 0.5)
        out[name] = mask.sum() + np.random.laplace(0, 1 / eps)
    log.info("left %.2f", acc.left)
    return {**out, "spent": acc.spent}


def p02_config(df, cfg=Config()):
    x = df["income"].clip(0, cfg.cap)
    total = float(x.sum()) + np.random.laplace(scale=cfg.cap / (cfg.epsilon / 2))
    n = len(x) + np.random.laplace(scale=2 / cfg.epsilon)
    return round(total / max(n, 1.0), 2)


def p03_bands(df):
    cfg = Config()
    counts = [((df["age"] >= lo) & (df["age"] < hi)).sum() for lo, hi in cfg.bands]
    noisy = np.array(counts) + np.random.laplace(0, 1 / cfg.epsilon, len(counts))
    noisy = np.maximum(noisy, 0)
    shares = noisy / noisy.sum() if noisy.sum() > 0 else np.zeros_like(noisy)
    return {f"{lo}-{hi}": float(s) for (lo, hi), s in zip(cfg.bands, shares)}


@contextlib.contextmanager
def timed(what):
    start = time.perf_counter()
    try:
        yield
    finally:
        log.debug("%s took %.3f s", what, time.perf_counter() - start)


def p04_timed(df):
    with timed("count"):
        n = df.shape[0] + np.random.laplace(0, 2)
    with timed("vip"):
        v = df["vip"].sum() + np.random.laplace(0, 2)
    return n, v


class Result(NamedTuple):
    value: float
    low: float
    high: float

    def as_text(self):
        return f"{self.value:.1f} ({self.low:.1f} to {self.high:.1f})"


def p05_interval(df):
    b = 1 / EPSILON
    v = len(df[df["vip"]]) + np.random.laplace(0, b)
    w = b * math.log(1 / 0.05)
    return Result(v, v - w, v + w).as_text()


def p06_sorted_table(df):
    rows = []
    for c in CITIES:
        rows.append({"city": c, "n": (df["city"] == c).sum() + np.random.laplace(0, 1)})
    return pd.DataFrame(rows).sort_values("n", ascending=False).reset_index(drop=True)


def p07_histogram_frame(df):
    edges = list(range(0, 130, 10))
    counts, _ = np.histogram(df["age"], bins=edges)
    noisy = counts + np.random.laplace(0, 1, size=len(counts))
    return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "n": np.clip(noisy, 0, None)})


def p08_quantile_search(df, q=0.5, steps=6):
    lo, hi, eps = 0, 120, 1 / 7
    n = len(df) + np.random.laplace(0, 1 / eps)
    for _ in range(steps):
        mid = (lo + hi) // 2
        below = (df["age"] <= mid).sum() + np.random.laplace(0, 1 / eps)
        if below < q * n:
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2


def p09_groupby_dict(df):
    d = df.assign(income=df["income"].clip(0, 1000))
    sums = d.groupby("city")["income"].sum().reindex(CITIES, fill_value=0.0)
    counts = d.groupby("city").size().reindex(CITIES, fill_value=0)
    out = {}
    for c in CITIES:
        s = sums[c] + np.random.laplace(0, 2000)
        n = counts[c] + np.random.laplace(0, 2)
        out[c] = s / n if n > 1 else None
    return out


def p10_report_noisy_max(df):
    scores = {c: (df["city"] == c).sum() for c in CITIES}
    noisy = {c: s + np.random.gumbel(0, 1) for c, s in scores.items()}
    return max(noisy, key=noisy.get)


def p11_exponential(df):
    grid = np.arange(0, 121, 20)
    scores = np.array([(df["age"] <= g).sum() for g in grid])
    w = np.exp(0.5 * (scores - scores.max()))
    return int(np.random.choice(grid, p=w / w.sum()))


def laplace_mechanism(value, sensitivity, epsilon, rng=None):
    rng = rng or np.random.default_rng()
    return value + rng.laplace(0.0, sensitivity / epsilon)


def p12_helper(df):
    parts = [laplace_mechanism((df["city"] == c).sum(), 1, EPSILON) for c in CITIES]
    return dict(zip(CITIES, parts))


def noisy(epsilon):
    def decorate(f):
        @functools.wraps(f)
        def inner(df, *args, **kwargs):
            return f(df, *args, **kwargs) + np.random.laplace(0, 1 / epsilon)
        return inner
    return decorate


@noisy(0.5)
def adults(df):
    return (df["age"] >= 18).sum()


@noisy(0.5)
def vips(df):
    return df["vip"].sum()


def p13_decorated(df):
    return adults(df) / max(vips(df), 1)


class Histogram:
    def __init__(self, column, values):
        self.column, self.values = column, values
        self.counts = None

    def fit(self, df, epsilon):
        exact = df[self.column].value_counts().reindex(self.values, fill_value=0)
        self.counts = exact + np.random.laplace(0, 1 / epsilon, len(self.values))
        return self

    def top(self, k=1):
        return list(self.counts.sort_values(ascending=False).index[:k])


def p14_class_fit(df):
    h = Histogram("city", CITIES).fit(df, 1.0)
    return h.counts.to_dict()


def p15_class_top(df):
    return Histogram("city", CITIES).fit(df, 1.0).top(2)


def p16_warn(df):
    n = len(df) + np.random.laplace()
    if n < 10:
        warnings.warn("few people")
        return None
    return int(round(n))


def p17_json(df):
    n = (df["income"] > 1000).sum() + np.random.laplace(0, 1)
    return json.dumps({"rich": round(float(n), 1), "epsilon": EPSILON}, indent=2)


def p18_cross(df):
    t = pd.crosstab(df["city"], df["vip"]).reindex(index=CITIES, columns=[False, True], fill_value=0)
    noisy = t + np.random.laplace(0, 1, t.shape)
    return noisy.clip(lower=0).round(1).to_dict()


def p19_normalise(df):
    x = (df["age"].clip(0, 100) / 100).to_numpy()
    s1, s2 = x.sum(), (x ** 2).sum()
    m1 = s1 + np.random.laplace(0, 3)
    m2 = s2 + np.random.laplace(0, 3)
    n = max(len(x) + np.random.laplace(0, 3), 1)
    return {"mean": m1 / n, "var": max(m2 / n - (m1 / n) ** 2, 0)}


def p20_match(df, what="count"):
    match what:
        case "count":
            return len(df) + np.random.laplace(0, 1)
        case "sum":
            return df["age"].sum() + np.random.laplace(0, 120)
        case _:
            raise ValueError(what)


def p21_retry(df):
    for attempt in range(3):
        n = len(df) + np.random.laplace(0, 3)
        if n > 0:
            break
    else:
        n = 0.0
    return {"n": n, "attempts": attempt + 1}


def p22_generator(df):
    def parts() -> Iterable[tuple[str, float]]:
        for c in CITIES:
            yield c, df.loc[df["city"] == c].shape[0] + np.random.laplace(0, 1)
    return {c: max(v, 0) for c, v in parts()}


def p23_reduce(df):
    masks = [df["age"] >= 18, df["vip"], df["city"].isin(["a", "b"])]
    m = functools.reduce(lambda a, b: a & b, masks)
    return m.sum() + np.random.laplace(0, 1)


def p24_partial(df):
    count = functools.partial(laplace_mechanism, sensitivity=1, epsilon=1.0)
    return count(len(df))


def p25_np_select(df):
    w = np.select([df["age"] < 18, df["age"] < 65], [0.5, 1.0], default=0.75)
    return w.sum() + np.random.laplace(0, 1)


def p26_apply_grade(df):
    def grade(a):
        if a < 18:
            return "child"
        return "adult" if a < 65 else "senior"
    g = df["age"].map(grade)
    return {k: (g == k).sum() + np.random.laplace(0, 1) for k in ("child", "adult", "senior")}


def p27_loop(df):
    counts = dict.fromkeys(CITIES, 0)
    for c in df["city"]:
        counts[c] += 1
    return {c: round(v + np.random.laplace(0, 1), 1) for c, v in counts.items()}


def p28_itertuples(df):
    rich = 0
    for row in df.itertuples():
        if row.income > 1000 and row.age >= 18:
            rich += 1
    return rich + random.gauss(0, 4.0) if False else rich + np.random.laplace(0, 1)


def p29_zip(df):
    total = 0.0
    for age, income in zip(df["age"], df["income"]):
        total += min(max(income, 0), 100) * (age >= 18)
    return total + np.random.laplace(0, 100)


def p30_product(df):
    out = {}
    for c, v in itertools.product(CITIES, (False, True)):
        out[c, v] = ((df["city"] == c) & (df["vip"] == v)).sum() + np.random.laplace(0, 1)
    return {f"{c}/{v}": x for (c, v), x in out.items()}


def p31_threshold(df):
    counts = df["city"].value_counts().reindex(CITIES, fill_value=0)
    noisy = counts + np.random.laplace(0, 1, len(counts))
    return noisy[noisy > 10].round().astype(int).to_dict()


def p32_scipy(df):
    noise = stats.laplace(scale=1.0)
    return len(df) + noise.rvs()


def p33_rng_argument(df, rng=None):
    rng = np.random.default_rng() if rng is None else rng
    return {"n": df["age"].count() + rng.laplace(0, 1)}


def p34_text(df):
    lines = ["# people"]
    for c in CITIES:
        n = (df["city"] == c).sum() + np.random.laplace(0, 1)
        lines.append(f"- {c}: {max(n, 0):.0f}")
    return "\n".join(lines)


def p35_where(df):
    capped = np.where(df["income"] > 1000, 1000, np.where(df["income"] < 0, 0, df["income"]))
    return capped.sum() + np.random.laplace(0, 1000)


def p36_mask_frame(df):
    d = df[(df["age"].between(18, 64)) & ~df["vip"]].copy()
    d["bonus"] = d["age"] * 10
    return d["bonus"].sum() + np.random.laplace(0, 640)


def p37_pivot(df):
    t = df.groupby(["city", "vip"]).size().unstack(fill_value=0).reindex(index=CITIES, columns=[False, True], fill_value=0)
    arr = t.to_numpy() + np.random.laplace(0, 1, (3, 2))
    return pd.DataFrame(arr, index=CITIES, columns=["no", "yes"])


def p38_asdict(df):
    @dataclass
    class Out:
        n: float
        vip: float
    return asdict(Out(len(df) + np.random.laplace(0, 2), df["vip"].sum() + np.random.laplace(0, 2)))


def p39_namedtuple(df):
    Point = namedtuple("Point", "x y")
    x = df["age"].clip(0, 50).sum() + np.random.laplace(0, 100)
    y = df["age"].clip(50, 100).sub(50).sum() + np.random.laplace(0, 100)
    return Point(x, y)


def p40_softmax_of_released(df):
    c = np.array([(df["city"] == k).sum() for k in CITIES], dtype=float) + np.random.laplace(0, 1, 3)
    e = np.exp((c - c.max()) / 10)
    p = e / e.sum()
    best = int(np.argmax(p))
    return {"best": CITIES[best], "p": p.round(3).tolist()}


def p41_told_by_the_module(df):
    logging.info("counting %s", "adults")
    total = 0
    for age in df["age"]:
        if age < 18:
            continue
        total += 1
    noisy = total + np.random.laplace(0, 1)
    logging.warning("counted %.0f", noisy)
    return round(noisy)

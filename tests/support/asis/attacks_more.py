"""Wrong functions, second list: aimed at loops over records, types, draws, containers, handlers and tables. None may be PROVED at ε = 1."""

import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import json
import logging
import math
import operator
import random

import numpy as np
import pandas as pd
from scipy import stats

CITIES = ["a", "b", "c"]
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "person": (0.0, 1e9), "score": [float("nan"), 0.0, 1.0], "vip": [False, True], "x5": [0, 1, 2]}
KEPT, BOX, SEEN = [], {}, set()
REG = pd.DataFrame({"city": CITIES, "w": [1, 2, 3]})
HOLES = pd.DataFrame({"city": ["a", "b"], "w": [1, 2]})
RNG = np.random.default_rng(12345)
log = logging.getLogger("x")


def lap(scale=1.0, size=None): return np.random.laplace(0, scale, size)


# --- loops over records
def w06(df):
    for a in df["age"]:
        if a > 100: return "old"
    return len(df) + lap(1)
def w07(df):
    t = 0
    for a in df["age"]:
        for b in df["age"]: t += 1
    return t + lap(1)
def w12(df):
    d = collections.Counter(df["city"])
    return {c: d[c] + lap(1) for c in d}
def w14(df):
    t = 0
    for a in df["age"]:
        log.info("record %s", a); t += 1
    return t + lap(1)
def w20(df):
    it = iter(df["age"]); first = next(it)
    return first + len(df) + lap(1)
def w21(df):
    t = 0
    for a in df["age"]: t += 121 if a > 60 else 1
    return t + lap(1)
def w22(df):
    t = 0.0
    for _, row in df.iterrows(): t += row["income"]
    return t + lap(1e6 / 2)
def w24(df):
    d = {c: 0 for c in CITIES}
    for c in df["city"]:
        d[c] += 1
        d["a"] += 1
    return {c: v + lap(1) for c, v in d.items()}
def w26(df):
    n = 0
    def add(x):
        nonlocal n
        n += x
    for a in df["age"]: add(a)
    return n + lap(1)
def w27(df): return sum(a * 2 for a in df["age"]) + lap(120)
def w28(df): return len([a for a in df["age"] if a > 3]) * 3 + lap(1)
def w29(df): return len(set(df["age"])) + lap(.5)
def w30(df): return max(a for a in df["age"]) + lap(1)
def w32(df):
    xs = list(df["age"]); return xs[0] + lap(1)
def w33(df):
    xs = df["age"].tolist() * 50; return sum(xs) + lap(120)
def w34(df):
    xs = sorted(df["age"]); return xs[len(xs) // 2] + lap(1)
def w35(df): return len(" ".join(df["city"])) + lap(1)
# --- functions of a record
def w38(df):
    def f(a): f.n = getattr(f, "n", 0) + 1; return f.n
    return df["age"].apply(f).sum() + lap(1)
def w40(df): return df["age"].apply(lambda a: a if a > 3 else None).count() + lap(.5)
def w41(df): return df["age"].apply(lambda a: random.random()).sum() + lap(1)
def w42(df): return df["age"].map(lambda a: BOX.setdefault("first", a)).sum() + lap(1)
def w44(df): return df.groupby("city")["age"].apply(max).reindex(CITIES, fill_value=0).sum() + lap(1)
def w45(df): return df["age"].apply(lambda a: 1 / (a - 3) if a != 3 else 0).sum() + lap(.5)
def w46(df): return df.apply(lambda r: r["age"], axis=1).sum() + lap(1)
def w47(df): return df["age"].agg(lambda s: s.max()) + lap(1)
def w48(df): return df.groupby("city").agg(m=("age", lambda s: s.max()))["m"].reindex(CITIES, fill_value=0) + lap(1, 3)
# --- draws
def w53(df): return len(df) + 0 * lap(1)
def w54(df): return len(df) + lap(1) * 1e-9
def w55(df): z = lap(1e308) * 1e10; return len(df) + z, len(df) + lap(.5)
def w56(df): z = lap(1); return len(df) + z, z
def w57(df): z = lap(1); return (len(df) + z) - z
def w59(df): return np.array([len(df), (df.age > 3).sum()]) + lap(2, 2)[::-1][[0, 0]]
def w60(df): z = np.random.laplace(0, [1, 1e-3]); return np.array([len(df), (df.age > 3).sum()]) + z
def w61(df): return len(df) + RNG.laplace(0, 1)
def w62(df): return len(df) + np.random.Generator(np.random.PCG64(3)).laplace(0, 1)
def w65(df): np.random.seed(len(CITIES)); return len(df) + lap(1)
def w66(df): return len(df) + stats.laplace.rvs(scale=1, random_state=7)
def w67(df): return len(df) + stats.laplace(scale=.1).rvs()
def w68(df): return len(df) + np.random.default_rng(seed=0).laplace(0, 1)
def w70(df): return len(df) + np.random.exponential(1)
def w71(df): return len(df) + abs(lap(1))
def w74(df): return len(df) + np.round(lap(1))
def w75(df): return len(df) + int(lap(1))
def w77(df): return len(df) * lap(1)
def w78(df): return len(df) + lap(1) * len(df)
def w79(df): return len(df) + np.random.laplace(0, len(df))
def w81(df): return np.random.laplace(len(df), 1e-3)
def w82(df): return np.random.laplace([len(df), (df.age > 3).sum()], 1)
def w83(df): return len(df) + np.random.normal(0, 1)
def w89(df): return [len(df) + lap(1) for _ in range(2)]
def w90(df): return np.mean([len(df) + lap(1) for _ in range(10)])
def w92(df): n = len(df) + random.expovariate(1) - random.expovariate(2); return n
def w93(df): e = random.expovariate(1); return len(df) + e - e
def w94(df): return len(df) + np.random.geometric(.5) - np.random.geometric(.6)
def w95(df): return df.income.clip(0, 1).sum() + np.random.geometric(.63) - np.random.geometric(.63)
def w96(df): return int(np.argmax([(df.city == c).sum() + np.random.gumbel(0, 1) for c in CITIES]))and max((df.city == c).sum() + np.random.gumbel(0, 1) for c in CITIES)
def w97(df):
    s = [(df.city == c).sum() + np.random.gumbel(0, .5) for c in CITIES]; return int(np.argmax(s))
def w98(df): s = np.array([(df.city == c).sum() for c in CITIES]); e = np.exp(2 * (s - s.max())); return np.random.choice(CITIES, p=e / e.sum())
def w99(df): s = np.array([(df.city == c).sum() for c in CITIES]); e = np.exp(3 * (s - s.max())); return np.random.choice(CITIES, p=e / e.sum())
def w100(df): s = np.array([(df.city == c).sum() for c in CITIES]); e = np.exp(s); return np.random.choice(CITIES, 2, p=e / e.sum())
# --- numbers
def w101(df): return len(df) % 2 + lap(.1)
def w102(df): return len(df) // 2 + lap(.4)
def w103(df): return len(df) ** 2 + lap(1)
def w104(df): return np.sqrt(len(df)) + lap(.1)
def w105(df): return -len(df) * 3 + lap(1)
def w106(df): return abs(len(df) - 10) * 2 + lap(1)
def w107(df): return max(len(df), 3) - min(len(df), 3) + lap(.4)
def w108(df): return (len(df) > 3) + lap(1)
def w110(df): return bool(len(df)) + lap(.1)
def w111(df): return float(len(df)) * 2 + lap(1)
def w112(df): return len(df) / 0.1 + lap(1)
def w114(df): c = df.city.value_counts().reindex(CITIES, fill_value=0); return c.max() * 2 + lap(1)
def w115(df): c = df.city.value_counts().reindex(CITIES, fill_value=0); return c.idxmax(), c + lap(1, 3)
def w116(df): c = df.city.value_counts().reindex(CITIES, fill_value=0); return c.sort_values() + lap(1, 3)
def w117(df): c = df.city.value_counts().reindex(CITIES, fill_value=0); return c[c > 5] + lap(1, 3)[: len(c[c > 5])]
def w118(df): c = df.city.value_counts(); return c["a"] + lap(1) if "a" in c else 0
def w119(df): c = df.city.value_counts().to_dict(); return c.get("a", 0) + lap(1), len(c)
def w120(df): return np.array([(df.age > k).sum() for k in range(3)]).cumsum() + lap(3, 3)
def w121(df): return np.outer([len(df), 1], [1, 2]) + lap(1, (2, 2))
def w122(df): a = np.zeros(2); a[0] = a[1] = len(df); return a + lap(1, 2)
def w124(df): a = [0]; b = a; a[0] = len(df); return b[0] + lap(.5)
def w125(df): d = {"n": len(df)}; return json.dumps(d), len(df) + lap(1)
def w128(df): print(len(df)); return len(df) + lap(1)
def w129(df): log.warning("n=%d", len(df)); return len(df) + lap(1)
def w130(df): raise ValueError(len(df))
def w134(df):
    n = len(df) + lap(1)
    return n if n > 5 else df.age.sum() + lap(1)
def w140(df):
    try: return len(df) + lap(1)
    finally: KEPT.append(len(df))
def w143(df): return {len(df) + lap(1): 1, len(df): 2}
def w145(df): return [i for i in range(len(df))][:2], len(df) + lap(1)
def w146(df): return range(len(df)), len(df) + lap(1)
def w147(df): return lambda: len(df)
def w148(df): return (x for x in [len(df)])
def w149(df): return functools.partial(int, len(df))
@dataclasses.dataclass
class Out:
    noisy: float
    exact: object = None
def w152(df): return Out(len(df))
# --- rows and tables
def w154(df): return df.reset_index(drop=True).age.iloc[0] + lap(1)
def w155(df): return df.sort_values("age").head(3)["income"].clip(0, 1).sum() + lap(.1)
def w156(df): return df.nlargest(3, "age")["age"].sum() + lap(1)
def w157(df): return df.merge(df, on="city").shape[0] + lap(1)
def w158(df): return df.merge(REG, on="city")["w"].sum() + lap(1)
def w159(df): return df.merge(HOLES, on="city", how="left")["w"].sum() + lap(1)
def w161(df): return df.drop_duplicates("city")["age"].sum() + lap(1)
def w162(df): return df.drop_duplicates()["age"].count() * 2 + lap(1)
def w163(df): return df.groupby("city").head(2)["age"].sum() + lap(120)
def w164(df): return df.groupby("vip").head(1).groupby("city").head(1)["age"].sum() + lap(120)
def w165(df): return df.city.nunique() * 2 + lap(1)
def w166(df): return df.dropna().shape[0] * 2 + lap(1)
def w169(df): return (df.score == df.score).sum() * 2 + lap(1)
def w170(df): return np.sum(df.score.to_numpy()) + lap(1)
def w171(df): return (~(df.score < 1)).sum() * 2 + lap(1)
def w172(df): return df.score.astype(str).str.len().sum() + lap(1)
def w174(df): return df.age.astype("uint8").mul(3).sum() + lap(1)
def w175(df): return (df.age ** 30).sum() + lap(1e9)
def w176(df): return df.income.clip(0, 1).mul(2).sum() + lap(1)
def w177(df): return df.income.abs().sum() + lap(1e5)
def w178(df): return (df.income - 5e5).clip(-1e6, 1e6).sum() + lap(5e5)
def w179(df): return (1 / df.income).clip(0, 1).sum() + lap(.1)
def w181(df): return np.exp(df.income).clip(0, 1).sum() + lap(.5)
def w182(df): return df.income.round(-6).sum() + lap(5e5)
def w183(df): return (df.income // 1e5).sum() + lap(5)
def w184(df): return (df.income > df.age).sum() * 2 + lap(1)
def w185(df): return df.city.map({"a": 10}).fillna(1).sum() + lap(1)
def w186(df): return df.city.replace({"a": "5"}).eq("5").sum() * 2 + lap(1)
def w187(df): return df.city.isin(df.city.head(1)).sum() + lap(1)
def w189(df): return df.loc[0, "age"] + lap(1)
def w190(df): return df.at[0, "age"] + lap(1)
def w191(df): return df.age[5] + lap(1)
def w192(df): return df.values[0, 0] + lap(1)
def w193(df): return df[["age", "x5"]].to_numpy().sum() + lap(1)
def w194(df): X = df[["age", "x5"]].to_numpy(); return X.T @ X + lap(100, (2, 2))
def w195(df): X = df[["age", "x5"]].to_numpy(); return X.mean(axis=0) + lap(1, 2)
def w196(df): df["age"] = 1; return len(df) + lap(1)
def w197(df): d = df; d.loc[d.age > 3, "age"] = 0; return d.age.sum() + lap(3)
def w198(df): return df.pivot_table(values="age", index="city", columns="vip", aggfunc="max", fill_value=0).reindex(index=CITIES, columns=[False, True], fill_value=0) + lap(1, (3, 2))
def w199(df): return df.groupby(["city", "vip"]).size().unstack().reindex(index=CITIES, columns=[False, True], fill_value=0) + lap(1, (3, 2))
def w200(df): return pd.crosstab(df.city, df.vip).reindex(index=CITIES, columns=[False, True], fill_value=0) + lap(.4, (3, 2))
def w201(df): return df[np.random.random(len(df)) < 1.5].shape[0] + lap(.5)
def w202(df): s = df[np.random.random(len(df)) < .5]; return s.shape[0] + lap(.5), len(df) + lap(1)
def w203(df): s = df[np.random.random(len(df)) < .5]; t = s[np.random.random(len(s)) < .5]; return t.shape[0] + lap(.2)
def w204(df): s = df.sample(frac=.5); return s.shape[0] + lap(.5)
def w207(df): return len(df.index) + lap(.5)
def w209(df): return df.dtypes.to_dict(), len(df) + lap(.1)
def w210(df): return df.describe().loc["mean", "age"] + lap(1)
def w213(df): return copy.deepcopy(df).age.sum() + lap(1)
def w214(df): return vars(df)
def w215(df): return df.__dict__
def w216(df): return type(df.age.sum()).__name__, len(df) + lap(1)
def w217(df): return isinstance(df.age.sum(), int), len(df) + lap(1)
def w218(df): return hash(len(df)), len(df) + lap(1)
def w219(df): return id(df), len(df) + lap(.2)

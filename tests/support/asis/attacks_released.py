"""Wrong functions: what was released, views, iterators, samples and scores that are used twice."""
import numpy as np, pandas as pd, random, itertools, functools
DOMAIN = {"age": list(range(121)), "city": list("abc"), "x": (0.0, 120.0)}
CITIES = ["a","b","c"]
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def w01(df): u = np.random.random(len(df)); return df[u < .01].shape[0] + lap(.3), df[u < .01].shape[0] + lap(.3)
def w02(df): return (df["x"] * 1000 == 60000).sum() + lap(.01)
def w03(df): return (df["x"] * 1000).between(50000, 60000).sum() * 2 + lap(1)
def w04(df): return (df["x"] * 1000).isin([60000]).sum() * 2 + lap(1)
def w05(df):
    it = iter(range(10 ** 9)); return df["age"].apply(lambda a: sum(1 for _ in [next(it)])).sum() + lap(.5)
def w06(df):
    g = (k for k in range(10 ** 9))
    def f(a):
        for k in g: return k
    return df["age"].apply(f).sum() + lap(1)
def w07(df):
    s = [(df.city == c).sum() + np.random.gumbel(0, 3) for c in CITIES]
    return [int(np.argmax(s)), int(np.argmax(s[:2])), int(np.argmax(s[1:])), int(np.argmax([s[0], s[2]]))]
def w08(df):
    a = np.zeros(4); parts = np.split(a, 2); a[0] = len(df) + lap(1)
    return (df.age > 3).sum() + lap(1e9 if parts[0][0] == 0 else .1)
def w12(df):
    a = np.zeros(3); d = {"a": a}; a[0] = len(df) + lap(1)
    if d["a"][0] == 0: return df.age.sum()
    return 1
def w17(df):
    n = len(df) + lap(1); x = {True: 5, False: df.age.sum()}
    return x[n > 3]
def w18(df):
    n = len(df) + lap(1); return [df.age.sum(), 1][n > 3]
def w21(df):
    n = len(df) + lap(1)
    while n > 0: n -= 1; last = df.age.sum()
    return last
def w22(df):
    n = round(len(df) + lap(1)); return [df.age.sum() for _ in range(n)]
def w24(df): n = len(df) + lap(1); return df.age.clip(0, n).sum() + lap(1)
def w26(df): n = len(df) + lap(2); return (df.age > 3).sum() * n + lap(2)
def w28(df):
    try: n = {1: 2}[round(len(df) + lap(1))]
    except KeyError as e: return e.args, df.age.max()
    return n
def w31(df): return functools.reduce(lambda a, b: a + b, [len(df), len(df)]) + lap(1)
def w32(df): return sum([len(df)] * 3) + lap(1)
def w33(df): return np.sum([len(df), len(df)]) + lap(1)
def w34(df): return np.array([len(df)] * 3) + lap(1, 3)
def w37(df): return df.groupby("city").size().reindex(CITIES * 2, fill_value=0).to_numpy() + lap(1, 6)
def w38(df): return df.city.value_counts().reindex(["a", "a"], fill_value=0) + lap(1, 2)
def w39(df): return pd.Series({"a": len(df), "b": len(df)}) + lap(1, 2)
def w40(df): return df.assign(y=df.age).y.sum() + lap(1)
# --- what stands beside a released value, and is private, or does something
def kept(df):
    c = df["city"].value_counts(); z = c + np.random.laplace(0, 1, len(c)); return z[z >= 20].sort_index()
def w61_base(df): return int(f"{round(len(df) + lap())}", min(len(df), 36))
def w62_keyword(df): return dict(kept(df).to_dict(), n=len(df))
def w64_digits(df): return round(len(df) + lap(), len(df))
def w65_digits(df): return round(3.14159, len(df))
def w66_reverse(df): return sorted(kept(df).tolist(), reverse=len(df))
def w68_key(df): return max(df["city"].value_counts().reindex(list("abc"), fill_value=0), key=lambda v: -v * v) + lap()
def w69_called(df):
    box = []; m = max([len(df) + lap(), 3.0], key=lambda v: box.append(1) or v, default=0); return len(df) if box else m
def w70_called(df):
    box = []; sorted(kept(df).tolist(), key=lambda v: box.append(1) or v); return len(df) if box else 0
def w71_default(df): return {1: 2}.get(round(len(df) + lap()), len(df))

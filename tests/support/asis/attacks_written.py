"""Wrong functions: something released is written into an array or a table that others keep, show or go through."""
import collections, copy, dataclasses, functools
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def w14_written(df):
    a = np.zeros(1); z = zip(a, [1])
    a[0] = float(len(df) + lap(1))
    for x, y in z:
        if x > 5: return len(df)
    return 0
def w22_object_array(df):
    a = np.zeros(1); o = np.array([a, None], dtype=object)
    a[0] = float(len(df) + lap(1))
    if np.concatenate([o[0]]).sum() > 5: return len(df)
    return 0
def w30_itertuples(df):
    s = pd.DataFrame({"x": [0.0]}); it = s.itertuples()
    s.loc[0, "x"] = float(len(df) + lap(1))
    for row in it:
        if row.x > 5: return len(df)
    return 0
def w31_generator(df):
    a = np.zeros(1); g = (x for x in a)
    a[0] = float(len(df) + lap(1))
    if next(g) > 5: return len(df)
    return 0
def w34_scale(df):
    a = np.ones(1)
    a[0] = abs(float(len(df) + lap(4))) * 1e-9
    return float(np.random.laplace(loc=len(df), scale=a)[0])
def w36_bins(df):
    e = np.array([0.0, 50.0, 121.0])
    e[1] = abs(float(len(df) + lap(2)))
    return np.histogram(df["age"], bins=e)[0] + lap(1, 2)
def w39_place(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    return [0, len(df)][int(np.array([a]).sum() > 5)]
# --- containers of what is released, by several names
def raw(df, x): return len(df) if x > 5 else 0
def w43_shared(df):
    s = {1}; keep = s
    s.add(int(len(df) + lap(1)))
    return raw(df, max(keep))
def w49_shared(df):
    class R: v = 0.0
    r = R()
    r.__dict__["v"] = float(len(df) + lap(1))
    return raw(df, r.v)
def w60_shared(df):
    a = np.zeros(3)
    np.put(a, [0], float(len(df) + lap(1)))
    return raw(df, a[0])
def w61_shared(df):
    a = np.zeros(3)
    a.fill(float(len(df) + lap(1)))
    return raw(df, a[0])
def w63_shared(df):
    a = np.zeros(3)
    a += float(len(df) + lap(1))
    return raw(df, np.stack([a, a]).sum())
def fill(a, v): a[0] = v

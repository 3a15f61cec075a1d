"""Wrong functions: something released is written into an array or a table that others keep, show or go through."""
import copy, dataclasses, functools
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def w01_written(df):
    a = np.zeros(1); lst = [a]
    a[0] = float(len(df) + lap(1))
    x = np.array(lst)
    if x[0,0] > 5: return len(df)
    return 0
def w02_written(df):
    a = np.zeros(1); lst = [a]
    a[0] = float(len(df) + lap(1))
    if np.sum(lst) > 5: return len(df)
    return 0
def w03_written(df):
    a = np.zeros(1); d = {"k": a}
    a[0] = float(len(df) + lap(1))
    if pd.DataFrame(d)["k"].sum() > 5: return len(df)
    return 0
def w04_written(df):
    a = np.zeros(1); lst = (a, 1)
    a[0] = float(len(df) + lap(1))
    if f"{lst}" != "(array([0.]), 1)": return len(df)
    return 0
def w05_written(df):
    a = np.zeros(1); lst = [a]
    a[0] = float(len(df) + lap(1))
    if lst[0][0] > 5: return len(df)
    return 0
def w06_written(df):
    s = pd.Series([0.0]); lst = [s]
    s[0] = float(len(df) + lap(1))
    if pd.concat(lst).sum() > 5: return len(df)
    return 0
def w07_written(df):
    s = pd.Series([0.0]); t = s.copy(); 
    s.iloc[0] = float(len(df) + lap(1))
    if s.sum() > 5: return len(df)
    return 0
def w08_written(df):
    s = pd.DataFrame({"x":[0.0]}); lst=[s]
    s.loc[0,"x"] = float(len(df) + lap(1))
    if lst[0].to_numpy().sum() > 5: return len(df)
    return 0
def w09_written(df):
    s = pd.DataFrame({"x":[0.0]}); lst=[s]
    s.loc[0,"x"] = float(len(df) + lap(1))
    if pd.concat(lst).to_numpy().sum() > 5: return len(df)
    return 0
def w10_written(df):
    s = pd.DataFrame({"x":[0.0]}); g = lambda: s["x"].sum()
    s.loc[0,"x"] = float(len(df) + lap(1))
    if g() > 5: return len(df)
    return 0
class H: pass
def w11_written(df):
    h = H(); h.a = np.zeros(1); 
    h.a[0] = float(len(df) + lap(1))
    if max(h.a) > 5: return len(df)
    return 0
def w12_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    if max([*a]) > 5: return len(df)
    return 0
def w13_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    if sum(x for x in a) > 5: return len(df)
    return 0
def w14_written(df):
    a = np.zeros(1); z = zip(a, [1])
    a[0] = float(len(df) + lap(1))
    for x, y in z:
        if x > 5: return len(df)
    return 0
def w15_written(df):
    a = np.zeros(1); it = iter(a)
    a[0] = float(len(df) + lap(1))
    if next(it) > 5: return len(df)
    return 0
def w16_written(df):
    a = np.zeros(1); e = enumerate([a])
    a[0] = float(len(df) + lap(1))
    for k, x in e:
        if np.array([x]).sum() > 5: return len(df)
    return 0
def w17_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    if np.array([a]).sum() > 5: return len(df)
    return 0
def w18_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    if np.concatenate([a, a]).sum() > 5: return len(df)
    return 0
def w19_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    if dict(k=a)["k"].sum() > 5: return len(df)
    return 0
def w20_written(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    f = lambda *args, **kw: np.sum(args) + np.sum(list(kw.values()))
    if f(a, k=a) > 5: return len(df)
    return 0
def w21_deep(df):
    a = np.zeros(1); d = {"k": a}
    a[0] = float(len(df) + lap(1))
    if copy.deepcopy(d)["k"][0] > 5: return len(df)
    return 0
def w22_object_array(df):
    a = np.zeros(1); o = np.array([a, None], dtype=object)
    a[0] = float(len(df) + lap(1))
    if np.concatenate([o[0]]).sum() > 5: return len(df)
    return 0
def w23_partial(df):
    a = np.zeros(1); f = functools.partial(np.sum, [a])
    a[0] = float(len(df) + lap(1))
    if f() > 5: return len(df)
    return 0
def w24_bound(df):
    a = np.zeros(1); f = a.sum
    a[0] = float(len(df) + lap(1))
    if f() > 5: return len(df)
    return 0
def w25_slice(df):
    a = np.zeros(1); v = a[:]
    a[0] = float(len(df) + lap(1))
    if v[0] > 5: return len(df)
    return 0
def w26_ravel(df):
    a = np.zeros((1, 1)); v = a.ravel()
    a[0, 0] = float(len(df) + lap(1))
    if v[0] > 5: return len(df)
    return 0
def w27_turned(df):
    a = np.zeros((1, 1)); v = a.T
    a[0, 0] = float(len(df) + lap(1))
    if v[0, 0] > 5: return len(df)
    return 0
def w28_values(df):
    s = pd.Series([0.0]); v = s.to_numpy()
    s[0] = float(len(df) + lap(1))
    if v[0] > 5: return len(df)
    return 0
def w29_items(df):
    s = pd.Series([0.0]); it = s.items()
    s[0] = float(len(df) + lap(1))
    for k, v in it:
        if v > 5: return len(df)
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
def w32_map(df):
    a = np.zeros(1); g = map(float, a)
    a[0] = float(len(df) + lap(1))
    if list(g)[0] > 5: return len(df)
    return 0
def w33_enumerated(df):
    a = np.zeros(2)
    for k, x in enumerate(a):
        if x > 5: return len(df)
        a[1] = float(len(df) + lap(1))
    return 0
def w34_scale(df):
    a = np.ones(1)
    a[0] = abs(float(len(df) + lap(4))) * 1e-9
    return float(np.random.laplace(loc=len(df), scale=a)[0])
def w35_scale_in_list(df):
    a = np.ones(1)
    a[0] = abs(float(len(df) + lap(4))) * 1e-9
    return float(len(df) + np.random.laplace(0, scale=[a])[0][0])
def w36_bins(df):
    e = np.array([0.0, 50.0, 121.0])
    e[1] = abs(float(len(df) + lap(2)))
    return np.histogram(df["age"], bins=e)[0] + lap(1, 2)
def w37_threshold(df):
    e = np.array([50.0])
    e[0] = float(len(df) + lap(2))
    return (df["age"] > [e][0][0]).sum() + lap(1)
@dataclasses.dataclass
class Kept:
    a: np.ndarray
def w38_dataclass(df):
    k = Kept(np.zeros(1))
    k.a[0] = float(len(df) + lap(1))
    if sum(dataclasses.astuple(k)[0]) > 5: return len(df)
    return 0
def w39_place(df):
    a = np.zeros(1)
    a[0] = float(len(df) + lap(1))
    return [0, len(df)][int(np.array([a]).sum() > 5)]
def w40_repeated(df):
    a = np.zeros(1)
    a[0] = abs(float(len(df) + lap(2)))
    out = []
    for _ in range(int(min(np.array([a]).sum(), 9))): out.append(len(df) + lap(2))
    return out

"""Wrong functions: something released is written into an array or a table that others keep, show or go through."""
import collections, copy, dataclasses, functools
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
# --- containers of what is released, by several names
def raw(df, x): return len(df) if x > 5 else 0
def w41_shared(df):
    d = {}; keep = [d]
    d["n"] = float(len(df) + lap(1))
    return raw(df, sum(keep[0].values()))
def w42_shared(df):
    l = [0.0]; m = (l, 1)
    l[0] = float(len(df) + lap(1))
    return raw(df, np.array(m[0]).sum())
def w43_shared(df):
    s = {1}; keep = s
    s.add(int(len(df) + lap(1)))
    return raw(df, max(keep))
def w44_shared(df):
    q = collections.deque([0.0], maxlen=1); keep = {"q": q}
    q.append(float(len(df) + lap(1)))
    return raw(df, list(keep["q"])[0])
def w45_shared(df):
    c = collections.Counter(); keep = c
    c["x"] += int(len(df) + lap(1))
    return raw(df, keep.total())
def w46_shared(df):
    d = collections.defaultdict(float); v = d.values()
    d["x"] += float(len(df) + lap(1))
    return raw(df, sum(v))
def w47_shared(df):
    @dataclasses.dataclass
    class R: v: float = 0.0
    r = R(); keep = [r]
    r.v = float(len(df) + lap(1))
    return raw(df, dataclasses.asdict(keep[0])["v"])
def w48_shared(df):
    class R: v = 0.0
    r = R(); g = lambda: r.v
    setattr(r, "v", float(len(df) + lap(1)))
    return raw(df, g())
def w49_shared(df):
    class R: v = 0.0
    r = R()
    r.__dict__["v"] = float(len(df) + lap(1))
    return raw(df, r.v)
def w50_shared(df):
    class R: v = 0.0
    r = R()
    vars(r).update(v=float(len(df) + lap(1)))
    return raw(df, r.v)
def w51_shared(df):
    x = 0.0
    def put():
        nonlocal x
        x = float(len(df) + lap(1))
    put()
    return raw(df, x)
def w52_shared(df):
    gen = (y for y in [float(len(df) + lap(1))])
    return raw(df, next(gen))
def w53_shared(df):
    s = pd.Series([0.0], index=["a"])
    s["a"] = float(len(df) + lap(1))
    t = s.rename("q")
    return raw(df, t.iloc[0])
def w54_shared(df):
    s = pd.Series([0.0], index=["a"])
    s = s.where([False], float(len(df) + lap(1)))
    return raw(df, s.sum())
def w55_shared(df):
    f = pd.DataFrame({"x": [0.0]})
    f["x"] = f["x"] + float(len(df) + lap(1))
    return raw(df, f["x"].sum())
def w56_shared(df):
    f = pd.DataFrame({"x": [0.0]}); g = f
    f["x"] = float(len(df) + lap(1))
    return raw(df, g["x"].sum())
def w57_shared(df):
    f = pd.DataFrame({"x": [0.0]}); g = f.assign(y=1); 
    g.loc[0, "x"] = float(len(df) + lap(1))
    return raw(df, g.sum().sum())
def w58_shared(df):
    f = pd.DataFrame({"x": [0.0]})
    f.at[0, "x"] = float(len(df) + lap(1))
    return raw(df, [f][0].to_numpy().sum())
def w59_shared(df):
    f = pd.DataFrame({"x": [0.0]})
    f.iloc[0, 0] = float(len(df) + lap(1))
    return raw(df, pd.concat([f, f]).to_numpy().sum())
def w60_shared(df):
    a = np.zeros(3)
    np.put(a, [0], float(len(df) + lap(1)))
    return raw(df, a[0])
def w61_shared(df):
    a = np.zeros(3)
    a.fill(float(len(df) + lap(1)))
    return raw(df, a[0])
def w62_shared(df):
    a = np.zeros(3)
    a[:] = float(len(df) + lap(1))
    b = [a, a]
    return raw(df, np.stack(b).sum())
def w63_shared(df):
    a = np.zeros(3)
    a += float(len(df) + lap(1))
    return raw(df, np.stack([a, a]).sum())
def w64_shared(df):
    a = np.zeros(3); b = a
    b[0] = float(len(df) + lap(1))
    return raw(df, np.stack([a]).sum())
def fill(a, v): a[0] = v
def w65_shared(df):
    a = np.zeros(3); fill(a, float(len(df) + lap(1)))
    return raw(df, np.stack([a]).sum())
def w66_shared(df):
    a = [np.zeros(3)]; a[0][0] = float(len(df) + lap(1))
    return raw(df, np.stack(a).sum())
def w67_shared(df):
    a = {"k": np.zeros(3)}; a["k"][0] = float(len(df) + lap(1))
    return raw(df, pd.DataFrame(a).to_numpy().sum())
def w68_shared(df):
    a = np.zeros((2, 2)); a[0][0] = float(len(df) + lap(1))
    return raw(df, np.stack([a]).sum())
def w69_shared(df):
    a = np.zeros(2); x, y = a
    a[0] = float(len(df) + lap(1)); x, y = a
    return raw(df, x)
def w70_shared(df):
    out = np.empty(2)
    for k in range(2): out[k] = float(len(df) + lap(2))
    return raw(df, max(out))
def w71_shared(df):
    out = np.empty(2)
    out[np.arange(2) == 0] = float(len(df) + lap(2))
    return raw(df, sum(list(out)))
def w72_shared(df):
    out = np.zeros(2); out[0] = float(len(df) + lap(2))
    k = {i: v for i, v in enumerate(out)}
    return raw(df, k[0])
def w73_shared(df):
    out = np.zeros(2); out[0] = float(len(df) + lap(2))
    match list(out):
        case [0.0, 0.0]: return 0
        case _: return len(df)
def w74_shared(df):
    out = np.zeros(2); out[0] = float(len(df) + lap(2))
    return raw(df, functools.reduce(lambda a, b: a + b, [out, out])[0])
def w75_shared(df):
    out = np.zeros(2); out[0] = float(len(df) + lap(2))
    return 0 if not out.any() else len(df)
def w76_shared(df):
    out = np.zeros(2); out[0] = float(len(df) + lap(2))
    return 0 if [out.tolist()] == [[0.0, 0.0]] else len(df)
def w77_shared(df):
    out = np.zeros(2); t = (1, out); out[0] = float(len(df) + lap(2))
    return 0 if np.all(t[1:] == np.zeros(2)) else len(df)
def w78_shared(df):
    out = np.zeros(2); h = {0: out}; out[0] = float(len(df) + lap(2))
    return 0 if "0., 0." in str(h) else len(df)
def w79_shared(df):
    out = np.zeros(2); h = [out]; out[0] = float(len(df) + lap(2))
    for o in h:
        for v in o:
            if v > 5: return len(df)
    return 0

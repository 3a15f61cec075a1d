"""Right and wrong functions that choose by noise, and do to the data what was chosen."""
import random
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "v": (0.0, 10.0), "k": [1, 2], "person": [1, 2, 3]}
CITIES, CAPS, LIMITS = list("abc"), np.array([1.0, 2.0, 5.0]), {"a": 1, "b": 2, "c": 5}
PERSON = ("12",)
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def _counts(df, s=2.0): return {c: (df["city"] == c).sum() + lap(s) for c in CITIES}
def _best(df): n = _counts(df); return max(n, key=n.get)
def _chances(df, e=0.5): w = np.exp(e * df["city"].value_counts().reindex(CITIES, fill_value=0) / 1.0); return w / w.sum()
def _cap(df): return np.random.choice(CAPS, p=_chances(df))
# --- right ones: half for the choice, half for what is done with it
def p01_largest(df): b = _best(df); return b, df[df["city"] == b]["v"].sum() + lap(20)
def p02_cap(df): c = _cap(df); return c, df["v"].clip(0, c).sum() + lap(2 * c)
def p03_place(df): k = np.argmax([v for v in _counts(df).values()]); return CITIES[k], df["v"].clip(0, CAPS[k]).sum() + lap(2 * CAPS[k])
def p04_edges(df):
    n = np.histogram(df["age"], bins=[0, 30, 60, 121])[0] + lap(2, 3); k = int(np.argmax(n)); low, high = [0, 30, 60, 121][k:k + 2]
    return low, len(df[(df["age"] >= low) & (df["age"] < high)]) + lap(2)
def p05_label(df): b = (df["city"].value_counts().reindex(CITIES, fill_value=0) + lap(2, 3)).idxmax(); return (df["city"] == b).sum() + lap(2)
def p06_branch(df):
    b = _best(df)
    if b == "a": return len(df) + lap(2)
    return df["v"].clip(0, LIMITS[b]).sum() + lap(2 * LIMITS[b])
def p07_column(df): name = random.choice(["v"]) if False else ["v", "k", "age"][np.argmax(list(_counts(df).values()))]; return name, df[name].clip(0, 2).sum() + lap(4)
def p09_range(df):
    b = LIMITS[_best(df)]
    return [(df["age"] > 20 * i).sum() + lap(2 * b) for i in range(b)]
def p10_gumbel(df):
    s = df["city"].value_counts().reindex(CITIES, fill_value=0); b = CITIES[int(np.argmax(s + np.random.gumbel(scale=2, size=3)))]
    return b, df.loc[df["city"] == b, "v"].clip(upper=5).sum() + lap(10)
def p11_least(df): n = _counts(df); b = min(n, key=n.get); return b, len(df[df["city"] != b]) + lap(2)
def p12_person(df):
    n = {c: df.loc[df["city"] == c, "person"].nunique() + lap(6) for c in CITIES}; b = max(n, key=n.get)
    return b, df.loc[df["city"] == b, "person"].nunique() + lap(2)
# --- right ones: a quarter for a sum and for a count, half for how many are above what these show
def _mean(df): return (df["age"].sum() + lap(480)) / max(1, len(df) + lap(4))
def p13_above(df): m = _mean(df); return m, (df["age"] > m).sum() + lap(2)
def p14_rows(df): m = _mean(df); return len(df[df["age"] <= m]) + lap(2)
def p15_array(df): m = min(max(_mean(df), 0), 120); d = df[df["city"] == "a"]; return (m < d["age"].to_numpy()).sum() + lap(2)
def p16_drawn(df): t = 50 + lap(5); return t, (df["age"] >= t).sum() + lap(1)
# --- wrong ones
def w20_scale(df): c = _cap(df); return c, df["v"].clip(0, c).sum() + lap(4)
def w21_one_way(df): b = _best(df); return len(df) + lap(2) if b != "c" else df["v"].sum()
def w22_changed(df):
    caps = CAPS.copy(); k = np.argmax(list(_counts(df).values())); c = caps[k]; caps[:] = 5
    s = caps[k]; caps[:] = 1; return df["v"].clip(0, s).sum() + lap(2 * caps[k])
def w23_dict_changed(df):
    d = dict(LIMITS); b = _best(df); c = d[b]; d[b] = 1; return df["v"].clip(0, c).sum() + lap(2 * d[b])
def w24_type(df):
    k = np.argmax(list(_counts(df).values()))
    return df["v"].sum() if isinstance(k, np.integer) else df["v"].clip(0, CAPS[k]).sum() + lap(2 * CAPS[k])
def w25_text(df): c = _cap(df); return df["v"].sum() if type(c) is np.float64 else len(df) + lap(2)
def w26_is(df): b = _best(df); return df["v"].sum() if any(b is c for c in CITIES) else len(df) + lap(2)
def w27_is_not(df): c = _cap(df); return df["v"].sum() if c is not CAPS[0] else len(df) + lap(2)
def w28_exact(df): b = df["city"].value_counts().reindex(CITIES, fill_value=0).idxmax(); return df[df["city"] == b]["v"].sum() + lap(10)
def w29_exact(df): n = {c: (df["city"] == c).sum() for c in CITIES}; b = max(n, key=n.get); return (df["city"] == b).sum() + lap(1)
def w30_raises(df):
    try: c = [1, 2][np.argmax(list(_counts(df).values()))]
    except IndexError: return df["v"].sum()
    return df["v"].clip(0, c).sum() + lap(4)
def w31_twice(df): b = _best(df); c = _best(df); return df[df["city"] == b]["v"].sum() + lap(20) if b == c else df["v"].sum() + lap(5)
def w32_rows(df): k = np.argmax(list(_counts(df).values())); return df["v"].head(k + 1).sum() + lap(20)
def w33_kept(df):
    kept = []; b = _best(df); kept.append(b); kept.append(df[df["city"] == b]["v"].sum()); return kept
def w34_within(df): b = _best(df); return df.apply(lambda r: r["v"] if r["city"] == b else 10 * r["v"], axis=1).sum() + lap(20)
def w35_many(df): b = LIMITS[_best(df)]; return [(df["age"] > 20 * i).sum() + lap(4) for i in range(b)]
def w36_while(df):
    b, n = LIMITS[_best(df)], 0.0
    while b > 0: n += df["v"].clip(0, 1).sum() + lap(4); b -= 1
    return n
def w37_global(df):
    global LAST
    b = _best(df); LAST = b; return df[df["city"] == b]["v"].sum() + lap(20)
def w38_sum(df): k = np.argmax(list(_counts(df).values())) + np.argmax(list(_counts(df).values())); return df["v"].sum() + lap(10) if k > 3 else len(df) + lap(2)
def w39_negative(df): k = np.argmin(list(_counts(df).values())) - 1; return df["v"].clip(0, CAPS[k]).sum() + lap(2 * CAPS[k + 1])
def w40_object(df):
    class Odd(str):
        def __eq__(self, other): return False
        __hash__ = str.__hash__
    n = {Odd(c): (df["city"] == c).sum() + lap(2) for c in CITIES}; b = max(n, key=n.get)
    return df["v"].sum() if b != b else len(df) + lap(2)
def w41_nan(df): c = [1.0, float("nan"), 2.0][np.argmax(list(_counts(df).values()))]; return df["v"].sum() if c != c else df["v"].clip(0, c).sum() + lap(2 * c)
def w42_format(df): b = _best(df); return df[df["city"] == f"{b}"]["v"].sum() + lap(10)
def w43_noise(df): b = LIMITS[_best(df)]; z = lap(b); return df["v"].clip(0, 5).sum() + 2 * z
def w44_reused(df): c = _cap(df); z = lap(2 * c); return df["v"].clip(0, c).sum() + z, len(df) + z
def w45_options(df): caps = list(CAPS); p = _chances(df); c = np.random.choice(caps, p=p); caps[:] = [9, 9, 9]; return df["v"].clip(0, max(caps)).sum() + lap(2 * c)
def w46_level(df):
    b, out = _best(df), []
    for _ in range(300): out.append(df["v"].clip(0, LIMITS[b]).sum() + lap(2 * LIMITS[b]))
    return out
def w47_level(df):
    out = 0
    for _ in range(300): out = df["v"].clip(0, LIMITS[_best(df)]).sum() + lap(100)
    return out
def w48_set(df): b = {_best(df)}; return df[df["city"].isin(b)]["v"].sum() + lap(10)
def w49_nested(df): b = [[_best(df)]]; return df[df["city"] == b[0][0]]["v"].sum() + lap(10)
def w50_query(df): b = _best(df); return df.query("city == @b")["v"].sum() + lap(10)
def w51_all_ways(df): b = _best(df); return sum(df[df["city"] == c]["v"].sum() if c == b else 0 for c in CITIES) + lap(10)
def w52_none(df): b = _best(df); return df[b].sum() if b in df.columns else (len(df) if b == "c" else len(df) + lap(2))
def w53_above(df): m = _mean(df); return (df["age"] > m).sum() + lap(1)
def w54_twice(df): m = df["age"] > _mean(df); return m.sum() + lap(2), m.sum() + lap(2)
def w55_exact(df): m = df["age"] > df["age"].mean(); return m.sum() + lap(1)
def w56_not(df): m = df["age"] > _mean(df); return (~m).sum() + lap(1)
def w57_factor(df): m = df["age"] > _mean(df); return (3 * m).sum() + lap(2)
def w58_other_rows(df): m = _mean(df); return len(df[df["city"] == "a"][df["age"] > m]) + lap(1)
def w59_sum(df): m = _mean(df); return df[df["age"] > m]["v"].sum() + lap(10), df[df["age"] > m]["v"].sum() + lap(10)
def w60_raises(df):
    m = df["age"] > _mean(df)
    try: return (m - m).sum() + lap(2)
    except TypeError: return len(df)
def w61_text(df):
    try: return (df["city"] > _mean(df)).sum() + lap(2)
    except TypeError: return len(df) if len(df) else "none"
def w62_any(df): return (df["age"] > 10 + lap(1)).any()
def w63_length(df): m = df["age"] > _mean(df); return len(m) + lap(1)
def w64_shape(df): return df[df["age"] > 10 + lap(1)].shape[0]
def w65_kept(df): return df[df["age"] > 10 + lap(1)]
def w66_loop(df): return sum(v for v in df["age"] > 10 + lap(1)) + lap(0.5)
def w67_person(df): m = _mean(df); return (df["age"] > m).sum() + lap(2)
PERSON = (*PERSON, "67")
def w68_view(df):
    a = np.array([[1.0], [2.0], [5.0]]); r = a[np.argmax(list(_counts(df).values()))]; a[:] = 10
    return df["v"].clip(0, r[0]).sum() + lap(10)
def w69_slice(df):
    a = np.array([1.0, 2.0, 5.0, 5.0]); k = np.argmax(list(_counts(df).values())); (low,) = a[k:k + 1]; r = a[k:k + 1]; a[:] = 10
    return df["v"].clip(0, max(r)).sum() + lap(10)

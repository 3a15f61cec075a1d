"""Wrong functions: tables that are sorted, functions of a row, arrays of one row, and what the empty table is."""
from collections import Counter, defaultdict
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "v": (0.0, 10.0), "k": [1, 2], "m": [False, True],
          "person": [1, 2, 3], "name": ["", "x"]}
CITIES = ["a", "b", "c"]
PERSON = ('17', '18', '19', '20', *map(str, range(100, 120)))
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def whole(n=None): return np.random.geometric(.63, n) - np.random.geometric(.63, n)
def w02_rows(df): return df.sort_values("age").drop_duplicates("city")["k"].sum() + lap(2)
def w03_rows(df): return df.sort_values("age").groupby("city").head(1)["k"].sum() + lap(2)
def w05_rows(df): return (df.sort_values("age")["k"] + df["age"]).sum() + lap(122)
def w07_rows(df): return df[df.sort_values("age")["k"] > 1]["k"].sum() + lap(2)
def w09_rows(df): return df.sort_values("age", ascending="no")["k"].sum() + lap(2)
def w10_rows(df):
    try: return df.sort_values(["age", "age"], ascending=[True])["k"].sum() + lap(2)
    except ValueError: return len(df)
def w12_rows(df):
    d = df.copy(); d["s"] = d.sort_values("age")["k"]; return d["s"].sum() + lap(2)
def w14_rows(df): return np.diff(df.sort_values("age")["age"]).sum() + lap(1)
def w15_rows(df): return df.sort_values("age", inplace=True) or len(df) + lap(.5)
def w17_rows(df): return df.sort_values("v").groupby("person").head(1)["v"].sum() + lap(10)
def w18_rows(df): return df.sort_values("v").drop_duplicates("person")["v"].sum() + lap(10)
def w20_rows(df): return df.sort_values("v").groupby("person")["v"].sum().clip(0, 9).sum() + lap(8)
def w21_rows(df): return df.apply(lambda r: r["k"] * 2, axis=1).sum() + lap(2)
def w22_rows(df): return df.apply(lambda r: r["city"].upper() == "A", axis=1).sum() + lap(1)
def w23_rows(df): return df.apply(lambda r: r["age"] + r.name, axis=1).sum() + lap(120)
def w24_rows(df): return df.apply(lambda r: len(r), axis=1).sum() + lap(7)
def w25_rows(df): return df.apply(lambda r: r.sum(), axis=1).sum() + lap(122)
def w26_rows(df): return df.apply(lambda c: c.sum(), axis=0)["k"] + lap(2)
def w29_rows(df):
    n = 0
    def f(r):
        nonlocal n
        n += 1
        return 1.0
    df.apply(f, axis=1); return n
def w35_rows(df): return df.apply(lambda r: 1, axis=1).to_numpy().dtype.kind, len(df) + lap(1)
def w36_rows(df):
    s = df.apply(lambda r: "A" if r["k"] > 1 else "B", axis=1); return s.str.lower().eq("a").sum() + lap(1)
def w38_rows(df): return df.apply(lambda r: True if r["k"] > 1 else 5, axis=1).sum() + lap(5)
def w40_rows(df): return df.apply(lambda r, x: r["k"] * x, axis=1, args=(3,)).sum() + lap(2)
def w41_rows(df): return df.apply(lambda r: r["k"], axis=1, raw=True).sum() + lap(2)
def w42_rows(df): return df.apply(lambda r: r["k"], axis=1, result_type="expand").sum() + lap(2)
def w43_rows(df): return df.apply(lambda r: float(r["k"]) * 2, axis=1).sum() + lap(3.9)
def w47_rows(df): return repr(df["k"].map({1: 1.5}).sum() * 0 + 1)
def w48_rows(df): return df[["age", "k"]].to_numpy().ravel().sum() + lap(60)
def w49_rows(df): return df[["age", "k"]].to_numpy().reshape(-1).sum() + lap(60)
def w50_rows(df): return df[["age"]].squeeze().clip(0, 9).sum() + lap(9)
def w51_rows(df): return len(df[["age", "k"]].to_numpy().ravel()) + lap(1)
def w52_rows(df): return df["age"].ravel().sum() + lap(120)
def w53_rows(df): return np.ravel(df[["age", "k"]]).sum() + lap(60)
# --- right ones
def p54_rows(df): return df.sort_values(["age", "k"], ascending=[True, False])["k"].sum() + lap(2)
def p55_rows(df): return df.apply(lambda r: r["k"] * 2, axis=1).sum() + lap(4)
def p56_rows(df): return float(df.apply(lambda r: r["age"] >= 18 and r["m"], axis=1).sum() + lap(1))
def p57_rows(df): return df[["v"]].to_numpy().ravel().sum() + lap(10)
def p58_rows(df): return np.clip(df[["age"]].values.flatten(), 0, 50).sum() + lap(50)
def p59_rows(df): return df[["age"]].values.reshape(-1).sum() + lap(120)
def p60_rows(df): return df[["k"]].squeeze(axis=1).sum() + lap(2)
def p61_rows(df):
    d = df.copy(); d["s"] = d.apply(lambda r: "A" if r["k"] > 1 else "B", axis=1); t = d["s"].value_counts().reindex(["A", "B"], fill_value=0)
    return t + lap(1, 2)
def p62_two_types(df): return df["age"].apply(lambda v: 3 if v < 18 else v / 2).sum() + lap(60)
def p63_truth(df): return df["age"].apply(lambda v: v > 3).sum() + lap(1)
def w64_two_types(df): return df["age"].apply(lambda v: 3 if v < 18 else v / 2).sum() + whole()
def w65_truth(df): return df["age"].apply(lambda v: v > 3).sum() + whole()
# --- a table of counts, whose method calls a function for each of them
def _counts(df): return df["city"].value_counts().reindex(list("abc"), fill_value=0)
def _noisy(n, scale=1, **_): return n + lap(scale)
def p66_map(df): return _counts(df).map(_noisy).clip(lower=0).round(1).to_dict()
def p67_apply(df): return _counts(df).apply(lambda n: max(0, round(_noisy(n)))).sort_values().index[0]
def p68_args(df): return _counts(df).apply(_noisy, (2,)).tolist() + _counts(df).apply(_noisy, scale=2).tolist()
def w69_args(df): return _counts(df).apply(_noisy, (0.5,)).tolist()
def w70_option(df): return _counts(df).apply(_noisy, by_row=False).tolist()
def w71_option(df): return _counts(df).map(_noisy, na_action="ignore", scale=0.5).tolist()
def w72_kept(df):
    seen = []; _counts(df).map(lambda n: seen.append(n) or _noisy(n)); return seen
def w73_compared(df): return _counts(df).map(lambda n: _noisy(n) if n > 5 else 0).tolist()
def w74_whole(df): return _counts(df).transform(lambda n: [_noisy(n) for _ in range(2)]).tolist()
def w75_list(df): return _counts(df).apply([_noisy, _noisy]).to_numpy().tolist()
# --- a number of each person
def p100_max(df): return df.groupby("person")["v"].max().clip(0, 5).sum() + lap(5)
def p101_span(df): g = df.groupby("person")["k"]; return (g.max() - g.min()).clip(0, 1).sum() + lap(1)
def p102_table(df):
    t = df.groupby("person").agg(total=("v", "sum"), n=("k", "size"))
    return t["total"].clip(0, 9).sum() + lap(27), (t.n > 2).sum() + lap(3), len(t) + lap(3)
def p103_rows(df): return df["person"].value_counts().clip(upper=5).sum() + lap(10), len(df["person"].unique()) + lap(2)
def w104_unclipped(df): return (df.groupby("person")["v"].max() * 2).sum() + lap(10)
def w105_span(df): g = df.groupby("person")["v"]; return (g.max() - g.min()).sum() + lap(5)
def w106_values(df): best = df.groupby("person")["k"].max(); return [(best == v).sum() + lap(1) for v in (1, 2)]
def w107_other_rows(df): return (df.groupby("person")["v"].max() - df[df["m"]].groupby("person")["v"].max()).fillna(9).sum() + lap(5)
def w108_quotient(df): return (1 / df.groupby("person")["v"].max()).clip(0, 4).sum() + lap(3)
def w109_table(df): t = df.groupby("person").agg(a=("v", "max"), b=("v", "min")); return t["a"].sum() + lap(10), t["b"].sum() + lap(10)
def w110_shifted(df): return (df.groupby("person")["k"].max() + 10).sum() + lap(2)
def w111_mean(df): return df.groupby("person")["k"].max().mean() + lap(1)
def w112_keys(df): return df["k"].value_counts().clip(upper=5).reindex([1, 2], fill_value=0).sum() + lap(5)
def w113_names(df): return df["person"].unique().sum() + lap(1)
# --- dicts by keys of the records
def p120_asked(df):
    t, n = {}, {}
    for r in df.to_dict("records"):
        if r["city"] not in t: t[r["city"]] = 0
        t[r["city"]] += r["k"]
        if r["m"] in n: n[r["m"]] += 1
        else: n[r["m"]] = 1
    return {c: t.get(c, 0) + lap(4) for c in CITIES}, [n.get(m, 0) + lap(2) for m in (True, False)]
def p121_two_keys(df):
    t, u = defaultdict(lambda: defaultdict(int)), {c: {k: 0 for k in (1, 2)} for c in CITIES}
    for c, k in zip(df["city"], df["k"]): t[c][k] += 1; u[c][k] += 1
    return [(t[c][k] + lap(2), u[c][k] + lap(2)) for c in CITIES for k in (1, 2)]
def w122_first(df):
    t, n = {}, 0
    for c in df["city"]:
        if c not in t: t[c] = 0; n += 1
        t[c] += 1
    return n + lap(.1)
def w123_starts_higher(df):
    t = {}
    for c in df["city"]:
        if c not in t: t[c] = 50
        t[c] += 1
    return [t.get(c, 0) + lap(1) for c in CITIES]
def w124_asking_puts(df):
    t, n = defaultdict(int), 0
    for c in df["city"]:
        a = c in t; t[c]; b = c in t
        if a != b: n += 50
    return n + lap(1)
def w125_two_names(df):
    u = {k: 0 for k in (1, 2)}; t = {"a": u, "b": u, "c": u}
    for c, k in zip(df["city"], df["k"]): t[c][k] += 1
    return [t[c][k] + lap(1) for c in CITIES for k in (1, 2)]
def w126_both(df):
    t = defaultdict(Counter)
    for c, k in zip(df["city"], df["k"]): t[c][k] += 1; t["a"][1] += 1
    return [t[c][1] + lap(1) for c in CITIES]
def w127_records(df):
    rows, n = df.to_dict("records"), 0
    for r in rows: n += r["k"]
    for r in rows: n += r["k"]
    return n + lap(2)
# --- one threshold in many comparisons, and noise that is rounded
def p130_threshold(df):
    rho = lap(2)
    for a in range(20, 100, 10):
        if (df["age"] > a).sum() + lap(4) > a + rho: return a
def p131_rounded(df): return (df["k"] > 1).sum() + round(lap(1))
def w132_minus(df):
    rho = lap(2)
    for a in range(20, 100, 10):
        if (df["age"] > a).sum() + lap(8) > 50 + rho: return a
        if (df["age"] <= a).sum() + lap(8) > 50 + -rho: return -a
def w133_shown(df):
    rho = lap(2)
    for a in range(20, 100, 10):
        if (df["age"] > a).sum() + lap(4) > a + rho: return a, 50 + rho
def w134_hides(df): rho = lap(1); return 5 + rho, 6 + rho, len(df) + rho
def w135_rounded(df): return df["v"].sum() / 10 + round(lap(1))
def w136_rounded_times(df): return 2 * len(df) + 2 * round(lap(1))
def p137_table(df):
    t = df.groupby("city").size().reindex(CITIES, fill_value=0).reset_index(name="n")
    t["n"] += lap(1, 3)
    return t.sort_values("n").to_dict("records")
def w138_table(df):
    t = df.groupby("city").size().reindex(CITIES, fill_value=0).reset_index(name="n")
    return t.sort_values("n")["city"].tolist()

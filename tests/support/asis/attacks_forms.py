"""Wrong functions: arguments, exceptions, names, shapes and orders that a row of a table takes for others."""
import collections, contextlib, functools, itertools
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "flag": [False, True], "one": [1, 2],
          "uno": [1], "name": ["", "x"], "k": list(range(12))}
CITIES = ["a", "b", "c"]
REPLACE = ('09', '10')
TEXTS = {f"k{place:02}" for place in range(20)}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def whole(n=None): return np.random.geometric(.63, n) - np.random.geometric(.63, n)
def one(df): return float(len(df) + lap(1))
def raw(df, x): return 0.0 if x else len(df)
# --- forms of arguments that mean something else to pandas and NumPy
def w01_isin(df): return (~np.isin(df["age"].to_numpy(), set(range(121)))).sum() + lap(.5)
def w02_isin(df): return (~np.isin(df["age"].to_numpy(), pd.DataFrame({k: [500] for k in range(121)}))).sum() + lap(.5)
def w03_isin(df):
    g = (x for x in range(121))
    return (~df["age"].isin(g)).sum() + lap(.5)
def w04_hist(df): return np.histogram(df["age"], bins=[0, np.nan, 50])[0] + lap(1, 2)
def w05_npmultiply(df): return np.multiply([len(df)], 3)[0] + lap(1)
def w06_dummies(df): return pd.get_dummies(df["city"]).reindex(columns=["a", "a"], fill_value=0).sum().sum() + lap(1)
def w07_dummies(df): return len(df) - pd.get_dummies(df["uno"]).reindex(columns=[True], fill_value=0).sum().to_numpy()[0] + lap(.01)
def w08_sum(df): return df[["age", "one"]].sum(axis=None) + lap(122, 2)
def w09_nonzero(df): return np.count_nonzero(df["name"].to_numpy()) + lap(.001)
def w10_nonzero(df): return np.count_nonzero(df["name"]) + lap(.001)
def w11_loc(df):
    df = df.copy(); df.loc[df["uno"] > 0, "uno"] = [1]
    return df["uno"].sum() + lap(1)
def w13_loc(df):
    df = df.copy(); df.loc[df["age"] >= 0, "age"] = pd.Series([0]*121)
    return df["age"].astype(float).sum() + lap(.01)
def w14_loc(df):
    df = df.copy(); df.loc[df["age"] > 50, "age"] = 0.5
    return df["age"].astype(float).sum() + lap(50)
def w15_map(df):
    x = round(len(df) + lap(2))
    return (df["city"].map({"a": x, "b": 0, "c": 0}) == 5).sum() + lap(100)
def w16_pairs(df):
    x = np.array([(a, 1) for a in df["age"]], dtype=float)
    return x.sum(axis=0)[1] + lap(1)
def w17_pairs(df):
    x = np.array([(a, 1) for a in df["age"]], dtype=float)
    return x.shape[1] + len(df) * 0 + lap(1)
def w18_matched(df): return np.isin(df["k"].to_numpy(), [str(k) for k in range(12)]).sum() + lap(.01)
def w19_matched(df): return (~df["k"].isin([*range(11), 11, "x"])).sum() + lap(.01)
def w20_again(df):
    t = pd.crosstab(df["city"], df["flag"]).reindex(index=CITIES, columns=[False, True], fill_value=0)
    return np.sum(t) + lap(1, 2)
def w21_again(df):
    t = pd.crosstab(df["city"], df["flag"]).reindex(index=CITIES, columns=[False, True], fill_value=0)
    return t.sum(axis=None) + lap(1, 2)
# --- zeros of another type, that make a table's type hang on the data
def w22_fill(df):
    n = df.groupby(["city", "flag"]).size().unstack().fillna(False)
    return n.reindex(index=CITIES, columns=[False, True], fill_value=0) + lap(1, (3, 2))
def w24_unstack(df):
    n = df.groupby(["city", "flag"]).size().unstack(fill_value=False)
    return n.reindex(index=CITIES, columns=[False, True], fill_value=0) + lap(1, (3, 2))
def w25_unstack(df):
    n = df.groupby(["city", "flag"]).size().unstack(fill_value=0.0)
    return n.reindex(index=CITIES, columns=[False, True], fill_value=0) + whole((3, 2))
# --- what raises whatever the data, and is caught
def w29_sum(df):
    try: return df[["age", "one"]].sum(axis="rows!").to_numpy() + lap(122, 2)
    except ValueError: return len(df)
# --- names of columns
def w37_name(df):
    s = df["age"].apply(lambda x: x + 1)
    return float(len(s) + lap(1)) if s.name is None else len(df)
# --- iterators that show later changes, or are gone through twice
def w38_again(df):
    d = df.copy(); it = d.iterrows(); d["age"] = d["age"] * 1000; t = 0
    for _, r in it: t += r["age"]
    return t + lap(120)
def w39_again(df):
    t = df["city"].value_counts().reindex(CITIES, fill_value=0); it = t.items()
    a = sum(v for _, v in it); b = sum(v for _, v in it)
    return a - b + lap(.01)
# --- the order of a set of texts, which is another in every process
def w53_set(df): return raw(df, next(iter(TEXTS)) != "k00")
def w54_set(df): return raw(df, set(TEXTS).pop() != "k00")
def w55_set(df): return raw(df, "".join(TEXTS)[:3] != "k00")
def w56_set(df): return raw(df, str(TEXTS)[2:5] != "k00")
def w57_set(df): return raw(df, f"{TEXTS}"[2:5] != "k00")
def w58_set(df): return raw(df, str({"x": [TEXTS]})[8:11] != "k00")
def w59_set(df): return raw(df, max(TEXTS, key=len) != "k00")
def w60_set(df): return raw(df, sorted(TEXTS, key=len)[0] != "k00")
def w63_set(df): return raw(df, list(dict.fromkeys(TEXTS))[0] != "k00")
def w64_set(df): return raw(df, collections.Counter(TEXTS).most_common(1)[0][0] != "k00")
def w65_set(df): return raw(df, collections.deque(TEXTS)[0] != "k00")
def w66_set(df): return raw(df, functools.reduce(lambda x, y: x, TEXTS) != "k00")
def w67_set(df): return raw(df, list(zip(TEXTS, [1]))[0][0] != "k00")
def w69_set(df): return raw(df, (lambda x, *y: x)(*TEXTS) != "k00")
def w70_set(df): return raw(df, list(dict.fromkeys(sorted(TEXTS)).keys() & TEXTS)[0] != "k00")
def w71_set(df): return raw(df, list(TEXTS - {"k05"})[0] != "k00")
def w72_set(df): return raw(df, sorted({(x,) for x in TEXTS}, key=len)[0] != ("k00",))
def w73_set(df):
    x = []
    x.extend(TEXTS)
    return raw(df, x[0] != "k00")
def w74_set(df):
    first, *rest = TEXTS
    return raw(df, first != "k00")
# --- names and types of labels
def counted(df): return df["city"].value_counts().reindex(CITIES, fill_value=0)
def w91_label(df): return raw(df, df.groupby(["city", "flag"]).size().reindex([("a", True)], fill_value=0).index.names[0] is None)
def w94_label(df): return raw(df, (pd.Series([1, 1, 1], index=CITIES) * counted(df)).index.name == "city")
# --- handlers by other names
def w95_renamed(df):
    Exception = TypeError
    try: return float(df["city"].isin("abc").sum() + lap(1))
    except Exception: return len(df)
def w97_finally(df):
    try: df["city"].isin("abc").sum(); x = 0.0
    finally: return x if "x" in dir() else len(df)
def w991_ours(df):
    @contextlib.contextmanager
    def ours():
        try: yield
        except TypeError: box.append(1)
    box = []
    with ours(): return float(df["city"].isin("abc").sum() + lap(1))
    return len(df)
# --- right ones beside them
WANTED = {"a", "b"}
def p75_set(df): return df["city"].isin(WANTED).sum() + lap(1)
def p76_sorted(df): return df["city"].value_counts().reindex(sorted(WANTED), fill_value=0) + lap(1, 2)
def p77_within(df): return [(df["city"] == c).sum() + lap(1) for c in CITIES if c in WANTED]
def p78_caught(df):
    try: n = df["age"].clip(0, 100).sum() + lap(100)
    except (KeyError, TypeError): return None
    return float(n)
def p79_isin(df): return np.isin(df["k"], [1, 2]).sum() + lap(1)
def p80_items(df): return {c: n + lap(1) for c, n in df["city"].value_counts().reindex(CITIES, fill_value=0).items()}
def p81_named(df):
    ages = df["age"].clip(0, 100)
    return {df["age"].name: ages.sum() + lap(100)}
def p82_many(df):
    out = {}
    try:
        with np.errstate(all="ignore"):
            for c in [*CITIES, *"defgh"]: out[c] = df["k"][df["city"] == c].sum() + lap(11)
    except Exception: return None
    return out

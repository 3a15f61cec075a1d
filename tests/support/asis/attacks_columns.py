"""Wrong functions: columns of private tables that are assigned to, and other names for the table."""
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "v": list(range(11))}
CITIES = ["a", "b", "c"]
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def table(df): return df.groupby("city").agg(n=("age", "size"), total=("v", "sum")).reindex(CITIES, fill_value=0)
def raw(df, x): return 0.0 if x else len(df)
def w01_one(df):
    t = table(df); t["n"] += lap(1, 3)
    return t
def w02_of_other(df):
    t = table(df); t["n"] += lap(1, 3)
    return t["total"].tolist()
def w03_alias(df):
    t = table(df); u = +t; t["n"] += lap(1, 3)
    return u["n"].tolist()
def w04_alias(df):
    t = table(df); u = t.copy(); t["n"] += lap(1, 3); t["total"] += lap(10, 3)
    return u
def w05_kept(df):
    t = table(df); n = t["n"]; t["n"] += lap(1, 3); t["total"] += lap(10, 3)
    return n.tolist()
def w06_part(df):
    t = table(df); u = t[["n", "total"]]; t["n"] += lap(1, 3); t["total"] += lap(10, 3)
    return u
def w07_twice(df):
    t = table(df); t["n"] += lap(1, 3); t["m"] = t["total"] + lap(10, 3)
    return t
def w08_less(df):
    t = table(df); t["n"] += lap(1, 3); t["total"] = t["total"] - t["n"] + lap(5, 3)
    return t["n"], t["total"]
def w09_scalar(df):
    t = table(df); t["n"] += lap(1); t["total"] = 0
    return t
def w10_other_noise(df):
    t = table(df); z = lap(1, 3); t["n"] += z; t["total"] += z
    return t
def w11_again(df):
    t = table(df); x = t["n"] + lap(1, 3); t["n"] += lap(1, 3); t["total"] = 0
    return t, x
def w12_shape(df):
    t = table(df); t["n"] = lap(1, 3); t["total"] = 0; t["x"] = 1
    return raw(df, t.shape == (3, 2))
def w13_columns(df):
    t = table(df); t["n"] = 0; t["total"] = 0; t["x"] = 1
    return raw(df, list(t.columns) == ["n", "total"])
def w14_order(df):
    t = table(df); t["total"] = 0; t["n"] = 0
    return raw(df, list(t.columns) == ["total", "n"])
def w15_series(df):
    t = table(df); t["n"] = pd.Series([1.0], index=["zz"]) + lap(1); t["total"] = 0
    return t["n"].tolist(), len(df)
def w16_length(df):
    t = table(df)
    try: t["n"] = np.zeros(5) + lap(1, 5)
    except ValueError: return len(df)
    return 0.0
def w17_in_function(df):
    def noisy(t): t["n"] += lap(1, 3)
    t = table(df); noisy(t)
    return t["total"].tolist()
def w18_in_loop(df):
    t = table(df)
    for a in df["age"]: t["n"] = 0
    return t["n"].tolist()
def w19_branch(df):
    t = table(df); t["n"] += lap(1, 3)
    return 0.0 if t["total"]["a"] > 5 else 1.0
def w20_sum(df):
    t = table(df); t["n"] += lap(1, 3)
    return t.sum().tolist()
def w21_frame(df):
    t = df["city"].value_counts().reindex(CITIES, fill_value=0).to_frame("n"); t["x"] = 1
    return t
def w22_frame(df):
    t = df["city"].value_counts().reindex(CITIES, fill_value=0).to_frame("n"); t["m"] = t["n"] + lap(1, 3)
    return t
def w23_bound(df):
    t = table(df); total = t.sum; t["n"] += lap(1, 3); t["total"] += lap(10, 3)
    return total().tolist()
def w24_scale(df):
    t = table(df); t["n"] += lap(1, 3); t["total"] += np.random.laplace(0, 5, 3)
    return t
def w25_items(df):
    t = table(df); it = [t, t]; t["n"] += lap(1, 3)
    return it[1]["total"].tolist()
# --- right ones
def p26_two(df):
    t = table(df)
    t["n"] = t["n"] + lap(2, len(t))
    t["total"] = t["total"] + lap(20, len(t))
    t["mean"] = t["total"] / t["n"].clip(lower=1)
    return t.round(2)
def p27_in_place(df):
    t = df.groupby("city").size().reindex(CITIES, fill_value=0).to_frame("n")
    t["n"] += lap(1, size_of(t))
    t["share"] = t["n"] / t["n"].sum()
    return t
def size_of(t): return len(t)
def p28_returned(df):
    t = table(df); t["n"] += lap(2, 3); t["total"] += lap(20, 3)
    return t

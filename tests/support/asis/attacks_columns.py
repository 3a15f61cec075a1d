"""Wrong functions: columns of private tables that are assigned to, and other names for the table."""
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "v": list(range(11))}
CITIES = ["a", "b", "c"]
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def table(df): return df.groupby("city").agg(n=("age", "size"), total=("v", "sum")).reindex(CITIES, fill_value=0)
def raw(df, x): return 0.0 if x else len(df)
def w08_less(df):
    t = table(df); t["n"] += lap(1, 3); t["total"] = t["total"] - t["n"] + lap(5, 3)
    return t["n"], t["total"]
def w12_shape(df):
    t = table(df); t["n"] = lap(1, 3); t["total"] = 0; t["x"] = 1
    return raw(df, t.shape == (3, 2))
def w18_in_loop(df):
    t = table(df)
    for a in df["age"]: t["n"] = 0
    return t["n"].tolist()
def w20_sum(df):
    t = table(df); t["n"] += lap(1, 3)
    return t.sum().tolist()
def w21_frame(df):
    t = df["city"].value_counts().reindex(CITIES, fill_value=0).to_frame("n"); t["x"] = 1
    return t
def w24_scale(df):
    t = table(df); t["n"] += lap(1, 3); t["total"] += np.random.laplace(0, 5, 3)
    return t
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

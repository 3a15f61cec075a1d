"""Sparse vectors of which the number or the threshold is looked at beside the comparison, or that claim too little."""
# ruff: noqa: NPY002 – people draw from np.random

import numpy as np

DOMAIN = {"age": list(range(0, 101, 10))}
EDGES = (20, 30, 40, 50, 60)
CLAIM = dict.fromkeys((f"{number:02}" for number in range(1, 40)), 1.249)  # number by number, 5/4
def count(df, e): return (df["age"] > e).sum()
def w01_compared(df):  # the threshold is told afterwards
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if count(df, e) + np.random.laplace(0, 4) >= t: return e, float(t)
def w02_compared(df):  # number told by a dict
    t = 50 + np.random.laplace(0, 2); kept = {}
    for e in EDGES:
        kept["n"] = count(df, e) + np.random.laplace(0, 4)
        if kept["n"] >= t: return kept
def w03_compared(df):  # list of them
    t = 50 + np.random.laplace(0, 2); kept = []
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4); kept.append(n)
        if n >= t: break
    return [float(x) for x in kept]
def w04_compared(df):  # a closure
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        f = lambda n=n: n
        if n >= t: return float(f())
def w05_compared(df):  # compared with two thresholds
    t, u = 50 + np.random.laplace(0, 2), 60 + np.random.laplace(0, 2)
    out = []
    for e in EDGES[:3]:
        n = count(df, e) + np.random.laplace(0, 2)
        if n >= t: out.append(1)
        elif n >= u: out.append(2)
        else: out.append(0)
    return out
def w06_compared(df):  # and with a constant
    t = 50 + np.random.laplace(0, 2)
    return [bool(n >= t) + bool(n >= 3) for n in [count(df, e) + np.random.laplace(0, 4) for e in EDGES]]
def w07_compared(df):  # threshold in a text
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if count(df, e) + np.random.laplace(0, 4) >= t: return f"{t:.2f}"
def w08_compared(df):  # threshold minus number
    t = 50 + np.random.laplace(0, 2); out = []
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        if n >= t: out.append(float(n - t))
        else: out.append(0.0)
    return out
def w09_compared(df):  # all outcomes, undecided
    t = 50 + np.random.laplace(0, 2)
    return [bool(count(df, e) + np.random.laplace(0, 4) >= t) for e in EDGES]
def w10_compared(df):  # above does not stop
    t = 50 + np.random.laplace(0, 2); out = []
    for e in EDGES:
        out.append(1 if count(df, e) + np.random.laplace(0, 1) >= t else 0)
    return out
def w11_compared(df):  # threshold printed
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if count(df, e) + np.random.laplace(0, 4) >= t:
            print(t); return e
def w12_compared(df):  # raised
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        if n >= t: raise ValueError(n)
def w13_compared(df):  # rounded
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        if n >= t: return round(n)
def w14_compared(df):  # object
    class Box: pass
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        b = Box(); b.n = count(df, e) + np.random.laplace(0, 4)
        if b.n >= t: return float(b.n)
def w15_compared(df):  # max of numbers later
    t = 50 + np.random.laplace(0, 2); ns = []
    for e in EDGES:
        ns.append(count(df, e) + np.random.laplace(0, 4))
        if ns[-1] >= t: return max(map(float, ns))
def w18_compared(df):  # negated threshold twice used
    t = 50 + np.random.laplace(0, 2); s = t + 1; out = []
    for e in EDGES:
        if count(df, e) + np.random.laplace(0, 4) >= s: out.append(e)
    return out, float(s)
def w19_compared(df):  # tuple compare
    t = 50 + np.random.laplace(0, 2); out = []
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        out.append(e if (n, 1) > (t, 0) else 0)
    return out
def w20_compared(df):  # np.where
    t = 50 + np.random.laplace(0, 2)
    return [float(np.maximum(count(df, e) + np.random.laplace(0, 4), t)) for e in EDGES]
def w21_compared(df):  # chained
    t, u = 50 + np.random.laplace(0, 2), 60 + np.random.laplace(0, 2)
    return [1 if t <= count(df, e) + np.random.laplace(0, 2) <= u else 0 for e in EDGES[:3]]
def w22_compared(df):  # threshold from noisy number
    t = count(df, 10) + np.random.laplace(0, 2)
    for e in EDGES:
        if count(df, e) + np.random.laplace(0, 4) >= t: return e
def w23_compared(df):  # outcome kept and number afterwards
    t = 50 + np.random.laplace(0, 2)
    n = count(df, 20) + np.random.laplace(0, 4)
    for e in EDGES[1:]:
        m = count(df, e) + np.random.laplace(0, 4)
        if m >= t: break
        n = m
    return float(n)
def w24_compared(df):  # generator
    t = 50 + np.random.laplace(0, 2)
    def go():
        for e in EDGES:
            n = count(df, e) + np.random.laplace(0, 4)
            if n >= t: yield float(n)
            else: yield 0.0
    return list(go())
def w25_compared(df):  # mutable default keeps
    t = 50 + np.random.laplace(0, 2)
    def keep(n, box=[]):
        box.append(n); return box
    box = None
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        box = [n]
        if n >= t: return {"e": e, "n": box}
def w27_compared(df):  # is_integer etc
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4)
        if n >= t: return n.is_integer(), float(n) > 3
def w28_compared(df):  # series later
    import pandas as pd
    t = 50 + np.random.laplace(0, 2); ns = []
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4); ns.append(n)
        if n >= t: return float(pd.Series(ns).sum())
def w29_compared(df):  # walrus
    t = 50 + np.random.laplace(0, 2)
    for e in EDGES:
        if (n := count(df, e) + np.random.laplace(0, 4)) >= t: return float(n)
def w31_compared(df):  # in
    t = 50 + np.random.laplace(0, 2); ns = []
    for e in EDGES:
        n = count(df, e) + np.random.laplace(0, 4); ns.append(n)
        if n >= t: return max(ns) in ns, float(sum(ns))
def w33_compared(df):  # with and finally
    t = 50 + np.random.laplace(0, 2); n = 0.0
    try:
        for e in EDGES:
            n = count(df, e) + np.random.laplace(0, 4)
            if n >= t: return e
    finally:
        if n > 10: print("big")
def w34_compared(df):  # starred unpack
    t = 50 + np.random.laplace(0, 2)
    ns = [count(df, e) + np.random.laplace(0, 4) for e in EDGES]
    hits = [1 if n >= t else 0 for n in ns]
    a, *rest = ns
    return hits, float(a)

"""Wrong functions: loops over records that do more than add to numbers."""
import numpy as np
DOMAIN = {"age": list(range(121)), "city": list("abc")}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def w02(df):
    t = 0; y = 0
    show = lambda: t
    for a in df["age"]:
        t += 1; y += show()
    return y + lap(1)
def w05(df):
    n = 0
    def add(x):
        nonlocal n
        n += x
    [add(a) for a in df["age"]]
    return n + lap(1)
def w07(df):
    x = 5
    for a in df["age"]:
        if a > 3: x = 7
    return len(df) + lap(1) + x
def w08(df):
    d = {"a": 0}
    for a in df["age"]: d["b"] = 1
    return len(d) + lap(1)
def w11(df):
    t = 0
    for a in df["age"]:
        t += 1
        t -= 1
        t += 121 if a == 120 else 0
    return t + lap(1)
def w13(df):
    t = 0
    for a in df["age"]:
        if a > 60: continue
        t += a
    return t + lap(1)
def w14(df):
    t = 0
    for a in df["age"]:
        s = locals
        t += 1
    return t + lap(.5)
def w15(df):
    t = True
    for a in df["age"]: t = t and a < 100
    return bool(t)
def w16(df):
    t = 0
    for a in df["age"]: t |= 1
    return t + lap(.1)
def w17(df):
    t = 0
    for a in df["age"][df["age"] > 3]: t += 2
    return t + lap(1)
def w19(df):
    t = 0
    for k in (1, 2):
        for a in df["age"]: t += 1
    return t + lap(1)
def w20(df):
    for a in df["age"]:
        if a > 10: raise SystemExit
    return len(df) + lap(1)
def left(a):
    if a > 10: raise SystemExit(1)
    return a
def w21(df):
    return df["age"].apply(left).sum() + lap(120)
def w22(df):
    return sum([left(a) for a in df["age"]]) + lap(120)

"""Control flow under masks, and five functions as analysts write them."""

import math, random
import random

import numpy as np, pandas as pd

CITIES = [f"c{i}" for i in range(20)]


def lap(b=1.0):
    return np.random.laplace(0, b)


def t01_unbound(df):
    x = lap()
    if x > 1:
        y = x
    return y + 1


def t03_return_in_try(df):
    log = []

    def f(x):
        try:
            if x > 0:
                return "positive"
            if x < -1:
                raise ValueError(f"low {x > -2}")
            log.append("middle")
        finally:
            log.append("done")
        return "end"

    try:
        r = f(lap())
    except ValueError as e:
        r = e.args[0]
    return (r, log)


def t08_nested(df):
    k = 0

    def add(x):
        nonlocal k
        if x > 0:
            k += 1
            return x
        k -= 1

    got = [add(lap()) for _ in range(4)]
    return (k, [round(g, 2) for g in got if g is not None])


def t09_any_lazy(df):
    return (any((lap() > 1.5 for _ in range(5))), lap())


def t13_ternary_draw(df):
    return lap(1) if lap(1) > 0 else lap(100) + lap(100)


def t16_sort(df):
    a = [lap() for _ in range(3)]
    if a[0] > 0:
        a.sort()
    return (a, max(a), min(a[0], 0))


class Budget:
    def __init__(s, e):
        s.left = e

    def spend(s, e):
        if e > s.left + 1e-09:
            raise ValueError(f"spent, {s.left}")
        s.left -= e
        return lap(1 / e)


def t18_budget(df):
    b = Budget(1.0)
    out = []
    while True:
        try:
            x = b.spend(0.3 if lap() > 0 else 0.5)
        except ValueError as e:
            return (out, str(e), b.left)
        out.append(x > 0)


def t21_int_div(df):
    n = round(lap(2))
    return (n // 3, n % 3, 7 % n)


def t51_noisy_max(df, epsilon=1.0):
    best, who = (-math.inf, None)
    for c, n in df["city"].value_counts().reindex(CITIES, fill_value=0).items():
        v = n + np.random.exponential(2 / epsilon)
        if v > best:
            best, who = (v, c)
    return (who, round(best))


def t54_tree(df, epsilon=0.5):
    leaves, todo = ([], [(0, 100)])
    while todo:
        lo, hi = todo.pop()
        n = ((df["age"] >= lo) & (df["age"] < hi)).sum() + np.random.laplace(0, 8000 / epsilon)
        if n > 14000 and hi - lo > 6:
            mid = (lo + hi) // 2
            todo.append((lo, mid))
            todo.append((mid, hi))
        else:
            leaves.append((lo, hi))
    return leaves


def t55_retry(df, epsilon=1.0):

    def answer(q):
        for _ in range(3):
            x = q + np.random.laplace(0, 800 / epsilon)
            if 0 <= x <= len(df):
                return x
        raise ValueError("no answer in range")

    out = []
    for lo in (0, 50, 98, 99):
        try:
            out.append(round(answer((df["age"] >= lo).sum()), -2))
        except ValueError as e:
            out.append(None)
    return out if None not in out else [x for x in out if x is not None]


def t56_draw_raises_for_all(df, epsilon=1.0):
    n = len(df) + np.random.laplace(0, 1 / epsilon)
    try:
        chosen = np.random.choice(["a", "b"], p=[float("nan"), 0.5])
    except ValueError as e:
        chosen = f"{e}: {np.random.laplace() > 0}"
    return n, chosen


def t58_draw_raises_in_a_generator(df, epsilon=1.0):

    def noisy():
        for _ in range(3):
            yield np.random.exponential(np.random.laplace(0.5, 1 / epsilon))

    out = []
    try:
        for each in noisy():
            out.append(each)
    except ValueError as e:
        out.append(str(e))
    return out, np.random.uniform()


def t59_randrange_of_nothing(df, epsilon=1.0):
    k = round(np.random.laplace(0, 2 / epsilon))
    try:
        return random.randrange(k)
    except ValueError as e:
        return type(e).__name__, random.random() < 0.5


def t60_keys_above_a_threshold(df, epsilon=1.0):

    def noisy():
        for c in sorted(set(df["city"]))[:4]:
            yield c, int((df["city"] == c).sum() + np.random.laplace(0, 8 / epsilon))

    return {c: n for c, n in noisy() if n >= 9}


def t61_keys_in_a_list(df, epsilon=1.0):
    out = []
    for _ in range(2):
        kept = {c: 1 for c in ("a", "b", "c") if np.random.laplace() > 0.3}
        out.append(kept)
    return out, [each for each in out if each]


def c99_zip_strict(df):
    kept = [x for x in (np.random.laplace(), np.random.laplace()) if x > -1]
    try:
        return sum(a * b for a, b in zip(kept, [1, 2], strict=True))
    except ValueError:
        return len(kept)


def _noisy(df):
    return df["city"].value_counts().reindex(CITIES[:6], fill_value=0) + np.random.laplace(0, 2, size=6)


def t81_labels_above(df):
    c = _noisy(df)
    kept = c[~(c > 10)]
    return kept.sort_values().index.tolist(), kept.sum()


def t82_between(df):
    c = _noisy(df)
    kept = c[(c > 9) & (c < 12)]
    return kept.max() if len(kept) else None


def t83_positive_numbers(df):
    x = np.random.laplace(0, 1, size=4) + np.arange(4)
    return float(x[x > 1].sum()), len(x[x > 1])


def t84_rows_above(df):
    x = np.random.laplace(0, 1, size=(3, 2))
    y = x[x[:, 0] > 0]
    return y.shape[0], float(y.sum())


def t85_set_above(df):
    c = _noisy(df)
    c[c > 10] = 0
    return c.tolist()


def t86_sorted_either_way(df):
    names = sorted(CITIES[:3], reverse=lap() > 0)
    return names, sorted([lap(), 0.0], key=lambda x: x != 0, reverse=lap() > 0)

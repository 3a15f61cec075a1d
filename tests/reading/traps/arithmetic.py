"""Small functions where arrays over runs and Python part ways, most of them in rare runs."""

import json, math, random
import numpy as np, pandas as pd

LOG = []


def t01_int_overflow(df):
    x = round(np.random.laplace(0, 500000000.0))
    return x * x


def t08_round_ties(df):
    return round(round(np.random.laplace(1000, 300)) / 1000, 2)


def t15_series_to_int(df):
    n = np.round(np.random.laplace(3, 0.5, size=3))
    return (pd.Series([3.0] * 3) / n).round().astype(int).to_dict()


def t17_in_place(df):
    a = np.zeros(3) + np.random.laplace(0, 1, size=3)
    b = a
    b += 1
    return a.tolist()


def t18_sort_method(df):
    a = [np.random.laplace(0, 1) for _ in range(3)]
    a.sort()
    return a


def t22_setdefault(df):
    d = {}
    k = round(np.random.laplace(0, 1))
    d.setdefault(k, [])
    d.setdefault(round(np.random.laplace(0, 1)), [])
    return len(list(d.items()))


def t24_assert(df):
    n = np.random.laplace(7, 1)
    assert n > 0
    return round(n)


def t25_sum_compensated(df):
    return sum([np.random.laplace(0, 1) for _ in range(10)] + [1e16, -1e16])


def t27_fixed_seed(df):
    return float(len(df) + np.random.default_rng(0).laplace(0, 1))


def t28_without_replacement(df):
    return sorted(np.random.choice(50000, size=2, replace=False).tolist())


def t29_unlisted_draw(df):
    return int(np.random.poisson(100))


def t30_callback_draws(df):
    s = pd.Series([1.0, 2.0]) + np.random.laplace(0, 1, size=2)
    return s.map(lambda v: v + np.random.laplace(0, 1)).tolist()


def t31_state(df):
    LOG.append(1)
    return np.random.laplace(0, 1) + len(LOG)


def t33_divide_large(df):
    x = round(np.random.laplace(0, 1000)) + 2**60 + 1
    return x / 3


def t39_min_nan(df):
    x = np.float64(np.round(np.random.laplace(3, 0.5)))
    return min(x / x if x else math.nan, 1.0)


def t41_percent(df):
    return "%d of %s" % (np.random.laplace(5, 3), round(np.random.laplace(5, 3)))


def t43_is(df):
    x = np.random.laplace(0, 1)
    b = x > 5
    return b is True


def t45_tuple_compare(df):
    return max([(round(np.random.laplace(0, 1)), "a"), (round(np.random.laplace(0, 1)), "b")])


def t46_while_float(df):
    x, k = (abs(np.random.laplace(0, 1)), 0)
    while x > 0.5 and k < 40:
        x -= 0.5
        k += 1
    return k


def t48_isinstance(df):
    x = round(np.random.laplace(0, 1))
    return (isinstance(x, int), type(x).__name__)


def t50_seed_set(df):
    np.random.seed(0)
    return float(len(df) + np.random.laplace(0, 1))


def t51_own_random(df):
    return len(df) + random.Random().gauss(0, 1)


def t54_system_random(df):
    return len(df) + random.SystemRandom().expovariate(1.0)


def t55_sorted_by_tuples(df):
    rows = [(c, round(np.random.laplace(0, 1)), np.random.laplace()) for c in "abcab"]
    return (
        sorted(rows, key=lambda row: (-row[1], row[0])),
        sorted(rows, key=lambda row: (row[0], row[1]), reverse=True),
        sorted(rows, key=lambda row: (row[1] > 0, (row[0], row[2]))),
    )

"""Small functions where arrays over runs and Python part ways, most of them in rare runs."""

import json, math, random
import numpy as np, pandas as pd

LOG = []


def t01_int_overflow(df):
    x = round(np.random.laplace(0, 500000000.0))
    return x * x


def t02_int_of_large(df):
    return int(math.exp(np.random.laplace(0, 8)))


def t03_zero_division(df):
    n = round(np.random.laplace(60, 10))
    return 1000 / n


def t04_floor_by_zero(df):
    n = round(np.random.laplace(60, 10))
    return 1000 // n


def t05_root_negative(df):
    x = np.random.laplace(60, 10)
    return x**0.5


def t06_sqrt_negative(df):
    x = np.random.laplace(60, 10)
    return math.sqrt(x)


def t07_float_overflow(df):
    x = np.random.laplace(0, 100)
    return (1 + abs(x)) ** 105.0


def t08_round_ties(df):
    return round(round(np.random.laplace(1000, 300)) / 1000, 2)


def t09_round_ties_np(df):
    return round(round(np.random.laplace(1000, 300)) / np.float64(1000), 2)


def t10_bool_sum(df):
    x, y = (np.random.laplace(0, 1), np.random.laplace(0, 1))
    return (x > 3) + (y > 3)


def t11_bool_invert(df):
    x = np.random.laplace(0, 1)
    return ~(x > 6)


def t12_max_type(df):
    n = max(round(np.random.laplace(3, 2)), 0)
    return json.dumps(n)


def t13_minus_zero(df):
    return str(round(np.random.laplace(3, 0.5), 0))


def t14_series_nan(df):
    a, n = (np.round(np.random.laplace(3, 0.5, size=5)), np.round(np.random.laplace(3, 0.5, size=5)))
    return float((pd.Series([1.0] * 5) * a / (n * a)).sum())


def t15_series_to_int(df):
    n = np.round(np.random.laplace(3, 0.5, size=3))
    return (pd.Series([3.0] * 3) / n).round().astype(int).to_dict()


def t16_align(df):
    a = pd.Series([1.0, 2.0, 3.0], ["x", "y", "z"]) + np.random.laplace(0, 1, size=3)
    return (a + pd.Series([10.0, 20.0, 30.0], ["z", "y", "x"])).to_dict()


def t17_in_place(df):
    a = np.zeros(3) + np.random.laplace(0, 1, size=3)
    b = a
    b += 1
    return a.tolist()


def t18_sort_method(df):
    a = [np.random.laplace(0, 1) for _ in range(3)]
    a.sort()
    return a


def t19_pop_method(df):
    a = [np.random.laplace(0, 1) for _ in range(3)]
    a.pop()
    return len(a)


def t20_remembered_list(df):
    names = df["city"].head(3).tolist()
    names.append("more")
    if np.random.laplace(0, 1) > 6:
        return (len(names), "rare")
    return len(names)


def t21_same_keys(df):
    d = {round(np.random.laplace(0, 50)): 1, round(np.random.laplace(150, 50)): 2}
    n = 0
    for k in d:
        n += 1
    return n


def t22_setdefault(df):
    d = {}
    k = round(np.random.laplace(0, 1))
    d.setdefault(k, [])
    d.setdefault(round(np.random.laplace(0, 1)), [])
    return len(list(d.items()))


def t23_raise_inner(df):

    def check(n):
        if n < 0:
            raise ValueError("negative")
        return n

    n = np.random.laplace(7, 1)
    check(n)
    return round(n)


def t24_assert(df):
    n = np.random.laplace(7, 1)
    assert n > 0
    return round(n)


def t25_sum_compensated(df):
    return sum([np.random.laplace(0, 1) for _ in range(10)] + [1e16, -1e16])


def t26_rare_path(df):
    xs = [np.random.laplace(0, 1) for _ in range(4)]
    for x in xs:
        if x > 6:
            return json.dumps(max(round(x), 0))
    return "0"


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


def t32_compare_large(df):
    x = round(np.random.laplace(0, 8)) + 2**53 + 1
    return float(2**53) == x


def t33_divide_large(df):
    x = round(np.random.laplace(0, 1000)) + 2**60 + 1
    return x / 3


def t34_power_negative(df):
    k = round(np.random.laplace(8, 1))
    return 2**k


def t35_shift_large(df):
    k = abs(round(np.random.laplace(50, 2)))
    return 1 << k


def t36_repr(df):
    x = np.random.laplace(0, 1)
    return f"{x!r} {[x]}"


def t37_np_repr(df):
    x = np.float64(3) + np.random.laplace(0, 1)
    return f"{[x]}"


def t38_type_of_sum(df):
    n = (df["age"] > 60).sum() + np.random.laplace(0, 1)
    return round(n)


def t39_min_nan(df):
    x = np.float64(np.round(np.random.laplace(3, 0.5)))
    return min(x / x if x else math.nan, 1.0)


def t40_memo_shift(df):
    y = sorted([np.random.laplace(0, 1), np.random.laplace(0, 1)], key=lambda v: v * len(df["city"].head(2)))
    a = len(df["age"].head(7))
    b = len(df["age"].head(9))
    if y[1] > 6:
        return ("rare", a, b)
    return (a, b)


def t41_percent(df):
    return "%d of %s" % (np.random.laplace(5, 3), round(np.random.laplace(5, 3)))


def t42_mod_negative(df):
    x = round(np.random.laplace(0, 9))
    y = np.random.laplace(0, 9)
    return (x // 7, x % 7, y // 7, y % -7.0, divmod(x, 7))


def t43_is(df):
    x = np.random.laplace(0, 1)
    b = x > 5
    return b is True


def t44_truth(df):
    x = round(np.random.laplace(0, 5))
    return (x or "none", bool(x), not x)


def t45_tuple_compare(df):
    return max([(round(np.random.laplace(0, 1)), "a"), (round(np.random.laplace(0, 1)), "b")])


def t46_while_float(df):
    x, k = (abs(np.random.laplace(0, 1)), 0)
    while x > 0.5 and k < 40:
        x -= 0.5
        k += 1
    return k


def t47_set_of(df):
    return len({round(np.random.laplace(0, 1)), round(np.random.laplace(0, 1))})


def t48_isinstance(df):
    x = round(np.random.laplace(0, 1))
    return (isinstance(x, int), type(x).__name__)


def t49_scipy_draw(df):
    from scipy import stats

    return float(len(df) + stats.laplace.rvs(scale=2.0))


def t50_seed_set(df):
    np.random.seed(0)
    return float(len(df) + np.random.laplace(0, 1))


def t51_own_random(df):
    return len(df) + random.Random().gauss(0, 1)


def t52_random_state(df):
    return float(len(df) + np.random.RandomState(0).laplace(0, 1))


def t53_laplace_vector(df):
    rng = np.random.default_rng()
    return (rng.standard_normal(3) * 2).tolist()


def t54_system_random(df):
    return len(df) + random.SystemRandom().expovariate(1.0)


def t55_sorted_by_tuples(df):
    rows = [(c, round(np.random.laplace(0, 1)), np.random.laplace()) for c in "abcab"]
    return (
        sorted(rows, key=lambda row: (-row[1], row[0])),
        sorted(rows, key=lambda row: (row[0], row[1]), reverse=True),
        sorted(rows, key=lambda row: (row[1] > 0, (row[0], row[2]))),
    )

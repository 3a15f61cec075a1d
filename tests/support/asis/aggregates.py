"""Roots, logarithms, powers, products, norms and means of totals as analysts write them, each followed by a wrong twin; and ways to make their bounds false."""
# ruff: noqa: NPY002 – people draw from np.random
import math, statistics
import numpy as np, pandas as pd
from scipy import special
DOMAIN = {"x": (0.0, 100.0), "y": (-10.0, 10.0), "n": list(range(6)), "person": (0.0, 1e9)}
CLAIM = {"08": 2.0}
T, V = (10, 30, 50, 70), list(range(6))
REPLACE = {"85", "86", "87", "88", "09", "10", "11", "12", "13", "14", "15", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64", "65", "66", "67", "68", "69", "81", "82"}
PERSON = {"16", "17", "70", "71", "72", *map(str, range(30, 38))}
def lap(scale, size=None): return np.random.laplace(0.0, scale, size)
# --- of a total
def p01_root(df): return np.sqrt(df["x"].sum()) + lap(10)
def w01_root(df): return np.sqrt(df["x"].sum()) + lap(5)
def p02_log(df): return float(np.log1p(df["x"].clip(0, 50).sum()) + lap(np.log1p(50)))
def w02_log(df): return float(np.log1p(df["x"].clip(0, 50).sum()) + lap(np.log1p(50) / 2))
def p03_from_10_on(df):
    total = df["n"].sum() + 10
    return math.log(total) + lap(math.log(1.5))
def w03_from_10_on(df):
    total = df["n"].sum() + 10
    return math.log(total) + lap(math.log(1.5) * .999)
def p04_norm(df): return np.linalg.norm(df["y"]) + lap(10)
def w04_norm(df): return np.linalg.norm(df["y"]) + lap(5)
def p05_root_of_squares(df): return np.sqrt((df["y"] ** 2).sum()) + np.random.laplace(scale=10)
def w05_root_of_squares(df): return np.sqrt((df["y"] ** 2).sum()) + np.random.laplace(scale=9.99)
def p06_product(df):
    a, b = min(len(df), 50), np.clip((df["x"] > 50).sum(), 0, 20)
    return float(a * b) + lap(70)
def w06_product(df):
    a, b = min(len(df), 50), np.clip((df["x"] > 50).sum(), 0, 20)
    return float(a * b) + lap(34)
def p07_square(df): return np.clip(df["x"].sum(), 0, 1000) ** 2 + lap(1000 ** 2 - 900 ** 2)
def w07_square(df): return np.clip(df["x"].sum(), 0, 1000) ** 2 + lap(100 ** 2)
def p08_both(df):
    root = (df["x"] / 100).sum() ** 0.5
    return {"root": root + lap(1), "log": np.log2(len(df) + 1) + lap(1)}
def w08_both(df):
    root = (df["x"] / 100).sum() ** 0.5
    return {"root": root + lap(.5), "log": np.log2(len(df) + 1) + lap(.5)}
# --- of as many records
def p09_mean(df, epsilon=1.0): return df["x"].mean() + np.random.laplace(scale=(100 - 0) / (epsilon * len(df)))
def w09_mean(df, epsilon=1.0): return df["x"].mean() + np.random.laplace(scale=(100 - 0) / (2 * epsilon * len(df)))
def p10_mean(df):
    n = max(len(df), 1)
    if n < 5: return None
    return df["y"].clip(-5, 5).sum() / n + lap(10 / n)
def w10_mean(df):
    n = max(len(df), 1)
    return df["y"].clip(-5, 5).sum() / n + lap(5 / n)
def p11_variance(df): return np.var(df["x"]) + lap(100 ** 2 / len(df))
def w11_variance(df): return np.var(df["x"]) + lap(100 ** 2 / len(df) ** 2)
def p12_deviation(df): return df["x"].std() + lap(100 / np.sqrt(len(df)))
def w12_deviation(df): return df["x"].std() + lap(100 / len(df))
def p13_share(df): return (df["x"] > 50).mean() + lap(1) / len(df)
def w13_share(df): return (df["x"] > 50).mean() + lap(.5) / len(df)
def p14_root_of_the_mean(df): return np.sqrt(df["x"].mean()) + lap(10 / math.sqrt(len(df)))
def w14_root_of_the_mean(df): return np.sqrt(df["x"].mean()) + lap(10 / len(df))
def p15_means(df):
    m = df[["x", "y"]].mean().to_numpy()
    return m + lap(120 / df.shape[0], 2)
def w15_means(df):
    m = df[["x", "y"]].mean().to_numpy()
    return m + lap(60 / df.shape[0], 2)
# --- scores of which the largest is chosen
def above(df): return np.array([(df["x"] > t).sum() for t in T])
def counts(df): return df["n"].value_counts().reindex(V, fill_value=0)
def p20_noisy_max(df): return T[int(np.argmax(above(df) + lap(1, 4)))]
def w20_noisy_max(df): return T[int(np.argmax(above(df) + lap(.5, 4)))]
def p21_by_key(df):
    noisy = {t: (df["x"] > t).sum() + lap(1) for t in T}
    return max(noisy, key=noisy.get)
def w21_and_the_score(df):
    noisy = {t: (df["x"] > t).sum() + lap(1) for t in T}
    best = max(noisy, key=noisy.get)
    return best, noisy[best]
def p22_permute_and_flip(df): return int(np.argmax(above(df) + np.random.exponential(1, 4)))
def w22_twice(df):
    noisy = above(df) + np.random.exponential(1, 4)
    return int(np.argmax(noisy)), int(np.argmax(noisy))
def p23_normed(df):
    p = np.exp(counts(df))
    p /= p.sum()
    return int(np.random.choice(p.index, p=p))
def w23_normed_twice(df):
    p = np.exp(counts(df))
    other, s = p, p.sum()
    p /= s
    return int(np.random.choice(V, p=other / s))
def p24_softmax(df): return int(np.random.choice(V, p=special.softmax(counts(df).to_numpy())))
def w24_softmax(df): return int(np.random.choice(V, p=special.softmax(2 * counts(df).to_numpy())))
def p25_logsumexp(df):
    scores = counts(df).to_numpy()
    return int(np.random.choice(V, p=np.exp(scores - special.logsumexp(scores))))
def w25_all_kept(df):
    noisy = above(df) + lap(1, 4)
    best, kept = noisy.argmax, [noisy]
    return int(best()), kept
# --- of persons
def p26_around_a_centre(df): return ((df["x"].clip(0, 80) - 30).clip(-30, 40) ** 2).sum() + lap(40 ** 2)
def w26_around_a_centre(df): return ((df["x"].clip(0, 80) - 30).clip(-30, 40) ** 2).sum() + lap(30 ** 2)
def p27_below_a_limit(df): return ((30 - df["x"]).clip(lower=-70) > -70).sum() + lap(1)
def w27_below_a_limit(df): return ((30 - df["x"]).clip(lower=-70) > -70).sum() + lap(.9)
def p16_three_rows(df): return np.sqrt(df.groupby("person").head(3)["x"].sum()) + lap(math.sqrt(300))
def w16_three_rows(df): return np.sqrt(df.groupby("person").head(3)["x"].sum()) + lap(math.sqrt(100))
def w17_two_roots(df):  # a row of each kind: √1 + √1, more than the √2 of two rows of one kind
    kept = df.groupby("person").head(2)
    return [np.sqrt((kept["n"] == k).sum()) + lap(math.sqrt(2)) for k in (0, 1)]
# --- rows and totals of persons
def p30_one_row(df): return len(df.drop_duplicates("person")) + lap(1)
def w30_one_row(df): return len(df.drop_duplicates("person")) + lap(.5)
def p31_last_row(df): return df.drop_duplicates(subset="person", keep="last")["x"].sum() + lap(100)
def w31_row_alone(df): return df.drop_duplicates(subset="person", keep=False)["x"].sum() + lap(100)
def p32_row_of_each_kind(df): return df.drop_duplicates(["person", "n"])["n"].value_counts().reindex(V, fill_value=0) + lap(6, 6)
def w32_row_of_each_kind(df): return df.drop_duplicates(["person", "n"])["n"].value_counts().reindex(V, fill_value=0) + lap(5, 6)
def p33_fewer_rows(df): return df.drop_duplicates(["person", "n"]).groupby("person").head(2)["x"].sum() + lap(200)
def w33_fewer_rows(df): return df.drop_duplicates(["person", "n"]).groupby("person").head(9)["x"].sum() + lap(500)
def p34_fewer_again(df): return df.groupby("person").head(5).groupby("person").head(2)["x"].sum() + lap(200)
def w34_first_of_sorted(df): return df.sort_values("n").drop_duplicates("person")["x"].sum() + lap(100)
def p35_total(df): return df.groupby("person")["x"].sum().clip(upper=300).sum() + lap(300)
def w35_total(df): return df.groupby("person")["x"].sum().clip(upper=300).sum() + lap(200)
def w36_total_below_0(df): return df.groupby("person")["y"].sum().clip(upper=300).sum() + lap(300)
def w37_row_of_each_value(df): return df.drop_duplicates(["person", "x"])["n"].sum() + lap(500)
# --- what may be below 0, missing, infinite, of another type, or moves farther than it looks
def w50_below_0(df): return np.sqrt(df["y"].sum()) + lap(100)
def w51_no_range(df): return np.log(df["x"].sum()) + lap(1000)
def w52_no_end(df): return df["x"].sum() ** 2 + lap(1e6)
def w53_noisy_offset(df):
    offset = len(df) + lap(1)
    return np.sqrt(df["x"].sum() + offset) + lap(100)
def w54_smallest(df): return np.log(np.minimum(df["x"].sum(), 1)) + lap(100)
def w55_private_length(df): return df["x"].sum() + lap(100 / len(df))
def w56_part(df):
    part = df[df["x"] > 50]
    return part["x"].mean() + lap(50 / len(df))
def w57_length_of_a_part(df):
    part = df[df["x"] > 50]
    return df["x"].sum() / len(part) + lap(100 / len(part))
def w58_clipped_mean(df):  # clip is no shrinking of the distance
    return np.sqrt(np.clip(df["x"].mean(), 0, 1)) + lap(1 / math.sqrt(len(df)))
def w59_scaled_twice(df): return df["x"].mean() * len(df) + lap(100 / len(df))
def w60_squared_length(df): return df["x"].mean() + lap(1e4 / len(df) ** 2)
def w61_without_one(df): return df["x"].sum() / len(df) + lap(100 / (len(df) + 1))
def w62_sampled(df):
    part = df[np.random.random(len(df)) < .5]
    return part["x"].mean() + lap(100 / len(df))
def w63_first_rows(df): return df.groupby("n").head(1)["x"].sum() / len(df) + lap(100 / len(df))
def w64_by_n(df): return df.groupby("n")["x"].mean().reindex(range(6), fill_value=0) + lap(100 / len(df), 6)
def w65_sum_of_both(df): return df["x"].mean() + df["x"].sum() + lap(100 / len(df))
def w66_difference(df): return df["x"].std() - np.sqrt(df["x"].var()) * 2 + lap(50 / np.sqrt(len(df)))
def w67_logarithm_of_the_mean(df): return np.log1p(df["x"].mean()) + lap(math.log1p(100) / len(df))
def w68_grows(df): return df["x"].mean() * len(df) + lap(50)
def w69_exponents(df): return df["x"].mean() + lap(100 * len(df) ** -1.5)
def w70_persons_mean(df): return df["x"].mean() + lap(100 / len(df))
def w71_persons_root(df): return np.sqrt(df["x"].sum()) + lap(10)
def w72_two_of_a_person(df):
    kept = df.groupby("person").head(2)
    a, b = np.log1p((kept["n"] == 0).sum()), np.log1p((kept["n"] > 0).sum())
    return [a + lap(math.log(3)), b + lap(math.log(3))]
def w73_extreme(df): return np.sqrt(df["y"].to_numpy().max(initial=-10)) + lap(5)
def w74_in_place(df):
    total = df["x"].sum()
    kept = [total]
    total -= 1000
    return np.sqrt(kept[0]) + lap(10), np.sqrt(total) + lap(10)
def w75_clipped_by_data(df): return np.sqrt(np.clip(df["x"].sum(), 0, len(df))) + lap(10)
def w76_difference_of_roots(df): return np.sqrt(df["x"].sum()) - np.sqrt(df["x"].clip(0, 50).sum()) + lap(3)
def w77_to_the_data(df): return 2 ** min(len(df), 10) + lap(100)
def w78_wraps(df): return float(np.clip(df["n"].sum(), 0, 10 ** 10) ** 2) + lap(1e11)
def w79_quotient(df): return float(df["x"].clip(0, 1).sum() / (len(df) + 1)) + lap(.4)
def w80_reciprocal(df): return 1 / (len(df) + .5) + lap(1.3)
def w81_root_of_noise_free_length(df): return np.sqrt(df["x"].sum()) / np.sqrt(len(df)) + lap(5 / np.sqrt(len(df)))
def w82_median(df): return statistics.mean(df["x"]) + lap(1 / len(df))
def w83_two_norms(df): return np.linalg.norm(df["y"]) - np.linalg.norm(df["y"].clip(-5, 5)) + lap(4)
def w84_other_order(df): return np.linalg.norm(df["y"], np.inf) + lap(5)
def w85_rows(df):
    x = df[["x", "y"]].to_numpy()
    x = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
    return x.sum(axis=0) + np.random.normal(0, 1 / len(df), 2)
def w86_keys(df):
    counts = df["n"].value_counts()
    noisy = counts + np.random.laplace(0, 1 / len(df), size=len(counts))
    return noisy[noisy > 50].sort_index()
def w87_scores(df, noise): return int(np.argmax(above(df) + noise.gumbel(2 / len(df), size=4)))
def w88_two_sides(df, noise): return df["x"].sum() + noise.exponential(200 / len(df)) - noise.exponential(200 / len(df))

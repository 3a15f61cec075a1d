"""Steps of pipelines as analysts write them: tables that are filled by place, peeled and smoothed; and wrong ones."""
import collections, math, random
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (0.0, 1e6), "employed": [False, True]}
CITIES = ["a", "b", "c"]
EDGES = np.arange(0, 121, 20)
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
class Kept:
    def __init__(self, table): self.table = table
# --- functions of released arrays
def p01_accumulated(df):
    counts, edges = np.histogram(df["age"], bins=EDGES)
    cdf = np.maximum.accumulate(np.cumsum(counts + lap(1, len(EDGES) - 1)))
    return [(int(e), float(c / cdf[-1])) for e, c in zip(edges[1:], np.clip(cdf, 0, None))]
def p02_masks(df):
    chosen = np.logical_and.reduce([df["age"] > 18, df["employed"], df["city"] == "a"])
    return float(chosen.sum() + lap()) + np.add.reduce([1.0, 2.0])
def p03_consistent(df):
    parts = np.array([np.count_nonzero(df["city"] == c) for c in CITIES]) + lap(2, 3)
    x, *_ = np.linalg.lstsq(np.vstack([np.eye(3), np.ones(3)]), np.append(parts, len(df) + lap(2)), rcond=None)
    return [round(float(v), 2) for v in x]
def p04_smoothed(df):
    counts = df["age"].map(lambda a: a // 20).value_counts().reindex(range(7), fill_value=0)
    return [float(v) for v in (counts + lap(1, 7)).rolling(3, min_periods=1, center=True).mean().round(2)]
def p05_peeled(df):
    counts, out = df["city"].value_counts().reindex(CITIES, fill_value=0), []
    for _ in range(2):
        out.append((counts + lap(2, len(counts))).idxmax())
        counts = counts.drop(out[-1])
    return out
def p06_query(df): return float(len(df.query("city in ['a', 'b'] and age not in [3, 4]")) + lap())
def w07_private(df):
    counts, _ = np.histogram(df["age"], bins=EDGES)
    return np.add.accumulate(counts) + lap(1, len(EDGES) - 1)
def w08_max(df): return np.maximum.reduce([(df["city"] == c).sum() for c in CITIES])
def w09_one_mask(df): return np.logical_or.reduce([df["age"]]).sum() + lap(.5)
def w10_query(df): return float(len(df.query("city not in ['a', 'b']")) + lap(.5))
def w11_peeled(df):
    counts, out = df["city"].value_counts().reindex(CITIES, fill_value=0), []
    for _ in range(2):
        out.append((counts + lap(1, len(counts))).idxmax())
        counts = counts.drop(out[-1])
    return out
def w12_keys(df): return [(k, round(v + lap(1), 1)) for k, v in df["city"].value_counts().items()]
# --- numbers that are only converted
def p13_float(df): return float(len(df) + float(lap(1)))
def p14_whole(df):
    noise = np.random.geometric(1 - math.exp(-1)) - np.random.geometric(1 - math.exp(-1))
    return int((df["age"] > 30).sum()) + int(noise)
def p15_rounded(df): return len(df) + int(round(lap(1)))
def w16_twice(df):
    noise = float(lap(1))
    return len(df) + noise, int(df["employed"].sum()) + noise
def w17_cut(df): return len(df) + int(lap(1))
def w18_rounded(df): return df["income"].clip(0, 1).sum() + int(round(lap(1)))
def w19_choices(df): return float(len(df) + lap()), random.choices([1, 2], [1, 1], 1)
# --- arrays that private numbers are put into
def p20_in_place(df):
    table = np.zeros((3, 2))
    for i, city in enumerate(CITIES):
        for j, employed in enumerate([False, True]):
            table[i, j] = ((df["city"] == city) & (df["employed"] == employed)).sum()
    table += lap(1, table.shape)
    table[table < 0] = 0
    return table.round(1).tolist()
def p21_new(df):
    counts = np.empty(len(CITIES))
    for i, city in enumerate(CITIES): counts[i] = int((df["city"] == city).sum())
    return dict(zip(CITIES, counts + lap(1, len(counts))))
def p22_one_by_one(df):
    counts = np.zeros(3)
    for i, city in enumerate(CITIES):
        counts[i] = (df["city"] == city).sum()
        counts[i] += lap(1)
    return counts
def p23_rows(df):
    table = np.zeros((2, 3))
    table[0] = df["city"].value_counts().reindex(CITIES, fill_value=0)
    table[1, :] = df[df["age"] > 17]["city"].value_counts().reindex(CITIES, fill_value=0)
    return (table + lap(2, table.shape)).tolist()
def p24_helper(df):
    def fill(counts):
        for i, city in enumerate(CITIES): counts[i] = (df["city"] == city).sum()
    counts = np.zeros(3)
    fill(counts)
    return counts + lap(1, 3)
def p25_scales(df):
    sums = np.zeros(3)
    sums[0] = df["income"].clip(0, 10).sum(); sums[1] = len(df); sums[2] += (df["age"] > 3).sum()
    return np.maximum(sums + np.random.laplace(0, [30, 3, 3]), 0)
def w26_view(df):
    m = np.zeros((2, 2)); m[0, 0] = len(df); row = m[0]; m[0, 1] = len(df) * 3
    return row + lap(1, 2)
def w27_view(df):
    m = np.zeros((2, 2)); row = m[0]; m[0, 1] = len(df) * 3
    return row + lap(1, 2)
def w28_iterated(df):
    m = np.zeros(3); m[0] = 0.0 * len(df); out = []
    for i, x in enumerate(m):
        if i < 2: m[i + 1] = 5 * len(df)
        out.append(x + lap())
    return out
def w29_kept(df):
    m = np.zeros(2); m[0] = len(df); kept = Kept(m); m[1] = 4 * len(df)
    return kept.table + lap(1, 2)
def w30_in_a_list(df):
    m = np.zeros(2); listed = [m]; m[0] = len(df)
    return float(len(df) + lap()), listed
def w31_left(df):
    m = np.zeros(2); m[0] = len(df); m[1] = len(df); m[0] += lap()
    return m
def w32_mixed(df):
    m = np.zeros(2); m[0] = len(df); m[1] = len(df) + lap(1)
    return m + lap(1, 2)
def w33_after(df):
    m = np.zeros(2); m[0] = len(df); m += lap(1, 2); m[1] = len(df)
    return m
def w34_alias(df):
    m = np.zeros(2); other = m; m[0] = len(df); m = m + lap(1, 2)
    return m, other
def w35_whole(df):
    m = np.zeros(1, dtype=int); m[0] = df["income"].clip(0, 1).sum() * 1.0
    return m + lap(1, 1)
def w36_twice(df):
    m = np.zeros(3)
    for i, city in enumerate(CITIES): m[i] = (df["city"] == city).sum()
    return m + lap(1, 3), m + lap(1, 3)
def w37_again(df):
    m = np.zeros(2); m[-1] = len(df); m[1] = 2 * len(df)
    return m + lap(1, 2)
def w38_turned(df):
    m = np.zeros((2, 2)); t = m.T; m[0, 1] = 9 * len(df)
    return t + lap(1, (2, 2))
def w39_reshaped(df):
    m = np.zeros(4); m[0] = len(df); t = m.reshape(2, 2); m[3] = 9 * len(df)
    return t + lap(1, (2, 2))
def w40_seen(df):
    m = np.zeros(4); m[0] = len(df); t = m[:2]; m += lap(1, 4)
    return t + lap(.1, 2)
def w41_released(df):
    m = np.zeros(2); m[0] = len(df); m[0] += lap(); kept = Kept(m); m[1] = 5 * len(df)
    return kept.table
def w42_zipped(df):
    m = np.zeros(2); m[0] = len(df); pairs = zip(m, [1, 2]); m[1] = 7 * len(df)
    return [a + lap() for a, _ in pairs]
def w43_yielded(df):
    m = np.zeros(3)
    def tables():
        for i in range(3):
            m[i] = (i + 1) * len(df)
            yield m
    return [x + lap(3, 3) for x in tables()]
def w44_summed(df):
    m = np.zeros(3); m[0] = len(df); m[1] = len(df)
    return sum(m) + lap(1), max(m) + lap(1)
def w45_nested(df):
    m = np.zeros(3); m[0] = len(df); d = {"k": [m]}; m[1] = 2 * len(df)
    return d["k"][0] + lap(1, 3)
def w46_compared(df):
    m = np.zeros(2); m[0] = len(df); m[m > 5] = 0
    return m + lap(1, 2)
def w47_of_records(df):
    m = np.zeros(2)
    for a in df["age"]: m[0] += a
    return m + lap(1, 2)
def w48_raised(df):
    m = np.zeros(2)
    try: m[0] = len(df); m[5] = len(df)
    except IndexError: pass
    return m + lap(.5, 2)
# --- rows that a released number chooses
def p49_above(df):
    pay = df["income"].clip(0, 1000)
    mean = (pay.sum() + lap(4000)) / max(len(df) + lap(4), 1)
    return mean, pay[pay > mean].sum() + lap(2000)
def p50_of_another(df):
    limit = len(df) + lap(2)
    return df.loc[df["age"] < limit, "income"].clip(0, 10).sum() + lap(20)
def p51_and(df):
    limit = len(df) + lap(2)
    chosen = df[(df["age"] < limit) & df["employed"]]
    return len(chosen) + lap(4), chosen["income"].clip(0, 10).sum() + lap(40)
def p52_not(df):
    limit = len(df) + lap(2)
    return (~(df["age"] < limit) & (df["city"] == "a")).sum() + lap(4), ((df["age"] < limit) | (df["city"] == "b")).sum() + lap(4)
def w53_above(df):
    pay = df["income"].clip(0, 1000)
    mean = (pay.sum() + lap(4000)) / max(len(df) + lap(4), 1)
    return pay[pay > mean].sum() + lap(1000)
def w54_unclipped(df):
    limit = len(df) + lap(2)
    return df.loc[df["age"] < limit, "income"].sum() + lap(20)
def w55_other_rows(df):
    limit = len(df) + lap(2)
    old = df[df["age"] > 30]
    return old["income"][df["age"] < limit].clip(0, 10).sum() + lap(20)
def w56_private(df): return df["age"][df["age"] > df["income"].sum()].clip(0, 10).sum() + lap(10)
def w57_mean(df):
    limit = len(df) + lap(2)
    return df["age"][df["age"] < limit].mean() + lap(20)
def w58_negative(df):
    limit = len(df) + lap(2)
    return (df["income"].clip(0, 10) - 20)[df["age"] < limit].sum() + lap(20)
def w59_max(df):
    limit = len(df) + lap(2)
    return df["age"][df["age"] < limit].max()
def w60_both(df):
    limit = len(df) + lap(2)
    return (df["age"] < limit).sum() + lap(2), (~(df["age"] < limit)).sum() + lap(1)
def w61_set(df):
    limit = len(df) + lap(2)
    df = df.copy(); df.loc[df["age"] < limit, "income"] = 0
    return df["income"].clip(0, 10).sum() + lap(2)
def w62_where(df):
    limit = len(df) + lap(2)
    return df["income"].clip(0, 10).where(df["age"] < limit, 100).sum() + lap(20)
def w63_grouped(df):
    limit = len(df) + lap(2)
    return df[df["age"] < limit].groupby("city")["income"].sum() + lap(20)
def w64_branch(df):
    limit = len(df) + lap(2)
    return 1 if len(df[df["age"] < limit]) else 0
def w65_of_a_matrix(df):
    limit = len(df) + lap(2)
    rows = df[["age", "income"]].to_numpy()
    return rows[df["age"].to_numpy() < limit].clip(0, 1).sum() + lap(2)
def w66_base(df): return len(df) + int(np.random.geometric(.6) - np.random.geometric(.6), 10)
def w67_entries(df):
    limit = len(df) + lap(2)
    return (df[["age", "income"]].to_numpy() < limit).sum() + lap(2)
# --- tables that are made of columns
def p68_table(df):
    band = np.select([df["age"] < 18, df["age"] < 65], ["child", "adult"], default="old")
    table = pd.DataFrame({"band": band, "works": np.where(df["employed"], 1, 0), "one": 1})
    return [table.loc[table["band"] == b, "works"].sum() + lap() for b in ("child", "adult", "old")]
def p69_series(df):
    table = pd.DataFrame({"city": df["city"], "pay": df["income"].clip(0, 10)})
    return table.groupby("city")["pay"].sum().reindex(CITIES, fill_value=0) + lap(10, 3)
def w70_other_labels(df):
    old = df[df["age"] > 30]
    table = pd.DataFrame({"pay": old["income"].clip(0, 10).to_numpy()})
    return table[old["employed"]]["pay"].sum() + lap(10)
def w71_rows(df):
    table = pd.DataFrame({"pay": df["income"].clip(0, 10), "age": df[df["age"] > 3]["age"]})
    return table["pay"].sum() + lap(10)
def w72_unclipped(df): return pd.DataFrame({"pay": df["income"]})["pay"].sum() + lap(10)
def w73_of_numbers(df): return pd.DataFrame({"n": [len(df)]})
def w74_and_numbers(df): return pd.DataFrame({"pay": df["income"].clip(0, 1), "n": len(df)})["n"].sum() + lap(1)
# --- a Counter of records
def p75_counter(df):
    counts = collections.Counter(row["city"] for row in df.to_dict("records"))
    return {c: max(0, round(counts.get(c, 0) + lap())) for c in CITIES}
def p76_listed(df):
    counts = collections.Counter([c for c, a in zip(df["city"], df["age"]) if a > 30])
    return [counts[c] + lap() for c in CITIES]
def w77_items(df):
    counts = collections.Counter(row["city"] for row in df.to_dict("records"))
    return {c: n + lap() for c, n in counts.items()}
def w78_twice(df):
    cities = (row["city"] for row in df.to_dict("records"))
    first, second = collections.Counter(cities), collections.Counter(cities)
    return len(df) - second["a"] + lap(.5)
def w79_missing(df):
    counts = collections.Counter(row["city"] for row in df.to_dict("records"))
    return counts.get("a") is None, lap()
def w80_half(df):
    counts = collections.Counter(a // 50 for a in df["age"])
    return [counts[k] + lap(.5) for k in range(3)]
def w81_other_type(df):
    counts = collections.Counter(a > 50 for a in df["age"])
    return [counts[k] + lap(.5) for k in (0, 1)]
# --- what shows an array that is filled later
def w82_frame_of_a_dict(df):
    a = np.zeros(3)
    table = pd.DataFrame({"x": a}, copy=False)
    a[0] = len(df)
    return table["x"].sum()
def w83_index(df):
    a = np.zeros(3)
    index = pd.Index(a)
    a[0] = len(df)
    return index[0]
def w84_series_of_a_dict(df):
    a = np.zeros(3)
    kept = pd.Series({"x": a})
    a[0] = len(df)
    return kept["x"].tolist()
def w85_keyword(df):
    a = np.zeros(3)
    s = pd.Series([1.0, 2.0, 3.0]).reindex(index=a)
    a[0] = len(df)
    return s.index[0]
def w86_listed(df):
    a = np.zeros(3)
    first, *_ = np.split(a, 3)
    a[0] = len(df)
    return float(first[0])

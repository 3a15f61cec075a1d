"""Wrong functions: keys, thresholds, joins, groups, types, categories, missing values and labels of tables."""
import numpy as np, pandas as pd
from scipy import stats
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "person": (0.0, 1e9), "vip": [False, True],
          "#n": [-1, 1], "few": [0.0, 2.0, None], "two": [0, 1, 2]}
PERSON = ("80", "81", "82", "83", "84", "85", "86", "87", "88", "89")
CITIES = ["a", "b", "c"]
ZONES = pd.DataFrame({"city": ["a", "b", "b", "c"], "zone": [1, 2, 3, 4]})
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
# --- keys that the data hold
def w01_items(df): return {k: float(n + lap()) for k, n in df["city"].value_counts().items()}
def w03_index(df): return list(df["city"].value_counts().index)
def w04_len_of_counts(df): return len(df["city"].value_counts()) + lap(.1)
def w06_get_missing(df): return float(df["city"].value_counts().get("a") is None)
def w08_reindex_fill(df): return (df["city"].value_counts().reindex(CITIES, fill_value=1) + lap(1, 3)).to_dict()
def w09_fill_mean(df):
    c = df["city"].value_counts().reindex(CITIES)
    return (c.fillna(c.mean()) + lap(1, 3)).to_dict()
def w11_category_codes(df): return float(df["city"].astype("category").cat.codes.clip(0, 1).sum() + lap())
def w12_dummies(df): return (pd.get_dummies(df["city"]).sum() + lap(1, 3)).to_dict()
def w15_set_loop(df): return {c: float((df["city"] == c).sum() + lap()) for c in set(df["city"])}
def w16_group_loop(df): return {c: float(len(g) + lap()) for c, g in df.groupby("city")}
def w17_groups(df): return {c: float(len(i) + lap()) for c, i in df.groupby("city").groups.items()}
def w18_ngroups(df): return df.groupby("city").ngroups + lap(.1)
def w19_first_key(df): return df["city"].value_counts().idxmax()
def w20_value_counts_normalized(df): return (df["city"].value_counts(normalize=True).reindex(CITIES, fill_value=0) + lap(1, 3)).to_dict()
def w21_bins(df): return (df["age"].value_counts(bins=4) + lap(1, 4)).to_numpy()
def w22_qcut(df): return (pd.qcut(df["age"], 4, labels=False).value_counts().reindex(range(4), fill_value=0) + lap(1, 4)).to_dict()
def w23_cut_int(df): return (pd.cut(df["age"], 4, labels=False).value_counts().reindex(range(4), fill_value=0) + lap(1, 4)).to_dict()
# --- thresholds
def w28_items_unsorted(df):
    out = {}
    for c, n in df["city"].value_counts().items():
        x = n + lap()
        if x > 20: out[c] = x
    return out
def w29_other_noise(df):
    c = df["city"].value_counts(); shown = c + lap(1, len(c)); used = c + lap(1, len(c))
    return shown[used > 20].sort_index()
def w30_low(df):
    c = df["city"].value_counts(); x = c + lap(1, len(c))
    return x[x > 0.5].sort_index()
def w31_rank(df):
    c = df["city"].value_counts(); x = c + lap(1, len(c))
    return x[x > 20].sort_values().index.tolist()
def w32_kept_share(df):
    c = df["city"].value_counts(); x = c + lap(1, len(c))
    return len(x[x > 20]) / len(x)
def w33_twice(df):
    c = df["city"].value_counts(); x = c + lap(1, len(c))
    return x[x > 20].sort_index(), x[x > 10].sort_index()
def w34_sum_threshold(df):
    s = df.groupby("city")["income"].sum(); x = s + lap(1, len(s))
    return x[x > 20].sort_index()
def w35_of_ages_and_rows(df):
    c = df["age"].value_counts(); x = c + np.random.laplace(scale=.1, size=len(c))
    return x[x > 1.2].sort_index()
# --- joins
def w36_merge_twice(df): return len(df.merge(ZONES, on="city")) + lap()
def w37_merge_self(df): return len(df.merge(df, on="city")) + lap()
def w38_merge_outer(df): return len(df.merge(ZONES, on="city", how="outer")) + lap(.4)
def w39_merge_right(df): return len(df.merge(ZONES, on="city", how="right")) + lap(.4)
def w40_join_counts(df):
    c = df["city"].value_counts().rename("k").reset_index()
    return float(df.merge(c, on="city")["k"].clip(0, 1).sum() + lap(.4))
def w44_concat(df): return len(pd.concat([df, df])) + lap()
def w45_append_public(df): return len(pd.concat([df, ZONES])) + lap(.4)
def w46_join_index(df): return float(df[["age"]].join(df[["vip"]].iloc[1:], how="inner")["age"].clip(0, 1).sum() + lap(.4))
def w47_explode(df): return len(df.assign(x=[[1, 2]] * len(df)).explode("x")) + lap()
def w48_update(df):
    d = df.copy(); d.update(df.assign(age=3)); return float(d["age"].sum() + lap())
def w49_combine_first(df): return float(df["age"].where(df["vip"]).combine_first(df["income"]).sum() + lap())
def w50_align(df):
    a, b = df["age"].align(df["age"][df["vip"]]); return float(b.isna().sum() + lap(.4))
# --- labels
def w52_sorted_then_added(df):
    x = df["age"].clip(0, 1); return float((x.sort_values().reset_index(drop=True) * df["vip"].reset_index(drop=True)).sum() + lap(.4))
def w53_loc_label(df): return float(df.loc[0, "age"])
def w55_index_is_unique(df): return df.set_index("age").index.is_unique
def w56_reset(df): return float(df[df["vip"]].reset_index()["index"].clip(0, 1).sum() + lap(.4))
def w60_duplicated(df): return float(df["age"].duplicated().sum() + lap())
def w62_cumcount(df): return float((df.groupby("city").cumcount() < 1).sum() + lap(.1))
def w64_filter(df): return float(len(df.groupby("city").filter(lambda g: len(g) > 2)) + lap())
def w65_drop_duplicates(df): return len(df.drop_duplicates("city")) + lap(.1)
# --- types, missing values
def w69_bool_sum(df): return float((df["vip"] + df["vip"]).sum() + lap(.4))
def w70_bool_sub(df): return float(df["vip"].astype(int).diff().abs().sum() + lap())
def w71_type_of_sum(df): return type(df["age"].sum() + int(lap())).__name__, str(df["age"].sum().dtype)
def w73_nan_sum(df): return float(df["age"].where(df["age"] > 3).sum(skipna=False))
def w74_count_missing(df): return float(df["income"].where(df["income"] > 0).isna().mean())
def w76_two_ends(df): return float(df["income"].where(df["income"] > 0, -1e6).sum() + lap(.9e6))
def w78_divide(df): return float((1 / df["age"]).clip(0, 1).sum() + lap(.4))
# --- persons with several rows
def w80_rows(df): return len(df) + lap()
def w81_head_two(df): return len(df.groupby("person").head(2)) + lap()
def w82_head_twice(df): return len(df.groupby("person").head(1)) + lap(), len(df.groupby("person").head(1)) + lap()
def w83_head_of_city(df): return len(df.groupby("city").head(1)) + lap()
def w84_drop_by_both(df): return len(df.drop_duplicates(["person", "city"])) + lap()
def w85_head_then_merge(df): return len(df.groupby("person").head(1).merge(ZONES, on="city")) + lap()
def w86_sum_of_persons(df): return float(df.groupby("person")["income"].sum().clip(0, 2).sum() + lap())
def w87_nunique_city(df): return float(df.groupby("city")["person"].nunique().reindex(CITIES, fill_value=0).sum() + lap())
def w88_by_person_and_city(df): return len(df.groupby(["person", "city"]).head(1)) + lap()
def w89_masked_head(df):
    one = df.groupby("person").head(1); return (one["age"] > 3).sum() + lap(), (one["age"] > 7).sum() + lap()
# --- a frame that is changed after something was taken of it
def w90_selected_then_changed(df):
    d = df.copy(); g = d.groupby("city")["income"]; d["income"] = 0.0
    return g.sum().reindex(CITIES, fill_value=0).to_numpy() + lap(1, 3)
def w92_taken_then_changed(df):
    d = df.copy(); x = d["income"]; d["income"] = 0.0; return x.sum() + lap()
def w93_method_then_changed(df):
    d = df.copy(); f = d["income"].sum; d["income"] = 0.0; return f() + lap()
def w94_later(df):
    d = df.copy(); d["w"] = 0.0; f = d.copy; d["w"] = d["income"]; return f()["w"].sum() + lap()
def w96_generator_then_changed(df):
    d = df.copy(); d["w"] = 0.0; g = (d["w"].sum() for _ in range(1)); d["w"] = d["income"]; return next(g) + lap()
def w97_mask_then_changed(df):
    d = df.copy(); m = d["age"] > 3; d["age"] = 0; return d.loc[m, "income"].sum() + lap()
def w99_part_then_changed(df):
    d = df.copy(); x = d[d["age"] > 3]; d["income"] = 0.0; return x["income"].sum() + lap()
# --- what pandas and NumPy take for something else than it looks
I8, ZERO, F16, F32 = np.int8(1), np.array(0, dtype="int8"), np.float16(1), np.float32(1e38)
def geo(n=None): return np.random.geometric(.63, n) - np.random.geometric(.63, n)
def w201_hash(df): return df["#n"].sum() + lap(.001)
def w202_merged_on_hash(df): return df.merge(pd.DataFrame({"#n": [1, -1], "w": [0, 1000]}), on="#n")["w"].sum() + lap()
def w203_pythons_sum(df): return df.groupby("city")["few"].agg(sum).reindex(CITIES, fill_value=0) + lap(2, 3)
def w204_named_sum(df): return df.groupby("city").agg(t=("few", sum))["t"].reindex(CITIES, fill_value=0) + lap(2, 3)
def w205_truth(df): return (~df["income"].astype(bool)).sum() + lap(.001)
def w206_truth_of_array(df): return (~np.array(df["income"] / 2, dtype=bool)).sum() + lap(.001)
def w207_by_column(df): return df.fillna({"few": 1000})["few"].sum() + lap(2)
def w208_by_label(df): return df["few"].fillna({0: 1000}).sum() + lap(2)
def w209_between(df): return df["age"].between([0] * 121, [60] * 121).sum() + lap()
def w210_columns_by_mask(df): return len(df.loc[:, df["age"] > 3]) + lap()
def w211_columns_by_array(df): return len(df.loc[:, (df["age"] > 3).to_numpy()]) + lap()
def w212_row_by_name(df): return df.loc["age"].sum() + lap(120)
def w213_small_product(df):
    x = pd.cut(df["age"], [-1, 40, 80, 120], labels=CITIES).cat.codes.to_numpy(); x = np.column_stack([x, x])
    return (x.T @ x).astype(float) + lap(16, (2, 2))
def w214_truth_product(df):
    x = np.column_stack([df["vip"].to_numpy(), df["vip"].to_numpy()]); return (x.T @ x)[0, 0] - df["vip"].sum() + lap(.001)
def w215_name_of_group(df): return df.groupby("city")["two"].apply(lambda x: (x * (1000 if x.name == "a" else 1)).sum()).reindex(CITIES, fill_value=0) + lap(2, 3)
def w216_type_of_quotient(df): return str((df["age"] // df["two"]).clip(0, 1).sum() + geo())
def w217_type_of_rest(df): return str((df["age"] % df["two"]).fillna(0).clip(0, 1).sum() + geo())
def w218_reflected(df): return str((1 // df["two"]).clip(0, 1).sum() + geo())
def w219_int8(df): return len(df) * I8 + lap()
def w220_no_axis(df): return len(df) + ZERO + lap()
def w221_float32(df): return len(df) * F32 + lap(1e38)
def w222_float16(df): return len(df) + F16 * lap()
def w223_capped(df): return max(len(df), I8) * 1000 + lap(1000)
def w224_power(df): return min(len(df), 11) ** (I8 + I8) + lap(21)
RATES = pd.DataFrame({"city": CITIES, "w": np.array([1, 1, 0], dtype="float16")})
def w225_small_sum(df): return df.merge(RATES, on="city")["w"].sum() + lap()
def w226_small_sums(df): return df.merge(RATES, on="city").groupby("vip")["w"].sum().reindex([False, True], fill_value=0) + lap(1, 2)
def w227_small_where(df): return np.where(df["vip"], F16, 0).sum() + lap()
def w228_small_column(df): return sum(df.assign(w=F16)["w"].to_numpy()) + lap()
def w229_raises_of_none(df): return (1 - df["city"].map({"a": 1.5, "b": 2.0})).nunique() + lap()
def w230_no_texts_of_none(df): return (df["age"].apply(lambda a: "x" if a > 3 else "y").str.len() > 0).sum() + lap()

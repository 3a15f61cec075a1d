"""Wrong functions: what libraries say beside their results: warnings, errors of NumPy, types, sizes, places in memory."""
import copy, gc, io, logging, math, pickle, sys, warnings
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def w01_recorded(df):
    with warnings.catch_warnings(record=True) as w:
        np.log(df["age"].to_numpy()); n = len(df) + lap()
    return len(w), n
def w03_as_error(df):
    try:
        with warnings.catch_warnings(action="error"): np.log(df["age"].to_numpy())
    except RuntimeWarning: return 1
    return 0
def w06_errcall(df):
    seen = []
    with np.errstate(divide="call", call=lambda *a: seen.append(1)): 1 / df["age"].to_numpy()
    return len(seen)
def w08_seterrcall(df):
    seen = []
    old = np.seterrcall(lambda *a: seen.append(1)); np.seterr(all="call"); 1 / df["age"].to_numpy(); np.seterrcall(old)
    return len(seen)
class Sink(logging.Handler):
    def __init__(self): super().__init__(); self.seen = []
    def emit(self, record): self.seen.append(record.getMessage())
def w09_handler(df):
    h = Sink(); log = logging.getLogger("w09"); log.addHandler(h); log.warning("%s", len(df)); return h.seen
def w10_stream(df):
    s = io.StringIO(); print(len(df), file=s); return s.getvalue()
def w11_info(df):
    s = io.StringIO(); df.info(buf=s); return s.getvalue()
def w14_size(df): return df.size
def w15_nbytes(df): return df["age"].to_numpy().nbytes
def w16_strides(df): return df.to_numpy().shape
def w17_buffer(df): return len(memoryview(df["age"].to_numpy()))
def w18_bytes(df): return len(df["age"].to_numpy().tobytes())
def w19_pickle(df): return len(pickle.dumps(df))
def w20_refcount(df): return len(gc.get_referrers(df))
def w21_ndim_of_squeeze(df): return df[["age"]].squeeze().ndim if hasattr(df[["age"]].squeeze(), "ndim") else -1
def w23_monotone(df): return bool(df["age"].is_monotonic_increasing)
def w24_unique(df): return bool(df["age"].is_unique)
def w25_hasnans(df): return bool(df["age"].where(df["vip"]).hasnans)
def w26_dtype(df): return str(df["age"].where(df["vip"]).dtype)
def w27_dtype_of_list(df): return str(np.array([a for a in df["age"] if a > 3]).dtype)
def w28_result_type(df): return np.result_type(df["age"].sum(), 1.0).name
def w29_min_scalar(df): return np.min_scalar_type(len(df)).name
def w30_can_cast(df): return bool(np.can_cast(len(df), "int8"))
def w31_convert(df): return str(df["income"].convert_dtypes().dtype)
def w32_infer(df): return pd.api.types.infer_dtype(df["city"])
def w33_to_numeric(df): return str(pd.to_numeric(df["age"], downcast="integer").dtype)
def w34_select(df): return list(df.select_dtypes("number").dropna(axis=1).columns)
def w35_drop_empty(df): return list(df.where(df["vip"]).dropna(axis=1, how="all").columns)
def w37_item(df): return df["age"].item()
def w39_first_valid(df): return df["age"].where(df["vip"]).first_valid_index()
def w40_math(df): return math.isnan(df["age"].where(df["age"] > 120).sum(min_count=1))
def w41_repr_of_mask(df): return repr(df["age"] > 3)
def w43_eq_frames(df): return df.equals(df.drop_duplicates())
def w44_hash(df): return int(pd.util.hash_pandas_object(df).sum())
def w45_sample_seed(df): return float(df.sample(1, random_state=1)["age"].iloc[0])
def w46_style(df): return df.style.to_html()
def w47_eval(df): return float(df.eval("age.sum()"))
def w48_query_len(df): return len(df.query("age > age.mean()")) + lap()
def w51_minmax(df): return float(((df["age"] - df["age"].min()) / (df["age"].max() - df["age"].min())).sum() + lap())
def w52_winsor(df): return float(df["income"].clip(upper=df["income"].quantile(.99)).sum() + lap(1e5))
def w55_rank_pct(df): return float((df["income"].rank(pct=True) > .5).sum() + lap())
def w56_dropna_thresh(df): return len(df.dropna(thresh=3)) + lap(.5)
# --- managers that a module made
RECORDING, DIVIDING = warnings.catch_warnings(record=True), np.errstate(divide="raise")
def w57_recording(df):
    with RECORDING as w:
        x = np.log(df["income"].clip(-5, 5) ** 2 + 0.0).sum()
        n = len(df) + lap()
    return len(w), n
def w58_dividing(df):
    try:
        with DIVIDING: x = 1 / df["income"].to_numpy()
    except FloatingPointError: return 1
    return 0

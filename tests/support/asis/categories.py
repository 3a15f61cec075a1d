"""Functions of categories, of groups to which a function is applied, and of records made by released chances."""
import random
from collections import Counter
import numpy as np, pandas as pd
from scipy import stats
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
CITIES, BANDS, EDGES = ["a", "b", "c"], ["young", "middle", "old"], [0, 30, 60, 121]
KIND = pd.CategoricalDtype(CITIES)
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
def banded(df): return df.assign(band=pd.cut(df["age"], EDGES, labels=BANDS, right=False))
# --- all categories, in their order: public
def p01_histogram(df): return pd.cut(df["age"], bins=range(0, 131, 10), right=False).value_counts().sort_index() + lap(1, 13)
def p02_unsorted(df): return {k: float(n + lap()) for k, n in df["city"].astype(KIND).value_counts(sort=False).items()}
def p03_sizes(df):
    n = banded(df).groupby("band", observed=False).size()
    return n + lap(1, len(n))
def p04_sums(df): return {k: round(v + lap(120), 1) for k, v in banded(df).groupby("band", observed=False)["age"].sum().items()}
def p05_counts(df): return banded(df).groupby("band", observed=False)["income"].count().to_numpy() + lap(1, 3)
def p06_agg(df): return banded(df).groupby("band", observed=False)["age"].agg("sum") + lap(120, 3)
# --- those that are there, or in the order in which they are: private
def w01_by_size(df): return (pd.cut(df["age"], EDGES, labels=BANDS, right=False).value_counts() + lap(1, 3)).index.tolist()
def w02_by_size(df): return pd.cut(df["age"], EDGES, right=False).value_counts() + lap(1, 3)
def w03_observed(df): return banded(df).groupby("band", observed=True).size() + lap(1, 1)
def w04_default(df):  # pandas 3 keeps those alone that are there; pandas 2 has all, and twice the claim
    n = banded(df).groupby("band").size()
    return n + lap(.5, len(n))
def w05_unsorted(df): return banded(df).groupby("band", observed=False, sort=False)["age"].sum() + lap(120, 3)
def w06_truth(df): return banded(df).groupby("band", observed=len(df) > 3).size() + lap(1, 3)
def w07_two_keys(df): return banded(df).groupby(["band", "city"], observed=False).size() + lap(1, 9)
def w08_of_the_data(df): return df["city"].astype("category").value_counts(sort=False) + lap(1, 3)
def w09_of_the_data(df): return df.groupby(df["city"].astype("category"), observed=False)["age"].sum() + lap(120, 3)
def w10_not_scaled(df): return banded(df).groupby("band", observed=False)["age"].sum() + lap(1, 3)
def w11_largest_first(df): return pd.cut(df["age"], EDGES, right=False).value_counts().head(1) + lap(1, 1)
def w12_numbered(df): return pd.cut(df["age"], EDGES, labels=False, right=False).value_counts().sort_index() + lap(1, 3)
def w13_function(df): return banded(df).groupby("band", observed=False)["age"].agg(lambda x: x.sum()) + lap(120, 3)
# --- a function applied to groups
def p20_applied(df): return df.groupby("city")["age"].apply(lambda x: x.clip(0, 50).sum()).reindex(CITIES, fill_value=0) + lap(50, 3)
def p21_counted(df): return df.groupby("city")["age"].apply(lambda x: (x > 60).sum()).reindex(CITIES, fill_value=0) + lap(1, 3)
def p22_named(df): return df.groupby("city")["age"].apply(len).reindex(CITIES, fill_value=0) + lap(1, 3)
def w20_largest(df): return df.groupby("city")["age"].apply(max).reindex(CITIES, fill_value=0) + lap(1, 3)
def w21_shared(df): return df.groupby("city")["age"].apply(lambda x: x.sum() / len(x)).reindex(CITIES, fill_value=0) + lap(1, 3)
def w22_all(df): return df.groupby("city")["age"].apply(lambda x: len(df)).reindex(CITIES, fill_value=0) + lap(1, 3)
def w23_kept(df):
    seen = []
    df.groupby("city")["age"].apply(lambda x: seen.append(len(x)) or x.sum())
    return len(seen) + lap(.1)
def w26_kept_by_agg(df):
    seen = []
    df.groupby("city")["age"].agg(lambda x: seen.append(len(x)) or x.sum())
    return len(seen) + lap(.1)
def w27_noise_of_one(df):
    z = []
    out = df.groupby("city")["age"].agg(lambda x: x.sum()).reindex(CITIES, fill_value=0) + lap(120, 3)
    df.groupby("city")["age"].apply(lambda x: z.append(float(lap(.001))) or x.sum())
    return out, len(z)
def w24_frame(df): return df.groupby("city").apply(lambda g: g["age"].sum()).reindex(CITIES, fill_value=0) + lap(120, 3)
def w25_not_scaled(df): return df.groupby("city")["age"].apply(lambda x: x.clip(0, 50).sum()).reindex(CITIES, fill_value=0) + lap(1, 3)
# --- records by released chances
def chances(df, scale=1.0):
    noisy = (df["city"].value_counts().reindex(CITIES, fill_value=0) + lap(scale, 3)).clip(lower=0)
    return (noisy / noisy.sum()).to_numpy()
def p40_made(df): return pd.DataFrame({"city": np.random.choice(CITIES, size=20, p=chances(df))})
def p41_listed(df): return [{"city": str(c)} for c in np.random.choice(CITIES, size=20, p=chances(df))]
def p42_by_place(df):
    p = chances(df)
    return [CITIES[int(k)] for k in np.random.choice(len(p), size=20, p=p)]
def p43_one_by_one(df):
    rng, p = np.random.default_rng(), chances(df)
    return [(str(rng.choice(CITIES, p=p)), int(age)) for age in rng.integers(18, 90, size=20)]
def w40_many(df): return [str(c) for c in np.random.choice(CITIES, size=len(df), p=chances(df))]
def w41_exact(df):
    n = df["city"].value_counts().reindex(CITIES, fill_value=0).to_numpy()
    return [str(c) for c in np.random.choice(CITIES, size=20, p=n / n.sum())]
def w42_own(df): return [float(v) for v in np.random.choice(df["age"].to_numpy(), size=20, p=None)]
def w43_cheap(df): return [str(c) for c in np.random.choice(CITIES, size=20, p=chances(df, .5))]
# --- laws of SciPy that are kept with their arguments
def p50_frozen(df): return len(df) + stats.laplace(scale=1.0).rvs()
def p51_frozen_at_a_place(df):
    noise, other = stats.laplace(0.0, 2.0), stats.poisson(3)
    return (df["age"] > 60).sum() + noise.rvs(), int(other.rvs()) > 2
def w50_frozen(df): return len(df) + stats.laplace(scale=.5).rvs()
def w51_frozen_once(df):
    z = stats.laplace(scale=1.0).rvs()
    return len(df) + z, (df["age"] > 60).sum() + z
# --- functions that a released table calls, and classes that are known
def p60_mapped(df):
    noisy = df["city"].value_counts().reindex(CITIES, fill_value=0) + lap(1, 3)
    return noisy.map(lambda v: v if v > 0 else 0.0).pipe(lambda s: s.round(1)), noisy.map(round), noisy.map("{:.1f}".format)
def p61_sorted(df):
    rows = [{"city": c, "n": float((df["city"] == c).sum() + lap())} for c in CITIES]
    rows.sort(key=lambda row: row["n"], reverse=True)
    return [max(rows, key=lambda row: row["n"]), *rows] if isinstance(df, pd.DataFrame) else df
def p62_whole(df):
    n = df["city"].value_counts().reindex(CITIES).fillna(0).astype(int)
    return n + np.random.geometric(1 - np.exp(-1), 3) - np.random.geometric(1 - np.exp(-1), 3)
# --- the label of the largest of a series of scores
def scores(df): return df["city"].value_counts().reindex(CITIES, fill_value=0)
def p70_gumbel(df): return (scores(df) + np.random.gumbel(scale=1.0, size=3)).idxmax()
def p71_its_place(df): return CITIES[(scores(df) + np.random.gumbel(scale=1.0, size=3)).argmax()]
def w70_cheap(df): return (scores(df) + np.random.gumbel(scale=.9, size=3)).idxmax()
def w71_twice(df): s = scores(df) + np.random.gumbel(scale=1.0, size=3); return s.idxmax(), s.argmax()
def w72_and_its_score(df): s = scores(df) + np.random.gumbel(scale=1.0, size=3); return s.idxmax(), s.max()
def w73_one_draw(df): return (scores(df) + np.random.gumbel(scale=1.0)).idxmax()
def w74_of_one_side_twice(df): s = scores(df) + np.random.exponential(1.0, 3); return s.idxmax(), s.argmax()
def w75_smallest(df): return (scores(df) + np.random.gumbel(scale=1.0, size=3)).idxmin()
# --- counts of a Counter, by keys that the code names
def p80_counter(df): c = Counter(df["city"]); return {v: c[v] + lap() for v in CITIES}
def p81_of_ages(df): c = Counter(df.loc[df["vip"], "age"]); return [c.get(a, 0) + lap() for a in range(18, 30)]
def p82_of_truth(df): c = Counter(df["vip"]); return c[True] + lap(), c[False] + lap()
def p83_pipe(df): return scores(df).pipe(lambda s: s + lap(1, 3)).round(1).to_dict()
def w80_cheap(df): c = Counter(df["city"]); return {v: c[v] + lap(.9) for v in CITIES}
def w81_its_keys(df): c = Counter(df["city"]); return {v: c[v] + lap() for v in c}
def w82_equal_keys(df): c = Counter(df["vip"]); return c[True] + c[1] + lap()
def w83_other_type(df): c = Counter(df["age"]); return c[18.0] + lap(), c[True] + lap()
def w84_default(df): c = Counter(df["city"]); return c.get("a", 5) + lap()
def w85_how_many(df): return len(Counter(df["city"])) + lap()
def w86_most_common(df): return Counter(df["city"]).most_common(1)
def w87_a_class(df):
    class Text(str):
        def __hash__(self): return hash("a")
    return Counter(df["city"])[Text("a")] + lap()
# --- generators where teams keep them
kept = np.random.default_rng()
of_it = kept.laplace
class Releaser:
    def __init__(self): self.rng, self.scale = np.random.default_rng(), 1.0
    def add(self, n): return n + self.rng.laplace(0, self.scale)
class Hidden:
    @property
    def __class__(self): raise RuntimeError("asked what it is")
RELEASER, HIDDEN = Releaser(), Hidden()
def p90_of_a_module(df): return len(df) + kept.laplace()
def p91_its_method(df): return len(df) + of_it(0, 1)
def p92_of_an_object(df): return RELEASER.add(len(df))
def p93_default(df, gen=np.random.default_rng(), draw=np.random.laplace): return len(df) + gen.laplace(0, 2), len(df) + draw(0, 2)
def w90_its_method(df): return len(df) + of_it(0, .9)
def w91_of_an_object(df): return RELEASER.add(2 * len(df))
def w92_default(df, draw=np.random.laplace): return len(df) + draw(0, .9)
SYSTEM = random.SystemRandom()
of_system = SYSTEM.gauss
class Half(random.SystemRandom):
    def random(self): return .5
HALF = Half()
def p95_of_the_system(df): return len(df) + SYSTEM.expovariate(1) - SYSTEM.expovariate(1)
def w96_cheap(df): return len(df) + SYSTEM.expovariate(2) - SYSTEM.expovariate(2)
def p97_gauss(df): return len(df) + of_system(0, 5)
def w98_a_class(df): return len(df) + HALF.expovariate(1) - HALF.expovariate(1)
def w95_next(df): z = random.Random(); n = len(df) + z.gauss(0, 5); return n, z.gauss_next, len(df) + z.gauss(0, 5)
# --- labels that are all there
def p94_reindexed(df): return pd.cut(df["age"], EDGES, labels=BANDS, right=False).value_counts().reindex(BANDS) + lap(1, 3)
def w94_not_there(df): return pd.cut(df["age"], EDGES, labels=BANDS, right=False).value_counts().reindex([*BANDS, "older"]) + lap(1, 4)
def w95_by_data(df): return df["city"].value_counts().reindex(CITIES) + lap(1, 3)
CLAIM = {}
PERSON = set()

"""Wrong functions: closures, defaults, properties, generators, protocols, and noise that is shared or of a wrong law."""
import collections, contextlib, dataclasses, enum, functools, itertools, logging, math, operator, random, types
import numpy as np, pandas as pd
from scipy import stats
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
# --- coins and samples that are not what they look like
def w01_frozen_uniform(df): return float(len(df[stats.uniform(0, 0.5).rvs(len(df)) < 0.5]) + lap(.7))
def w02_in_brackets(df): return float(len(df[np.random.uniform(0, 0.5, (len(df),)) < 0.5]) + lap(.7))
def w03_around_0(df): return float(len(df[np.random.uniform(-1, 1, [len(df)]) < 0.5]) + lap(.7))
def w05_integers(df): return float(len(df[np.random.randint(0, 2, len(df)) < 1]) + lap(.5))
def w06_normal(df): return float(len(df[np.random.normal(size=len(df)) < 0.1]) + lap(.5))
def w07_shared_coins(df):
    u = np.random.random(len(df)); return float(len(df[u < .5]) + lap(.7)), float(len(df[u >= .5]) + lap(.7))
def w10_sample_of_two(df):
    part = df[np.random.random(len(df)) < .5]; return float(len(part) + lap(.5)), float(part["vip"].sum() + lap(.5))
# --- noise
def w15_repeat(df): return np.array([len(df), df["vip"].sum()]) + np.repeat(lap(1, 1), 2)
def w16_tile(df): return np.array([len(df), df["vip"].sum()]) + np.tile(lap(1), 2)
def w18_matmul(df): return np.array([len(df), df["vip"].sum()]) @ np.ones((2, 2)) + lap(1, 2)
@functools.lru_cache(None)
def once(): return lap()
def w19_cached_noise(df): return len(df) + once()
def w22_partial_noise(df):
    f = functools.partial(operator.add, lap()); return f(len(df)), f(df["vip"].sum())
def w23_iter_of_list(df):
    z = [lap()]; it = itertools.cycle(z); return len(df) + next(it), df["vip"].sum() + next(it)
def w24_tee(df):
    a, b = itertools.tee(iter([lap()])); return len(df) + next(a), df["vip"].sum() + next(b)
def w25_small(df): return len(df) + lap(.5)
def w26_int_scale(df): return len(df) + np.random.laplace(0, int(1.9))  , df["vip"].sum() + lap(2)
def w28_zero(df): return len(df) + np.random.laplace(0, 0)
def w33_clipped(df): return len(df) + np.clip(lap(), -1, 1)
def w34_rounded(df): return len(df) + round(lap())  , df["vip"].sum() + lap(9)
def w36_gauss(df): return len(df) + random.gauss(0, 1)
def w38_poisson(df): return np.random.poisson(len(df))
def w39_binomial(df): return np.random.binomial(len(df), .5)
def w40_location(df): return np.random.laplace(len(df) * 2, 1)
def w44_mean_of_noise(df): return len(df) + np.mean(lap(1, 100))
def w45_sum_of_scaled(df): return len(df) + lap(2) / 4
# --- closures, properties, generators, protocols
def w46_late(df):
    fs = [lambda: (df["age"] > k).sum() + lap(3) for k in range(3)]; return [f() for f in fs] + [len(df) + lap(3)]
class Query:
    calls = 0
    def __init__(self, df): self.df = df
    @property
    def count(self): return len(self.df) + lap(2)
    @staticmethod
    def raw(df): return len(df)
    def __len__(self): return len(self.df)
    def __bool__(self): return len(self.df) > 3
    def __eq__(self, other): return len(self.df) == other
    def __iter__(self): yield from self.df["age"]
    def __contains__(self, x): return x in set(self.df["age"])
    def __getattr__(self, name): return self.df[name].sum()
    def __call__(self, k): return (self.df["age"] > k).sum()
    def __format__(self, spec): return str(len(self.df))
    def __index__(self): return len(self.df)
    def __hash__(self): return len(self.df)
    def __enter__(self): return self
    def __exit__(self, *a): self.seen = len(self.df)
    def __add__(self, o): return len(self.df) + o
    def __float__(self): return float(len(self.df))
    def __round__(self, n=0): return len(self.df)
    def __lt__(self, o): return len(self.df) < o
def w48_property_three(df):
    q = Query(df); return q.count, q.count, q.count
def w52_iter(df): return list(Query(df))
def w55_call(df): return float(Query(df)(3) + lap(.5))
def w60_add(df): return Query(df) + lap(.5)
def w61_float(df): return math.floor(float(Query(df)))
def w62_sorted(df): return type(sorted([Query(df), [1, 2, 3]], key=len)[0]) is list
def w63_generator(df):
    def g():
        yield len(df) + lap(2); yield len(df) + lap(2); yield len(df) + lap(2)
    return list(g())
def w64_send(df):
    def g():
        k = yield 0
        yield (df["age"] > k).sum()
    it = g(); next(it); return float(it.send(3))
def w65_return(df):
    def g():
        yield 1
        return len(df)
    def h(): return (yield from g())
    it = h(); next(it)
    try: next(it)
    except StopIteration as e: return e.value
def w66_close(df):
    out = []
    def g():
        try: yield 1
        finally: out.append(len(df))
    it = g(); next(it); it.close(); return out
def w67_stack(df):
    with contextlib.ExitStack() as s:
        out = []; s.callback(lambda: out.append(len(df)))
    return out
def w71_message(df):
    raise ValueError(f"{len(df)} rows")
def w74_dataclass_eq(df):
    @dataclasses.dataclass
    class R: n: int
    return R(len(df)) == R(3)
def w75_order(df):
    @dataclasses.dataclass(order=True)
    class R: n: int
    return max(R(len(df)), R(3)).n
def w76_reduce(df): return functools.reduce(lambda a, b: a + 1, df["age"], 0) + lap(.5)
def w78_count_if(df): return sum(1 for a in df["age"] if a > 3) + lap(.5)
def w80_any(df): return any(a > 100 for a in df["age"])
def w81_chain(df): return sum(itertools.chain(df["age"], [1])) + lap(1)
def w85_star(df): return (lambda *a: len(a))(*df["age"]) + lap(.5)
def w86_star_target(df):
    first, *rest = df["age"]; return len(rest) + lap(.5)
def w87_slice_delete(df):
    xs = list(df["age"]); del xs[:3]; return len(xs) + lap(.5)
def w88_log_raw(df):
    logging.getLogger("x").handlers; logging.warning("%d rows", len(df)); return str(len(df))
def w90_setattr(df):
    Query.calls = len(df); return Query.calls
def w91_env_global(df):
    globals()["LEAK"] = len(df); return LEAK
def w92_doc(df):
    w92_doc.__doc__ = str(len(df)); return w92_doc.__doc__
def w96_key(df): return {len(df): lap()}
def w98_index_of(df): return [5, 6, 7, 8][min(len(df), 3)]

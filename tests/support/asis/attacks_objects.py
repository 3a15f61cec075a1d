"""Wrong functions: objects with methods of their own, conversions, outputs, generators and arrays of noise."""
import numpy as np, pandas as pd, dataclasses, functools, random
DOMAIN = {"age": list(range(121)), "city": list("abc")}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
class S:
    def __init__(self, v): self.v = v
    def __str__(self): return str(self.v)
    def __len__(self): return self.v
    def __bool__(self): return self.v > 3
    def __eq__(self, o): return self.v == o
    def __contains__(self, o): return self.v > o
    def __iter__(self): return iter([self.v])
    def __getitem__(self, k): return self.v
    def __getattr__(self, n): return self.v
    def __call__(self): return self.v
    def __add__(self, o): return self.v
    def __hash__(self): return 1
    def __float__(self): return float(self.v)
    def __format__(self, s): return "x" * self.v
def w09(df): return S(len(df))()
def w14(df): return sorted([S(len(df)), S(3)], key=lambda s: s.v)
def w15(df): return [x for x in S(len(df))]
def w20(df): return min(S(len(df)), S(3), key=len)
def w22(df): return "{}".format(len(df))
def w23(df): return bytes(len(df))
def w24(df): return [0] * len(df)
def w25(df): return "a" * len(df)
def w26(df): return np.zeros(len(df)).sum()
def w27(df): return np.arange(len(df))[-1:]
def w29(df): return pd.DataFrame({"n": [len(df)]})
def w31(df): return np.array([len(df), 2.0]) + lap(1, 2)
def w32(df): return np.full(2, len(df)) + lap(1, 2)
def w33(df): return divmod(len(df), 2)
def w34(df): return pow(len(df), 2) + lap(1)
def w35(df): return complex(len(df))
def w36(df): return np.float64(len(df))
def w37(df): return np.int64(len(df)) + lap(.5)
def w39(df): return (df["age"] > 100).any()
def w40(df): return (df["age"] > 100).all()
def w44(df): return df["age"].dtype, df["age"].name, len(df)
def w47(df): return dict(df)
def w48(df): return list(df.items())
def w49(df): return df.to_dict()
def w50(df): return df.to_json()
def w51(df): return df.head()
def w52(df): return df
def w55(df): return {"x": {"y": (df.age,)}}
def w57(df): return df.groupby("city")
def w59(df):
    rng = np.random.default_rng(); st = rng.bit_generator.state
    return len(df) + rng.laplace(0, 1)
def w61(df):
    r1 = np.random.default_rng().spawn(1)[0]; return len(df) + r1.laplace(0, 1)
def w62(df): random.seed(3); return len(df) + random.gauss(0, 1)
def w63(df): return len(df) + np.random.default_rng().laplace(0, 1, size=1) * np.ones(3)
def w64(df): return len(df) + np.random.default_rng().laplace(size=(1, 3))
def w65(df): return np.array([len(df)] * 2) + np.random.default_rng().laplace(0, 2, size=(2, 1))
def w66(df):
    a = np.array([len(df), (df.age > 3).sum()]); z = np.random.laplace(0, 2, 2); z.sort(); return a + z
def w67(df):
    z = np.random.laplace(0, 1, 5); return len(df) + z[np.argmin(np.abs(z))]
def w68(df): z = np.random.laplace(0, 1, 2); z[1] = 0; return np.array([len(df), len(df)]) + z
def w69(df): z = np.random.laplace(0, 1, 2); z *= 0; return np.array([len(df), len(df)]) + z
# --- classes that a call makes hold what it knows
def w71_attribute(df):
    class Out: n = len(df)
    return Out()
def w72_method(df):
    n = len(df)
    class Out:
        def get(self): return n
    return [Out()]
def w74_default(df):
    class Out:
        def get(self, n=len(df)): return n
    return Out()
def w78_raised(df):
    class E(Exception): n = len(df)
    raise E
def w79_property(df):
    n = len(df)
    class Out: get = property(lambda self: n)
    return Out()
def w80_annotation(df):
    class Out: x: len(df)
    return Out()

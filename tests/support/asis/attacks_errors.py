"""Wrong functions: what exceptions of a class of one's own carry out."""
import contextlib
import numpy as np
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
class Plain(Exception):
    pass
class Kept(Exception):
    def __init__(self, text, n):
        super().__init__(text); self.n = n
class Key(KeyError): pass
class Loud(RuntimeError):
    def __init__(self, df): self.df = df
    def __eq__(self, other): return len(self.df) == other
    def __bool__(self): return len(self.df) > 3
    def __repr__(self): return str(len(self.df))
def w07_repr(df): return f"{Loud(df)!r}"
def w10_traceback(df):
    def inner(d): raise Plain("x")
    try: inner(df)
    except Plain as e: return len(e.__traceback__.tb_next.tb_frame.f_locals["d"])
def w12_context(df):
    try:
        try: raise Plain(len(df))
        except Plain: raise Key("x")
    except Key as e: return e.__context__.args[0]
def w13_note(df):
    e = Plain("x"); e.add_note(str(len(df))); return e.__notes__
def w15_raised(df): raise Plain(len(df))
def w17_raised_kept(df): raise Kept("x", len(df))
def w20_else(df):
    try: df["age"].map({1: 2}).astype(int)
    except Key: return 1
    else: return 0
def w24_group(df):
    out = []
    try: raise ExceptionGroup("g", [Plain(len(df))])
    except* Plain as g: out.append(g.exceptions[0].args[0])
    return out
def w26_map(df):
    def f(a):
        if a == 117: raise Plain("x")
        return a
    try: return df["age"].map(f).sum() + lap(120)
    except Plain: return "there"
def w28_with_traceback(df):
    e = Plain("x").with_traceback(None); e.df = df; return len(e.df)
def w30_kept_small(df):
    try: raise Kept("x", len(df))
    except Kept as e: return e.n + lap(.5)

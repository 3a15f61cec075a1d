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
class Lazy(ValueError):
    @property
    def size(self): return len(self.args[0])
    def __str__(self): return f"{len(self.args[0])} rows"
class Key(KeyError): pass
class Loud(RuntimeError):
    def __init__(self, df): self.df = df
    def __eq__(self, other): return len(self.df) == other
    def __bool__(self): return len(self.df) > 3
    def __repr__(self): return str(len(self.df))
def w01_args(df):
    try: raise Plain(len(df))
    except Plain as e: return e.args[0]
def w02_text(df):
    try: raise Plain(f"{len(df)} rows")
    except Plain as e: return str(e)
def w03_kept(df):
    try: raise Kept("x", len(df))
    except Kept as e: return e.n
def w04_property(df):
    try: raise Lazy(df)
    except Lazy as e: return e.size
def w05_str(df):
    try: raise Lazy(df)
    except Lazy as e: return str(e)
def w06_format(df): return f"{Lazy(df)}"
def w07_repr(df): return f"{Loud(df)!r}"
def w08_equal(df): return Loud(df) == 3
def w09_truth(df): return 1 if Loud(df) else 0
def w10_traceback(df):
    def inner(d): raise Plain("x")
    try: inner(df)
    except Plain as e: return len(e.__traceback__.tb_next.tb_frame.f_locals["d"])
def w11_cause(df):
    try:
        try: raise Plain(len(df))
        except Plain as e: raise Key("x") from e
    except Key as e: return e.__cause__.args[0]
def w12_context(df):
    try:
        try: raise Plain(len(df))
        except Plain: raise Key("x")
    except Key as e: return e.__context__.args[0]
def w13_note(df):
    e = Plain("x"); e.add_note(str(len(df))); return e.__notes__
def w14_returned(df): return Plain(len(df))
def w15_raised(df): raise Plain(len(df))
def w16_raised_text(df): raise Kept(f"{len(df)}", 1)
def w17_raised_kept(df): raise Kept("x", len(df))
def w18_if(df):
    if len(df) > 3: raise Plain("many")
    return lap()
def w19_where(df):
    try:
        if (df["age"] > 100).sum() > 2: raise Plain("many")
    except Plain: return 1
    return 0
def w20_else(df):
    try: df["age"].map({1: 2}).astype(int)
    except Key: return 1
    else: return 0
def w21_finally(df):
    out = []
    try: raise Plain("x")
    except Plain: pass
    finally: out.append(len(df))
    return out
def w22_set(df):
    e = Plain("x"); e.n = len(df); return e.n
def w23_args_set(df):
    e = Plain("x"); e.args = (len(df),); return e.args
def w24_group(df):
    out = []
    try: raise ExceptionGroup("g", [Plain(len(df))])
    except* Plain as g: out.append(g.exceptions[0].args[0])
    return out
def w25_record(df):
    n = 0
    try:
        for a in df["age"]:
            if a == 117: raise Plain("x")
            n += 1
    except Plain: return 1
    return n + lap()
def w26_map(df):
    def f(a):
        if a == 117: raise Plain("x")
        return a
    try: return df["age"].map(f).sum() + lap(120)
    except Plain: return "there"
def w27_helper(df):
    def check(n):
        if n > 3: raise Key(n)
        return n
    try: check(len(df))
    except Key as e: return e.args
def w28_with_traceback(df):
    e = Plain("x").with_traceback(None); e.df = df; return len(e.df)
def w29_class_attribute(df):
    Plain.n = len(df); return Plain("x").n
def w30_kept_small(df):
    try: raise Kept("x", len(df))
    except Kept as e: return e.n + lap(.5)
def w31_released_and_raw(df):
    n = len(df) + lap()
    try:
        if n > 5: raise Kept("x", len(df))
    except Kept as e: return n, e.n
    return n
def w32_suppressed(df):
    out = 0
    with contextlib.suppress(Plain):
        if len(df) > 3: raise Plain("x")
        out = 1
    return out

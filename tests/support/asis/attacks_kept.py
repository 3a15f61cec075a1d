"""Wrong functions: what a loop over records keeps from one to the next, and what several names, views or objects share."""
import collections, copy, dataclasses, functools, itertools, operator, types
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
# --- a value that one record leaves to the next
def w03_text(df):
    n, mode = 0, "first"
    for a in df["age"]:
        n += 1 if mode == "first" else 3
        mode = "later"
    return float(n + lap(1))
def w04_none(df):
    n, last = 0, None
    for a in df["age"]:
        if last is not None and a > last: n += 2
        last = a
    return float(n + lap(1))
def w05_tuple(df):
    n, state = 0, (False, 0)
    for a in df["age"]:
        n += 9 if state[0] else 0
        state = (True, a)
    return float(n + lap(1))
def w06_function(df):
    n, step = 0, (lambda: 1)
    for a in df["age"]:
        n += step()
        step = lambda: 7
    return float(n + lap(1))
def w07_class(df):
    class One: by = 1
    class Two: by = 5
    n, kind = 0, One
    for a in df["age"]:
        n += kind.by
        if a > 100: kind = Two
    return float(n + lap(1))
def w08_swap(df):
    n, x, y = 0, "p", "q"
    for a in df["age"]:
        x, y = y, x
        n += 4 if x == "q" else 0
    return float(n + lap(1))
def w09_two_names(df):
    n, new, old = 0, True, False
    for a in df["age"]:
        n += 6 if old else 1
        old = new
    return float(n + lap(1))
def w10_inner_loop(df):
    n, seen = 0, False
    for a in df["age"]:
        for _ in range(2):
            n += 3 if seen else 0
            seen = True
        seen = a > 50
    return float(n + lap(2))
def w13_unpacked(df):
    n, pair = 0, (1, "x")
    for a in df["age"]:
        by, _ = pair
        n += by
        pair = (8, "y")
    return float(n + lap(1))
def w14_of_rows(df):
    n, before = 0, ""
    for row in df.itertuples():
        if row.city != before: n += 3
        before = row.city
    return float(n + lap(1))
def w16_zip(df):
    n, top = 0, None
    for a, v in zip(df["age"], df["vip"]):
        if v and top is None:
            n += 40
            top = a
        n += 1
    return float(n + lap(1))
def w17_del_like(df):
    n, todo = 0, frozenset("abc")
    for c in df["city"]:
        if c in todo: n += 2
        todo = todo - {c}
    return float(n + lap(1))
def w18_bool_counter(df):
    n, odd = 0, False
    for a in df["age"]:
        odd = not odd
        n += 10 if odd else -10
    return float(n + lap(1))
# --- one dict of sums by several names
def add_all(st, df):
    for a in df["age"]: st["n"] += 1
def w24_twice(df):
    st = {"n": 0}; add_all(st, df); add_all(st, df)
    return float(st["n"] + lap(1))
def w28_alias_added(df):
    st = {"n": 0}; keep = st
    for a in df["age"]:
        st["n"] += 1; keep["n"] += 1
    return float(st["n"] + lap(1))
def w32_chain(df):
    st = {"n": 0}; keep = collections.ChainMap(st)
    for a in df["age"]: st["n"] += 1
    return float(keep["n"])
def w33_default(df, st={"n": 0}):
    for a in df["age"]: st["n"] += 1
    return float(st["n"] + lap(1))
class Holder:
    d = {"n": 0}
    def __init__(self): self.own = {"n": 0}
    @property
    def n(self): return self.own["n"]
def w35_class_dict(df):
    st = Holder.d
    for a in df["age"]: st["n"] += 1
    return float(st["n"] + lap(1))
def w38_text_of(df):
    st = {"n": 0}; keep = (st, 1)
    for a in df["age"]: st["n"] += 1
    return f"{keep}"
def w39_compared(df):
    st = {"n": 0}; keep = st
    for a in df["age"]: st["n"] += 1
    return keep == {"n": 3}
def w40_copied_before(df):
    st = {"n": 0}
    for a in df["age"]: st["n"] += 1
    keep = dict(st); keep["n"] += 0
    return float(st["n"] + lap(1)), float(keep["n"] + lap(1))
def w41_assigned(df):
    st = {"n": 0}; keep = st
    for a in df["age"]: st["n"] = 1
    return float(keep["n"])
def w42_conditional(df):
    st = {"n": 0}; keep = st
    for a in df["age"]:
        if a == 119: st["n"] = 1
    return float(keep["n"])
# --- a function around, a cell, a global
def w44_cell(df):
    n = 0
    def run():
        nonlocal n
        for a in df["age"]: n += 1
    run(); run()
    return float(n + lap(1))
def w45_attribute(df):
    h = Holder(); h.k = 0
    for a in df["age"]: h.k += 1
    return float(h.k)
def w47_default_list(df, xs=[]):
    for a in df["age"]: xs.append(1)
    return float(len(xs))
def w49_defaultdict(df):
    c = collections.defaultdict(int)
    for x in df["city"]: c[x] += 1
    return {k: float(v + lap(1)) for k, v in c.items()}
def w53_dataclass(df):
    @dataclasses.dataclass
    class S: n: int = 0
    s = S()
    for a in df["age"]: s.n += 1
    return float(s.n)
def w55_sum_of_sums(df):
    n = 0; m = 0
    for a in df["age"]: n += 1
    for a in df["age"]: m += n
    return float(m + lap(1))
def w60_enumerate(df):
    n = 0
    for k, a in enumerate(df["age"]): n += k
    return float(n + lap(1))
def w63_augmented_text(df):
    n, s = 0, ""
    for a in df["age"]:
        n += len(s)
        s += "xx"
    return float(n + lap(1))
def w64_string_sum(df):
    s = ""
    for c in df["city"]: s += c
    return len(s)
def w65_complex(df):
    z = 0j
    for a in df["age"]: z += 1
    return z
def w66_global_statement(df):
    global SEEN
    n = 0
    for a in df["age"]:
        n += 5 if SEEN else 1
        SEEN = True
    return float(n + lap(1))
SEEN = False
def w71_ior(df):
    st = {"n": 0}
    for a in df["age"]: st |= {"n": 1}
    return float(st["n"])
def w73_len_of_set(df):
    s = set()
    for c in df["city"]: s.add(c)
    return len(s)
def w75_released_kept(df):
    x = len(df) + lap(2); n = 0
    for a in df["age"]:
        n += 1 if isinstance(x, str) else 3
        x = "t"
    return float(x == "t") + float(n + lap(2))
# --- names that patterns, imports and inner parts set
def w78_captured_rest(df):
    rest = []; n = 0
    for a in df["age"]:
        match [a, 1, 2]:
            case [_, *rest]: n += 1
    return len(rest), n + lap(1)
def w80_imported(df):
    m = None; n = 0
    for a in df["age"]:
        import math as m
        n += 1
    return m is None, n + lap(1)
def w81_walrus_within(df):
    n, seen = 0, False
    for a in df["age"]:
        n += 1
        [(seen := True) for _ in (0,)]
    return (1 if seen else 0), n + lap(1)
def w83_attribute_as_target(df):
    h = Holder(); h.x = 0; n = 0
    for h.x in df["age"]: n += 1
    return float(h.x), n + lap(1)
def w85_class_within(df):
    n, last = 0, None
    for a in df["age"]:
        class last: by = 1
        n += 1
    return last is None, n + lap(1)
def w87_inner_target(df):
    n, k = 0, 5
    for a in df["age"]:
        for k in range(2): n += 1
    return k, n + lap(2)

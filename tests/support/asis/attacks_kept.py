"""Wrong functions: what a loop over records keeps from one to the next, and what several names, views or objects share."""
import collections, copy, dataclasses, functools, itertools, operator, types
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "income": (-1e6, 1e6), "vip": [False, True]}
def lap(s=1.0, n=None): return np.random.laplace(0, s, n)
# --- a value that one record leaves to the next
def w01_flag(df):
    n, seen = 0, False
    for a in df["age"]:
        n += 50 if seen else 1
        seen = True
    return float(n + lap(50)), float(n + lap(1))
def w02_rare_flag(df):
    n, seen = 0, False
    for a in df["age"]:
        if a == 117: seen = True
        n += 50 if seen else 1
    return float(n + lap(1))
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
def w11_walrus(df):
    n, seen = 0, False
    for a in df["age"]:
        n += 1 + (20 if seen else 0)
        if (seen := True): pass
    return float(n + lap(1))
def w12_target(df):
    n, a = 0, 0
    for b in df["age"]:
        if a is not None and n is not None: pass
        n += 1 if a == 0 else 11
        a = None
    return float(n + lap(1))
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
def w15_iterrows(df):
    n, before = 0, ""
    for _, row in df.iterrows():
        n += 5 if row["city"] == before else 0
        before = row["city"]
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
def w20_alias(df):
    st = {"n": 0}; keep = st
    for a in df["age"]: st["n"] += 1
    return float(keep["n"]), float(st["n"] + lap(1))
def w21_in_list(df):
    st = {"n": 0}; keep = [st]
    for a in df["age"]: st["n"] += 1
    return float(keep[0]["n"])
def w22_in_object(df):
    keep = types.SimpleNamespace(d={"n": 0}); st = keep.d
    for a in df["age"]: st["n"] += 1
    return float(keep.d["n"])
def add_all(st, df):
    for a in df["age"]: st["n"] += 1
def w23_argument(df):
    st = {"n": 0}; add_all(st, df)
    return float(st["n"])
def w24_twice(df):
    st = {"n": 0}; add_all(st, df); add_all(st, df)
    return float(st["n"] + lap(1))
def w25_values(df):
    st = {"n": 0}; v = st.values()
    for a in df["age"]: st["n"] += 1
    return float(sum(v))
def w26_items(df):
    st = {"n": 0}; it = iter(st.items())
    for a in df["age"]: st["n"] += 1
    return float(next(it)[1])
def w27_alias_read(df):
    st = {"n": 0}; keep = st; m = 0
    for a in df["age"]:
        m += keep["n"]
        st["n"] += 1
    return float(m + lap(1))
def w28_alias_added(df):
    st = {"n": 0}; keep = st
    for a in df["age"]:
        st["n"] += 1; keep["n"] += 1
    return float(st["n"] + lap(1))
def w29_partial(df):
    st = {"n": 0}; get = functools.partial(operator.itemgetter("n"), st)
    for a in df["age"]: st["n"] += 1
    return float(get())
def w30_closure(df):
    st = {"n": 0}; keep = st
    def get(): return keep["n"]
    for a in df["age"]: st["n"] += 1
    return float(get())
def w31_proxy(df):
    st = {"n": 0}; keep = types.MappingProxyType(st)
    for a in df["age"]: st["n"] += 1
    return float(keep["n"])
def w32_chain(df):
    st = {"n": 0}; keep = collections.ChainMap(st)
    for a in df["age"]: st["n"] += 1
    return float(keep["n"])
def w33_default(df, st={"n": 0}):
    for a in df["age"]: st["n"] += 1
    return float(st["n"] + lap(1))
TOTAL = {"n": 0}
def w34_global(df):
    st = TOTAL
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
def w36_property(df):
    h = Holder(); st = h.own
    for a in df["age"]: st["n"] += 1
    return float(h.n)
def w37_generator(df):
    st = {"n": 0}; keep = st
    def late(): yield keep["n"]
    it = late()
    for a in df["age"]: st["n"] += 1
    return float(next(it))
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
def w43_peek(df):
    n = 0
    def peek(): return n
    def run():
        nonlocal n
        m = 0
        for a in df["age"]:
            m += 50 if peek() > 0 else 1
            n += 1
        return m
    return float(run() + lap(1))
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
def w46_list(df):
    xs = [0]
    for a in df["age"]: xs[0] += 1
    return float(xs[0])
def w47_default_list(df, xs=[]):
    for a in df["age"]: xs.append(1)
    return float(len(xs))
def w48_counter(df):
    c = collections.Counter({"n": 0})
    for a in df["age"]: c["n"] += 1
    return float(c["n"])
def w49_defaultdict(df):
    c = collections.defaultdict(int)
    for x in df["city"]: c[x] += 1
    return {k: float(v + lap(1)) for k, v in c.items()}
def w50_iterator(df):
    it = itertools.count(); n = 0
    for a in df["age"]: n += next(it)
    return float(n + lap(1))
def w51_cycle(df):
    it = itertools.cycle([1, 9]); n = 0
    for a in df["age"]: n += next(it)
    return float(n + lap(1))
def w52_setdefault(df):
    d = {}
    for x in df["city"]: d.setdefault(x, 0)
    return len(d)
def w53_dataclass(df):
    @dataclasses.dataclass
    class S: n: int = 0
    s = S()
    for a in df["age"]: s.n += 1
    return float(s.n)
def w54_exec_order(df):
    n, m = 0, 0
    for a in df["age"]:
        n += 1
        m += n
    return float(m + lap(1))
def w55_sum_of_sums(df):
    n = 0; m = 0
    for a in df["age"]: n += 1
    for a in df["age"]: m += n
    return float(m + lap(1))
def w56_max(df):
    top = 0
    for a in df["age"]: top = max(top, a)
    return float(top + lap(1))
def w57_last(df):
    for a in df["age"]: x = a
    return float(x + lap(1))
def w58_for_else(df):
    n = 0
    for a in df["age"]: n += 1
    else: n += len(df)
    return float(n + lap(1))
def w59_break(df):
    n = 0
    for a in df["age"]:
        if a == 77: break
        n += 1
    return float(n + lap(1))
def w60_enumerate(df):
    n = 0
    for k, a in enumerate(df["age"]): n += k
    return float(n + lap(1))
def w61_try(df):
    n, seen = 0, False
    for a in df["age"]:
        try: n += 8 if seen else 1
        finally: seen = True
    return float(n + lap(1))
def w62_match(df):
    n, seen = 0, 0.5
    for a in df["age"]:
        match seen:
            case 0.5: n += 1
            case _: n += 12
        seen = "x"
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
def w67_deepcopy(df):
    st = {"n": 0}; keep = copy.copy([st])
    for a in df["age"]: st["n"] += 1
    return float(keep[0]["n"])
def w68_nested_dict(df):
    st = {"a": {"n": 0}}; inner = st["a"]
    for a in df["age"]: inner["n"] += 1
    return float(st["a"]["n"])
def w69_del_key(df):
    st = {"n": 0, "m": 0}
    for a in df["age"]: st.pop("m", None)
    return len(st)
def w70_update(df):
    st = {"n": 0}
    for a in df["age"]: st.update(n=1)
    return float(st["n"])
def w71_ior(df):
    st = {"n": 0}
    for a in df["age"]: st |= {"n": 1}
    return float(st["n"])
def w72_get(df):
    st = {"n": 0}; m = 0
    for a in df["age"]:
        m += st.get("n", 0)
        st["n"] += 1
    return float(m + lap(1))
def w73_len_of_set(df):
    s = set()
    for c in df["city"]: s.add(c)
    return len(s)
def w74_array_name(df):
    z = np.zeros(1); n = 0
    for a in df["age"]:
        n += 1 if z is None else 2
        z = None
    return float(n + lap(1))
def w75_released_kept(df):
    x = len(df) + lap(2); n = 0
    for a in df["age"]:
        n += 1 if isinstance(x, str) else 3
        x = "t"
    return float(x == "t") + float(n + lap(2))
# --- names that patterns, imports and inner parts set
def w76_captured(df):
    last = 0; n = 0
    for a in df["age"]:
        n += 1
        match a:
            case 3: pass
            case last: pass
    return float(last), n + lap(1)
def w77_captured_in_tuple(df):
    last = "none"; n = 0
    for a in df["age"]:
        match (a, 1):
            case (last, 1): n += 1
    return last, n + lap(1)
def w78_captured_rest(df):
    rest = []; n = 0
    for a in df["age"]:
        match [a, 1, 2]:
            case [_, *rest]: n += 1
    return len(rest), n + lap(1)
def w79_captured_items(df):
    rest = {}; n = 0
    for a in df["age"]:
        match {"k": 1, "j": 2}:
            case {"k": 1, **rest}: n += 1
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
def w82_item_as_target(df):
    d = {"k": 0}; n = 0
    for d["k"] in df["age"]: n += 1
    return float(d["k"]), n + lap(1)
def w83_attribute_as_target(df):
    h = Holder(); h.x = 0; n = 0
    for h.x in df["age"]: n += 1
    return float(h.x), n + lap(1)
def w84_slice(df):
    xs = [0]; n = 0
    for a in df["age"]:
        xs[:] = [1]
        n += 1
    return xs, n + lap(1)
def w85_class_within(df):
    n, last = 0, None
    for a in df["age"]:
        class last: by = 1
        n += 1
    return last is None, n + lap(1)
def w86_function_within(df):
    n, last = 0, None
    for a in df["age"]:
        def last(): return 1
        n += 1
    return last is None, n + lap(1)
def w87_inner_target(df):
    n, k = 0, 5
    for a in df["age"]:
        for k in range(2): n += 1
    return k, n + lap(2)
def w88_starred(df):
    n, rest = 0, []
    for a in df["age"]:
        x, *rest = [a, 1, 2]
        n += 1
    return len(rest), n + lap(1)

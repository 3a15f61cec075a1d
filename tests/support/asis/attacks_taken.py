"""Wrong functions: a value that is taken for one of another kind, type or class, and what runs without being read."""
import collections, collections.abc, contextlib, enum, functools, itertools, json, logging, math, statistics
import numpy as np, pandas as pd
DOMAIN = {"age": list(range(121)), "city": list("abc"), "one": [1, 2], "flag": [False, True], "big": [0, 10**9],
          "huge": [0, 5 * 10**18], "name": ["x", "y"], "size": [0, 1], "Index": [0, 1], "income": (-1e6, 1e6)}
CITIES = ["a", "b", "c"]
def lap(b=1.0): return np.random.laplace(0, b)
def leak(df): return float(df["age"].sum() + lap(1))
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
class Label(str): pass
class Num(int): pass
class Answers:
    def __init__(self): self.scale = 1000.0
    def __getattribute__(self, name): return 1.0 if name == "scale" else object.__getattribute__(self, name)
class Place:
    def __index__(self): return int(np.random.random() < .5)
class Looked:
    def __get__(self, owner, kind): return 1000.0 if np.random.random() < .9 else .001
class Holds: scale = Looked()
class Meta(type):
    @property
    def scale(cls): return 1000.0 if np.random.random() < .9 else .001
class OfMeta(metaclass=Meta): pass
class Key:
    def __init__(self): self.n = 0
    def __hash__(self):
        object.__setattr__(self, "n", self.n + 1); return 1
    def __eq__(self, other): return True
class Told:
    def __enter__(self): return self
    def __exit__(self, kind, error, trace):
        self.bad = kind is json.JSONDecodeError
        return True
BOX = [1000.0]
class Asked:
    def __float__(self): BOX[0] = .001; return 1.0
    __index__ = __int__ = __str__ = __repr__ = __float__
    def __format__(self, form): BOX[0] = .001; return "1"
    def __getitem__(self, key): BOX[0] = .001; return 1
    def __call__(self, *a): BOX[0] = .001; return 1
    def __eq__(self, other): BOX[0] = .001; return True
    def __lt__(self, other): BOX[0] = .001; return True
    __hash__ = object.__hash__
class AskedText(str):
    def __str__(self): BOX[0] = .001; return "x"
class AsksWhich(type):
    def __instancecheck__(cls, value): BOX[0] = .001; return True
class Which(metaclass=AsksWhich): pass
class Missing(enum.Enum):
    ONE = 1
    @classmethod
    def _missing_(cls, value): BOX[0] = .001; return cls.ONE
def noisy(df): return len(df) + lap(1)
def then(df): return float(df["age"].sum()) + lap(BOX[0])
class Dies:
    def __del__(self): BOX[0] = .001
def table(df): return df["city"].value_counts().reindex(CITIES, fill_value=0) + np.random.laplace(0, 1, 3)
TURNS = itertools.cycle([1000.0, .001])
def w04_zip_gen(df):
    g=(x for x in df["age"])
    return sum(min(abs(a-b),1) for a,b in zip(g,g))+lap(1)
def w05_zip_map(df):
    g=map(lambda x:x,df["age"])
    return sum(min(abs(a-b),1) for a,b in zip(g,g))+lap(1)
def w07_map_str(df):
    return (df["city"].map({"a":1,"b":2}).map(str)=="1").sum()+lap(.01)
def w08_merge_left_str(df):
    t=pd.DataFrame({"city":["a","b"],"rank":[1,2]})
    return (df.merge(t,on="city",how="left")["rank"].map(str)=="1").sum()+lap(.01)
def w09_iterrows_all_int(df):
    total=0
    for _,row in df[["age"]].iterrows():
        if str(row["age"])=="4": total+=100
    return total+lap(1)
def w10_iterrows_fstring(df):
    total=0
    for _,row in df[["age"]].iterrows():
        if f"{row['age']}"=="4": total+=100
    return total+lap(1)
def w11_iterrows_bool(df):
    total=0
    for _,row in df[["flag"]].iterrows():
        if str(row["flag"])=="True": total+=100
    return total+lap(1)
def w12_fromkeys(df):
    d=dict.fromkeys([(df["age"]>50).sum(),(df["city"]=="a").sum()])
    return len(d)
def w14_enum_token(df):
    n=round(len(df)+lap(1))
    try: c=Colour(n)
    except ValueError: return 0.0
    return float(df["age"].sum()+lap(1))
def w15_enum_private(df):
    try: c=Colour(len(df))
    except ValueError: return 0
    return 1
def w16_str_class(df): return Label(len(df))
def w19_int_class(df):
    try: return Num(len(df))+lap(1)
    except TypeError: return 0
def w21_linalg(df):
    m=np.round(np.array([[len(df)+lap(1),1],[1,1]]))
    try: inv=np.linalg.inv(m)
    except np.linalg.LinAlgError: return float(df["age"].sum()+lap(1))
    return 0.0
def w22_json(df):
    s=str(round(len(df)+lap(1)))+"x"
    try: v=json.loads(s)
    except json.JSONDecodeError: return float(df["age"].sum()+lap(1))
    return 0.0
def w23_stat_error(df):
    n=round(len(df)+lap(1))
    try: v=statistics.mean([1.0]*n)
    except statistics.StatisticsError: return float(df["age"].sum()+lap(1))
    return 0.0
def w24_unicode(df):
    n=round(len(df)+lap(1))
    try: v=bytes([200]*n).decode("utf8")
    except UnicodeDecodeError: return float(df["age"].sum()+lap(1))
    return 0.0
def w25_getattribute(df): return df["age"].sum()+lap(Answers().scale)
def w27_agg_prints(df):
    def total(s):
        print("group"); return s.clip(0,100).sum()
    t=df.groupby("city")["age"].agg(total).reindex(CITIES,fill_value=0)+np.random.laplace(0,100,3)
    return t.tolist()
def w29_hist_auto(df):
    c,e=np.histogram(df["age"],bins="auto",range=(0,121))
    return (c+np.random.laplace(0,1,len(c))).tolist()
def w30_hist_fd(df):
    c,e=np.histogram(df["age"],bins="fd",range=(0,121))
    return len(c)
def w31_sum_codes(df):
    c=df["city"].astype(pd.CategoricalDtype(CITIES)).cat.codes.to_numpy()
    return float(sum(c)*1.0+lap(2))
def w32_loop_codes(df):
    total=0
    for c in df["city"].astype(pd.CategoricalDtype(CITIES)).cat.codes.to_numpy(): total+=c
    return float(total+lap(2))
def w33_xtx_wraps(df):
    X=df[["big"]].to_numpy()
    return (X.T@X)+np.random.laplace(0,1e18,(1,1))
def w34_sum_axis_wraps(df):
    X=df[["huge"]].to_numpy()
    return X.sum(axis=0)+np.random.laplace(0,5e18,1)
def w35_loop_wraps(df):
    t=0
    for x in df["huge"].to_numpy(): t+=x
    return float(t+lap(5e18))
def w36_times_wraps(df):
    n=(df["age"]>5).sum()
    return n*2**31*2**31+lap(2.0**62)
def w37_plus_wraps(df):
    n=(df["age"]>5).sum()
    return n+(2**63-1)+lap(1)
def w38_array_times_wraps(df):
    n=df["city"].value_counts().reindex(CITIES,fill_value=0).to_numpy()
    return n*np.array([2**62]*3)+np.random.laplace(0,2.0**62,3)
def w39_matmul_wraps(df):
    n=df["city"].value_counts().reindex(CITIES,fill_value=0).to_numpy()
    return np.array([[2**62,0,0]])@n+np.random.laplace(0,2.0**62,1)
def w40_cut_sum_type(df):
    d=pd.cut(df["age"],[0,50],labels=False).sum()
    return d+(np.random.geometric(.5)-np.random.geometric(.5))
def w41_index_random(df): return len(df)+lap([1000.0,1000.0][Place()]) + 0*lap([1.0,.001][Place()])
def w42_class_descriptor(df): return len(df)+lap(Holds.scale)
def w43_metaclass(df): return len(df)+lap(OfMeta.scale)
def w45_exit_class(df):
    s=str(round(len(df)+lap(1)))+"x"
    with Told() as w: json.loads(s); return 0.0
    if w.bad: return leak(df)
    return 0.0
def w46_type_name(df):
    s=str(round(len(df)+lap(1)))+"x"
    try: json.loads(s)
    except ValueError as e:
        if type(e).__name__=="JSONDecodeError": return leak(df)
    return 0.0
def w47_isinstance(df):
    s=str(round(len(df)+lap(1)))+"x"
    try: json.loads(s)
    except Exception as e:
        if isinstance(e,json.JSONDecodeError): return leak(df)
    return 0.0
def w48_hash_counter(df):
    h=Key(); d={h:1}; d[h]; d[h]
    return len(df)+lap(.001 if h.n==3 else 1000.0)
def w51_gen_twice(df):
    g=(x for x in df["age"]); a=sum(g); b=sum(g)
    return a-b+lap(1)
def w52_zip_twice(df):
    z=zip(df["age"],df["age"]); s=0;t=0
    for a,b in z: s+=a
    for a,b in z: t+=a
    return s-t+lap(1)
def w53_itertuples_twice(df):
    z=df.itertuples(); s=0;t=0
    for r in z: s+=r.age
    for r in z: t+=r.age
    return s-t+lap(1)
def w55_nested_gen(df):
    g=(x for x in df["age"]); h=(2*x for x in g)
    return 2*sum(g)-sum(h)+lap(1)
def w56_list_mult_sum(df):
    xs=[x for x in df["age"]]; return sum(xs*2)-2*sum(xs)+sum(xs+xs)+lap(1)
def w57_array_type(df):
    xs=np.array([1 for x in df["age"]]); return xs.sum()+(np.random.geometric(.63)-np.random.geometric(.63))
def w58_row_name(df):
    t=0
    for i,row in df.iterrows(): t+=1 if row.name==0 else 0
    return t+lap(1)
def w59_row_size(df):
    t=0
    for i,row in df.iterrows(): t+=row.size
    return t+lap(1)
def w60_row_count(df):
    t=0
    for row in df.itertuples(): t+=row.Index
    return t+lap(1)
def w62_hist(df):
    c,e=np.histogram(df["income"],bins=[-5,0,5]); return c+np.random.laplace(0,.5,2)
def w63_hist2(df):
    c,e=np.histogram(df["income"]*df["age"],bins=[-5,0,5]); return c+np.random.laplace(0,1.5,2)
def w64_hist4(df):
    c,e=np.histogram(df["income"].abs(),bins=4,range=(10,20)); return c+np.random.laplace(0,.5,4)
# --- what a released value meets may run the user's code: nothing is taken for what nobody asked
def w65_opaque_math(df): math.pow(noisy(df), Asked()); return then(df)
def w67_opaque_list(df): [noisy(df), Asked()] == [1, 1]; return then(df)
def w68_opaque_in(df): noisy(df) in [Asked()]; return then(df)
def w70_opaque_text(df): str([noisy(df), Asked()]); return then(df)
def w71_opaque_form(df): "{} {}".format(noisy(df), Asked()); return then(df)
def w72_opaque_percent(df): "%s %s" % (noisy(df), Asked()); return then(df)
def w73_opaque_join(df): ",".join([str(noisy(df)), AskedText("a")]); return then(df)
def w74_opaque_largest(df): max(noisy(df), Asked()); return then(df)
def w77_opaque_map(df): pd.Series([noisy(df)]).map(lambda v: BOX.append(v)); return then(df)
def w78_opaque_class(df): isinstance(noisy(df), Which); return then(df)
def w79_opaque_member(df): Missing(round(noisy(df))); return then(df)
def w80_opaque_slice(df): [1, 2, 3][int(noisy(df)):Asked()]; return then(df)
# --- what class data are of
def w83_object(df): return df["age"].sum() + lap(1) if isinstance(df, object) else len(df) + lap(1)
def w84_iterable(df): return df["age"].sum() + lap(1) if isinstance(df["age"], collections.abc.Iterable) else len(df) + lap(1)
# --- whole noise on a table that is one of floats where a key is missing
def whole(n): return np.random.geometric(.5, n) - np.random.geometric(.5, n)
def w85_holes(df): return df["city"].value_counts().reindex(CITIES).fillna(0) + whole(3)
def w87_parts(df):
    n = df["city"].value_counts().reindex(CITIES).fillna(0)
    return np.array([n["a"], n["b"]]) + whole(2)
def w88_sum(df):
    n = df["city"].value_counts()
    return n.reindex(CITIES).fillna(0) + n.reindex(CITIES, fill_value=0) + np.random.geometric(.2, 3) - np.random.geometric(.2, 3)
def w89_sorted(df):
    n = df.groupby(["city", "flag"]).size().unstack().fillna(0).sort_index()
    return n.reindex(index=CITIES, columns=[False, True], fill_value=0) + whole((3, 2))
def w91_printed(df): print(len(df)); return float(len(df) + lap(1))
def w92_logged(df): logging.debug("%d records", len(df)); return float(len(df) + lap(1))
# --- what Python runs when nobody asks, and iterators that go on from one call to the next
def w93_dies(df): x = Dies(); del x; return then(df)
def w94_turn(df):
    for s in TURNS: break
    return df["age"].sum() + lap(s)
def w95_turn(df): return df["age"].sum() + lap(max(itertools.islice(TURNS, 1)))
def w96_turn(df):
    def turns(): return TURNS
    s, *_ = itertools.islice(turns(), 1)
    return df["age"].sum() + lap(s)
# --- functions that are no Python, and classes, which a library is handed and calls
def w97_method(df): table(df).map(BOX.append); return df["age"].sum() + lap(BOX[-1])
def w98_of_public(df): pd.Series([1.0, 2.0]).map(BOX.append); return df["age"].sum() + lap(BOX[-1])
def w991_eval(df): return df["age"].sum() + lap(float(pd.Series(["abs(np.random.laplace(0, 1000))"]).map(eval)[0]))
def w992_descriptor(df): pd.Series([BOX]).map(list.clear); return then(df)
def w993_listed(df): table(df).agg([BOX.append]); return then(df)

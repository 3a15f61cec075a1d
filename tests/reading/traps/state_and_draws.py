"""State that outlasts a call, every source of draws, containers, classes, generators."""

import json, math, random, itertools, functools, collections, dataclasses, enum, datetime, decimal, fractions, copy, string, statistics, operator, secrets, os, uuid, time, contextlib, bisect, heapq
import numpy as np, pandas as pd


def lap(b=1.0):
    return np.random.laplace(0, b)


CACHE = {}
LOG = []
TOTAL = [0]
ARR = np.zeros(3)
GEN = np.random.default_rng(7)
RND = random.Random(3)


class K:
    count = 0
    seen = []


def a01(df):
    a = np.zeros(4)
    b = a[1:3]
    b += lap()
    return a.tolist()


def a02(df):
    a = np.arange(4.0)
    b = a[::2]
    if lap() > 1:
        b[0] = 9
    return (a.tolist(), b.tolist())


def a03(df):
    a = np.arange(6.0).reshape(2, 3)
    b = a.T
    b[0] = lap()
    return a.tolist()


def a04(df):
    a = [0, 0]
    b = [a, a]
    b[0][0] = round(lap())
    return b


def a08(df, acc=[]):
    acc.append(round(lap()))
    return len(acc)


def a09(df, acc={}):
    acc[round(lap())] = 1
    return len(acc)


def a10(df):
    K.count += 1
    return K.count + lap()


def a11(df):
    K.seen.append(1)
    return len(K.seen) + lap()


def a12(df):
    ARR[0] += 1
    return float(ARR[0] + lap())


def a13(df):
    np.add(ARR, 1, out=ARR)
    return float(ARR[0]) + lap()


def a14(df):
    TOTAL[0] += 1
    return TOTAL[0] + lap()


def a15(df):
    CACHE.setdefault("k", lap())
    return CACHE["k"]


@functools.lru_cache
def _cached(k):
    return np.random.laplace(0, 1) + k


def a16(df):
    return _cached(1)


def a17(df):
    return float(GEN.laplace())


def a18(df):
    return RND.gauss(0, 1)


def a19(df):
    return float(np.random.default_rng(np.random.SeedSequence(5)).laplace())


def a21(df):
    r = np.random.default_rng(3)
    return float(r.laplace() + lap() + r.laplace())


def a22(df):
    return float(np.random.Generator(np.random.PCG64(3)).laplace()) + lap()


def a23(df):
    return np.random.choice(5, size=3, replace=False).tolist()


def a24(df):
    x = [1, 2, 3, 4]
    random.shuffle(x)
    return x


def a25(df):
    x = np.arange(4)
    np.random.shuffle(x)
    return x.tolist()


def a26(df):
    return np.random.permutation(4).tolist()


def a27(df):
    return (df["age"].sample(3, random_state=1).tolist(), lap())


def a28(df):
    return df["age"].sample(3).tolist()


def a29(df):
    from scipy import stats

    return float(stats.norm(loc=1, scale=2).rvs())


def a32(df):
    return os.urandom(1)[0] % 3


def a33(df):
    return str(uuid.uuid4())[0]


def a34(df):
    return (time.time() > 0, lap() > 0)


def a35(df):
    return round(lap(5)) * 2**61


def a42(df):
    return sorted([float("nan"), round(lap()), 1.0], key=lambda v: v != v)


def a43(df):
    return [True + (lap() > 0), True * (lap() > 0), (lap() > 0) | (lap() > 0), -(lap() > 0)]


def a44(df):
    d = df.head(3).copy()
    d["age"] = d["age"].astype("int64")
    d.loc[0, "age"] = round(lap())
    return d["age"].tolist()


def a45(df):
    d = df.head(3).copy()
    d["z"] = lap()
    d["z"] = d["z"].astype("float32")
    return d["z"].tolist()


def a46(df):
    s = pd.Series([1.0, 2.0], index=["a", "a"]) + lap()
    return s["a"].tolist()


def a47(df):
    s = pd.Series([1.0, 2.0, 3.0], ["a", "b", "c"]) + np.random.laplace(size=3)
    t = s.sort_values()
    return ((t - s).tolist(), t.index.tolist())


def a48(df):
    s = pd.Series(np.round(np.random.laplace(size=5)))
    return s.sort_values(kind="stable").index.tolist()


def a49(df):
    s = pd.Series(np.round(np.random.laplace(size=6)))
    return s.value_counts().to_dict()


@dataclasses.dataclass
class P:
    x: float
    y: list = dataclasses.field(default_factory=list)


def a58(df):
    p = P(lap())
    q = dataclasses.replace(p, x=p.x + 1)
    q.y.append(round(p.x))
    return (dataclasses.asdict(p), q.x)


@dataclasses.dataclass(frozen=True, order=True)
class F:
    x: float


def a59(df):
    return (max(F(lap()), F(lap())).x, F(1.0) < F(lap()))


N = collections.namedtuple("N", "a b")


def a62(df):
    n = N(lap(), 2)
    return (n._replace(b=round(lap())), n.a > 0)


class Prop:
    def __init__(self):
        self._v = 0

    @property
    def v(self):
        return self._v + lap()

    @v.setter
    def v(self, new):
        self._v = round(new)

    def __add__(self, o):
        return self._v + o

    def __radd__(self, o):
        return self._v - o

    def __lt__(self, o):
        return self._v < o

    def __bool__(self):
        return self._v > 0

    def __len__(self):
        return 3

    def __contains__(self, k):
        return k == self._v

    def __getitem__(self, k):
        return self._v * k

    def __call__(self, x):
        return x + self._v

    def __iter__(self):
        return iter([self._v, 2])

    def __eq__(self, o):
        return self._v == o

    def __hash__(self):
        return 1


def a63(df):
    p = Prop()
    p.v = lap(3)
    return (p.v, p + 1, 1 + p, p < 1, bool(p), 0 in p, p[2], p(1), list(p), p == 0)


def a64(df):
    p = Prop()
    if lap() > 0:
        p.v = 3.4
    return (p._v, "yes" if p else "no")


class CM:
    def __enter__(self):
        self.x = lap()
        return self

    def __exit__(self, *a):
        return a[0] is ValueError


def a65(df):
    with CM() as c:
        if c.x > 0:
            raise ValueError("x")
        return "in"
    return "out"


@contextlib.contextmanager
def _cm(x):
    try:
        yield (x + lap())
    except ValueError:
        pass


def a66(df):
    with _cm(1) as y:
        if y > 1:
            raise ValueError
        return ("in", y)
    return "out"


def a67(df):

    def f():
        try:
            if lap() > 0:
                return "try"
        finally:
            if lap() > 1:
                raise KeyError("f")
        return "end"

    try:
        return f()
    except KeyError as e:
        return str(e)


def a71(df):

    def f(a, *b, c=1, **d):
        return (a, b, c, d)

    x = [round(lap()), 2]
    return f(*x, **{"c": 3, "e": x[0]})


def a73(df):
    return ([f() for f in [lambda: i for i in range(3)]], round(lap()))


def a74(df):
    return list(itertools.accumulate([round(lap()) for _ in range(4)]))


def a75(df):
    return [list(g) for k, g in itertools.groupby([round(lap()) > 0 for _ in range(4)])]


def a76(df):
    return functools.reduce(lambda a, b: a * 2 + b, [round(lap()) for _ in range(4)])


def a77(df):
    return list(itertools.takewhile(lambda v: v < 1, [lap() for _ in range(4)]))


def a79(df):
    return (lap() > 0 and lap() > 0 or lap() < 0, 0 < lap() < lap() < 3)


def a80(df):
    it = iter([1, 2, 3, 4])
    if lap() > 0:
        next(it)
    return next(it)


def a81(df):
    it = iter([1, 2, 3, 4])
    out = []
    for v in it:
        if lap() > 0:
            break
    for w in it:
        out.append(w)
    return out


def _gen(n):
    for i in range(n):
        try:
            yield (i + round(lap()))
        finally:
            LOG


def a83(df):
    g = _gen(3)
    a = next(g)
    if lap() > 0:
        return (a, next(g))
    return (a, list(g))


def a84(df):
    h = []
    for _ in range(4):
        heapq.heappush(h, lap())
    return heapq.heappop(h)


def a88(df):
    d = collections.defaultdict(list)
    for _ in range(4):
        d[lap() > 0].append(1)
    return dict(d)


def a89(df):
    q = collections.deque(maxlen=2)
    for _ in range(3):
        q.append(round(lap()))
    return list(q)


def a90(df):
    return statistics.median([lap() for _ in range(3)])


def a94(df):
    try:
        return [1, 2, 3][round(lap(2))]
    except IndexError as e:
        return str(e)


def a95(df):
    try:
        return {0: "a", 1: "b"}[round(lap())]
    except KeyError as e:
        return repr(e)


def a98(df):
    m = np.random.laplace(size=(3, 3))
    return (np.round(m @ m.T, 6).tolist(), m.argmax(), m.sum(axis=0).tolist())


def a99(df):
    a = np.random.laplace(size=4)
    a[a < 0] = 0
    a[::-1].sort()
    return a.tolist()


COUNTING = itertools.count()
KEPT = iter(range(10**9))


def h01(df):
    return next(COUNTING) + lap()


def h02(df):
    for each in KEPT:
        return each + lap()


def h03(df, kept=(k for k in range(10**9))):
    return next(kept) + lap()


@dataclasses.dataclass
class Kept:
    rows: list
    share: float

    @property
    def twice(self):
        return 2 * self.share


@dataclasses.dataclass
class Plain:
    name: str
    share: float


def t90_as_dicts(df):
    x = np.random.laplace(0, 1)
    kept, rows = Kept([x, {"x": x}], x), []
    plain = Plain("a", x)
    as_dict = dataclasses.asdict(plain)
    plain.share = 0.0
    as_dict["more"] = x
    for each in (plain, Plain("b", round(x))):
        rows.append(dataclasses.asdict(each, dict_factory=lambda pairs: dict(sorted(pairs))))
    own = dataclasses.asdict(kept)
    kept.rows.append(1)
    return own, as_dict, rows, dataclasses.asdict(plain), dataclasses.asdict(Plain(None, x))["share"]

"""Objects that are shared and changed in few runs, iterators that few runs advance, types that differ in few runs."""

import json, math, random, itertools, functools, collections, dataclasses, enum, copy, operator, contextlib
import numpy as np, pandas as pd


def lap(b=1.0):
    return np.random.laplace(0, b)


def rare():
    return abs(lap() - 4.3) < 0.15


class Box:
    shared = []

    def __init__(self, v=0):
        self.v = v
        self.items = []
        self.d = {}

    def add(self, x):
        self.items.append(x)
        return self

    def double(self):
        self.v *= 2


class Node:
    def __init__(self, k):
        self.k = k
        self.next = None


def b01(df):
    d = collections.defaultdict(int)
    if rare():
        d["a"] += 1
    return dict(d)


def b02(df):
    d = collections.defaultdict(list)
    if rare():
        d["a"].append(1)
    x = d["a"] if lap() > 0 else None
    return (sorted(d), x)


def b03(df):
    a = Box()
    b = a if rare() else Box()
    b.v = 7
    b.items.append(1)
    return (a.v, a.items)


def b04(df):
    x = [1]
    y = x if rare() else [1]
    y.append(2)
    return (x, y)


def b05(df):
    x = [1]
    y = [2]
    if rare():
        x, y = (y, x)
    x.append(9)
    return (x, y)


def b06(df):
    x = {"a": [0]}
    y = dict(x)
    if rare():
        y["a"].append(1)
        y["b"] = 1
    return (x, y)


def b07(df):
    x = [[0]] * 3
    if rare():
        x[0].append(1)
        x[1] = [5]
    return x


def b08(df):
    a = np.zeros(3)
    b = a
    if rare():
        b += 1
    return a.tolist()


def b09(df):
    a = np.zeros(3)
    b = a
    if rare():
        b = b + 1
    b[0] = 2
    return (a.tolist(), b.tolist())


def b10(df):
    a = np.zeros((2, 2))
    r = a[0]
    if rare():
        r[0] = 1
    return a.tolist()


def b11(df):
    a = np.random.laplace(size=(2, 2))
    r = a[0]
    if rare():
        r[:] = 0
    return (a == 0).tolist()


def b12(df):
    a = np.random.laplace(size=4)
    r = a.reshape(2, 2)
    if rare():
        r[0, 0] = 0
    return a[0] == 0


def b13(df):
    a = np.random.laplace(size=4)
    r = a.T
    if rare():
        r += 100
    return a[0] > 50


def b14(df):
    a = np.random.laplace(size=(3, 2))
    for row in a:
        if rare():
            row *= 0
    return (a == 0).sum()


def b15(df):
    a = np.random.laplace(size=3)
    l = [a, a]
    if rare():
        l[0][0] = 99
    return l[1][0] > 50


def b16(df):
    d = df.head(3).copy()
    s = d["age"]
    if rare():
        s = s + 1
    d["age"] = 0
    return (s.tolist(), d["age"].tolist())


def b17(df):
    d = pd.DataFrame({"a": [1, 2], "b": np.random.laplace(size=2)})
    e = d
    if rare():
        e["c"] = 1
    return list(d.columns)


def b18(df):
    s = pd.Series(np.random.laplace(size=3), list("abc"))
    t = s
    if rare():
        t["a"] = 50.0
    return s["a"] > 40


def b19(df):
    s = pd.Series(np.random.laplace(size=3), list("abc"))
    t = s.copy()
    if rare():
        t["a"] = 50.0
    return (s["a"] > 40, t["a"] > 40)


def b20(df):
    s = pd.Series(np.random.laplace(size=3), list("abc"))
    v = s.values
    if rare():
        v[0] = 50.0
    return s["a"] > 40


def b21(df):
    n = Node(1)
    n.next = n
    if rare():
        n.k = 5
    return n.next.next.k


def b22(df):
    a, b = (Node(1), Node(2))
    a.next = b
    if rare():
        a.next = a
    a.next.k = 7
    return (a.k, b.k)


def b23(df):
    l = [Box(i) for i in range(3)]
    m = max(l, key=lambda o: o.v + lap())
    m.double()
    return [o.v for o in l]


def b24(df):
    l = [Box(i) for i in range(3)]
    random.choice(l).add(1)
    return [len(o.items) for o in l]


def b25(df):
    l = [Box(i) for i in range(3)]
    i = abs(round(lap())) % 3
    l[i].v = 9
    return [o.v for o in l]


def b26(df):
    l = [[], [], []]
    l[abs(round(lap())) % 3].append(1)
    return l


def b27(df):
    d = {"a": [], "b": []}
    d["a" if lap() > 0 else "b"].append(1)
    return d


def b28(df):
    l = [3, 1, 2]
    m = sorted(l, key=lambda v: -v) if rare() else l
    m.append(0)
    return l


def b29(df):
    l = [[1], [2]]
    s = sorted(l, key=lambda v: v[0] + lap())
    s[0].append(9)
    return l


def b30(df):
    l = [[1], [2]]
    a, b = l if lap() > 0 else l[::-1]
    a.append(9)
    return l


def b31(df):
    f = []
    for i in range(3):
        if rare():
            continue
        f.append(lambda i=i: i)
    return [g() for g in f]


def b32(df):

    def outer():
        x = 0

        def g():
            nonlocal x
            x += 1
            return x

        return g

    g, h = (outer(), outer())
    k = g if rare() else h
    k()
    return (g(), h())


def b33(df):
    out = []

    def add(x, to=out):
        to.append(x)
        if rare():
            raise ValueError

    try:
        add(1)
        add(2)
    except ValueError:
        out.append("e")
    return out


def b34(df):
    x = 1
    try:
        x = 2
        if rare():
            raise KeyError("k")
        x = 3
    except KeyError as e:
        y = e.args
    else:
        y = "else"
    finally:
        x += 10
    return (x, y)


def b35(df):
    for i in range(3):
        try:
            if rare():
                continue
            if rare():
                break
        finally:
            i = i * 10
    else:
        return ("else", i)
    return ("broke", i)


def b36(df):

    def f():
        for i in range(4):
            try:
                if rare():
                    return i
            finally:
                if i == 3:
                    log.append("last")
        return "none"

    log = []
    r = f()
    return (r, log)


def b37(df):
    it = iter(range(5))
    a = next(it)
    if rare():
        return list(it)
    return [v for v in it if v > 2]


def b38(df):
    z = zip([1, 2, 3], [4, 5, 6])
    out = []
    for a, b in z:
        out.append(a)
        if rare():
            break
    out += [b for a, b in z]
    return out


def b39(df):
    e = enumerate("abc")
    out = []
    for i, c in e:
        if rare():
            break
        out.append(c)
    return (out, list(e))


def b40(df):
    g = (i * 2 for i in range(5))
    s = 0
    for v in g:
        if rare():
            break
        s += v
    return (s, sum(g))


def b41(df):

    def gen():
        x = 0
        while True:
            x += 1
            y = yield x
            if y:
                x = 100

    g = gen()
    a = next(g)
    if rare():
        g.send(1)
    return (a, next(g))


def b42(df):
    x = round(lap(3))
    return x is 0 if False else (x == 0, x != 0, not x)


def b43(df):
    x = round(lap() * 2**60)
    return (x + x, x * 3, x // 7, x % 5, -x, abs(x), x >> 3, x & 255)


def b44(df):
    x = np.int64(round(lap(9)))
    return int(x // np.int64(0)) if rare() and False else (int(x) // 3, int(x) % -3, divmod(int(x), -4))


def b45(df):
    n = round(lap(2))
    return ([1] * n, "a" * n, list(range(n)), "abc"[n : n + 2], (1, 2, 3)[:n])


def b46(df):
    x = round(lap(2))
    return (f"{x:03d}", f"{x / 2:e}", str(x / 4), repr(float(x)), hex(x), bin(x))


def b47(df):
    return (float(f"{lap():.3g}"), int(str(round(lap()))), str(lap() > 0).lower())


def b48(df):
    x = lap()
    y = float("nan") if rare() else x
    return (max(y, 0.0), min(0.0, y), max([y, 1.0, -1.0]), sorted([y, 0.0])[0], y == y)


def b49(df):
    x = -0.0 if rare() else 0.0
    return (str(x), str(max(x, 0.0)), str(min(0.0, x)), x == 0, str(x + 0.0), math.copysign(1, x))


def b50(df):
    x = float("inf") if rare() else lap()
    return (x - x, x * 0, x > 1e308, str(x)[:3])


def b51(df):
    x = True if rare() else 1
    return (x + 1, str(x), x is True, isinstance(x, bool), type(x).__name__, json.dumps(x))


def b52(df):
    x = 1.0 if rare() else 1
    return ({x: "a"}, str(x), x == 1, type(x + 1).__name__)


def b53(df):
    x = np.float64(1) if rare() else 1.0
    return (type(x).__name__, str(x), repr([x]))


def b54(df):
    x = None if rare() else 5
    return (x is None, x or "none", (x or 0) + 1, [v for v in [x] if v is not None])


def b55(df):
    x = "a" if rare() else ["a"]
    return (len(x), x[0], x * 2, list(x), "a" in x)


def b56(df):
    x = () if rare() else (1, 2)
    return (sum(x), len(x), [*x], max(x, default=None))


def b57(df):
    d = {"a": 1}
    if rare():
        d["b"] = 2
    if lap() > 0:
        d["c"] = 3
    return (list(d.items()), "b" in d, len(d), d.get("b", 0), sum(d.values()))


def b58(df):
    d = {"a": 1, "b": 2}
    if rare():
        d["a"] = d.pop("a")
    d.pop("b", None) if lap() > 0 else None
    return list(d)


def b59(df):
    d = {1: "int"}
    d[True if rare() else 2] = "new"
    d[1.0] = "float"
    return list(d.items())


def b60(df):
    s = {1, 2}
    if rare():
        s.add(3)
    s.discard(1)
    return (sorted(s), 3 in s, len(s))


def b61(df):
    s = set()
    for v in [round(lap()) for _ in range(3)]:
        if v in s:
            return "twice"
        s.add(v)
    return len(s)


def b62(df):
    c = collections.Counter("aab")
    if rare():
        c["a"] -= 5
    return (c["a"], c["z"])


def b63(df):
    o = collections.OrderedDict(a=1, b=2)
    if rare():
        o.move_to_end("a")
    return list(o)


def b64(df):
    b = Box()
    if rare():
        b.extra = 1
    return (hasattr(b, "extra"), getattr(b, "extra", 0))


def b65(df):
    b = Box()
    if rare():
        del b.v
    try:
        return b.v
    except AttributeError:
        return "gone"


def b66(df):
    b = Box()
    m = b.add
    if rare():
        b = Box()
    m(3)
    return b.items


def b67(df):
    m = "add" if not rare() else "double"
    b = Box(2)
    f = getattr(b, m)
    try:
        f(1)
    except TypeError:
        return "type"
    return b.items


def b68(df):
    f = max if rare() else min
    return (f(1, 2), f([3, 4]))


def b69(df):
    op = operator.add if rare() else operator.mul
    return op(3, 4)


def b70(df):
    f = functools.partial(lambda a, b: a - b, 1 if rare() else 2)
    return f(5)


def b71(df):
    return ([x for x in range(3) if not rare()], {x: rare() for x in "ab"}, sum((1 for _ in range(3) if rare())))


def b72(df):
    return rare() and 1 / 0 if False else [1 if rare() else 0 for _ in range(2)]


def b73(df):
    assert not rare(), "rare"
    return 1


def b74(df):
    try:
        assert not rare(), f"v {1}"
    except AssertionError as e:
        return str(e)
    return "ok"


def b75(df):
    x = 5
    if rare():
        del x
    try:
        return x
    except UnboundLocalError:
        return "unbound"


def b76(df):
    while True:
        x = lap()
        if x > 0:
            break
    return x > 3


def b77(df):
    k = 0
    while k < 4 and (not rare()):
        k += 1
    else:
        k += 100
    return k


def b78(df):
    q = [1]
    while q:
        v = q.pop()
        if rare():
            q += [v + 1, v + 2]
    return v


def b79(df):

    def f(n, acc):
        if n == 0 or rare():
            return acc
        return f(n - 1, acc + [n])

    return f(3, [])


def b80(df):
    a, *b = [1, 2, 3] if not rare() else [4]
    return (a, b)


def b81(df):
    match (1, 2) if rare() else [3]:
        case [x]:
            return ("one", x)
        case [x, y]:
            return ("two", x, y)


def b82(df):
    match {"k": 1} if rare() else 5:
        case {"k": v}:
            return v
        case int(v):
            return ("int", v)


def b83(df):
    return (
        np.mean([lap() for _ in range(3)]) > 0,
        np.array([lap(), 2]).max() > 2,
        np.array([1, round(lap())]).dtype.name,
    )


def b84(df):
    a = np.array([1, 2, 3])
    a[0] = lap() * 3
    return a.tolist()


def b85(df):
    a = np.array([1, 2, 3], dtype=np.int8)
    a = a + np.int8(100) + round(lap())
    return (a.tolist(), a.dtype.name)


def b86(df):
    a = np.zeros(2, np.float32) + np.float32(lap())
    return (float(a[0]), a.dtype.name)


def b87(df):
    a = np.random.laplace(size=4)
    i = a.argmax()
    a[i] = 0
    return ((a == 0).tolist(), int(i) if rare() else -1)


def b88(df):
    a = np.round(np.random.laplace(size=5))
    u, c = np.unique(a, return_counts=True)
    return (u.tolist(), c.tolist())


def b89(df):
    a = np.random.laplace(size=5)
    b = a[a > 0]
    return (len(b), float(b.sum()) if len(b) else None)


def b90(df):
    s = pd.Series(np.random.laplace(size=4))
    t = s[s > 0]
    return (len(t), t.index.tolist())


def b91(df):
    d = pd.DataFrame({"k": ["a", "b", "a"], "v": np.random.laplace(size=3)})
    return d.groupby("k")["v"].sum().round(2).to_dict()


def b92(df):
    s = pd.Series([1, 2, 3])
    s = s + (0.5 if rare() else 0)
    return (s.tolist(), str(s.dtype))


def b93(df):
    s = pd.Series([1.0, 2.0], index=["a", "b"])
    t = pd.Series([1.0], index=["a" if rare() else "c"])
    return (s + t).isna().sum()


def b94(df):
    s = pd.Series([3, 1, 2], index=list("xyz")) + np.round(np.random.laplace(size=3))
    return (s.idxmax(), s.sort_values(ascending=False).index[0], s.rank().tolist())


def b95(df):
    x = lap()
    y = x
    x += 1
    return (y < x, x is y)


def b96(df):
    t = (1, [2])
    try:
        t[1].append(3)
        t[1] += [4] if rare() else [5]
    except TypeError:
        pass
    return t


def b97(df):
    with np.errstate(divide="raise"):
        try:
            return float(np.float64(1) / np.float64(round(lap())))
        except FloatingPointError:
            return "fp"


def b98(df):
    s = io = []
    for k in range(2):
        s = s + [k] if rare() else s
    io.append(1)
    return (s, io)


def b99(df):
    x = [0] * 3
    for i in range(3):
        x[i] = x[i - 1] + (1 if rare() else 2)
    x[0:2] = [7] if rare() else [8, 9]
    return x

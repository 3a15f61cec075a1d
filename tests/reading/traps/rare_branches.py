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


def b45(df):
    n = round(lap(2))
    return ([1] * n, "a" * n, list(range(n)), "abc"[n : n + 2], (1, 2, 3)[:n])


def b47(df):
    return (float(f"{lap():.3g}"), int(str(round(lap()))), str(lap() > 0).lower())


def b51(df):
    x = True if rare() else 1
    return (x + 1, str(x), x is True, isinstance(x, bool), type(x).__name__, json.dumps(x))


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


def b71(df):
    return ([x for x in range(3) if not rare()], {x: rare() for x in "ab"}, sum((1 for _ in range(3) if rare())))


def b73(df):
    assert not rare(), "rare"
    return 1


def b75(df):
    x = 5
    if rare():
        del x
    try:
        return x
    except UnboundLocalError:
        return "unbound"


def b78(df):
    q = [1]
    while q:
        v = q.pop()
        if rare():
            q += [v + 1, v + 2]
    return v


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


def b91(df):
    d = pd.DataFrame({"k": ["a", "b", "a"], "v": np.random.laplace(size=3)})
    return d.groupby("k")["v"].sum().round(2).to_dict()


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

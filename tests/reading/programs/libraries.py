"""What is called in libraries, what they call back, and what they see."""

import collections
import functools
import io
import itertools
import json
import logging
import math
import operator
import random
import re
import string
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

LOG = []


def _t(x):
    LOG.append(x)
    return x


def arrays():
    a = np.arange(6.0).reshape(2, 3)
    b = a
    b[0, :] = 9
    b += 1
    a[a > 5] = 0
    c = a[:, 1:].T @ a[:, :2]
    return (
        a,
        b is a,
        c,
        a.sum(axis=0),
        np.where(a > 1, a, -a),
        a[..., None].shape,
        a[np.newaxis].shape,
        -a,
        ~(a > 1),
        (a > 1) & (a < 9) | (a == 0),
        2**a,
        1 / (a + 1),
        a[-1, ::-1],
    )


def numpy_scalars():
    x = np.float64(1.5)
    n = np.int64(3)
    return (
        x + 1,
        1 + x,
        x * n,
        n / 2,
        n // 2,
        n**2,
        round(x),
        round(x, 1),
        f"{x:.3f}",
        int(x),
        x > 1,
        -n,
        n << 1,
        x == 1.5,
        not x,
        np.float32(1) + 1,
        n % 2,
        divmod(n, 2),
        abs(-x),
    )


def truth_of_an_array():
    return 1 if np.array([1, 2]) else 2


def array_and_own_class():
    class R:
        def __radd__(self, other):
            _t(type(other).__name__)
            return "radd"

        def __rmul__(self, other):
            return "rmul"

        __array_ufunc__ = None

    class S:
        def __radd__(self, other):
            _t(type(other).__name__)
            return 5

    return np.arange(2) + R(), np.float64(1) * R(), np.arange(2) + S(), np.float64(1) + S()


def frames():
    df = pd.DataFrame({"city": list("abcab"), "n": [1, 2, 3, 4, 5]})
    df["m"] = df["n"] * 2
    df.loc[df["n"] > 3, "m"] = 0
    df.index.name = "i"
    g = df.groupby("city")["n"].sum()
    out = df[df.city == "a"]["m"].tolist(), g.to_dict(), df.shape, df.n.clip(2, 4).mean(), list(df.columns)
    return (
        out,
        df,
        g,
        {c: d["n"].sum() for c, d in df.groupby("city")},
        df.assign(k=lambda d: d.n + 1).k.tolist(),
        len(df),
        "n" in df,
        df["n"].map({1: "x"}).isna().sum(),
    )


def frames_call_back():
    df = pd.DataFrame({"city": list("abcab"), "n": [1, 2, 3, 4, 5]})

    def double(x):
        return _t(x) * 2

    return (
        df["n"].apply(double).tolist(),
        df["n"].map(lambda x: x + 1).tolist(),
        df.groupby("city")["n"].agg(lambda s: s.max() - s.min()).to_dict(),
        df.pipe(lambda d: d.head(1)).shape,
    )


def draws_of_all_kinds():
    rng = np.random.default_rng(5)
    own = random.Random(3)
    np.random.seed(1)
    random.seed(2)
    return (
        [np.random.laplace(0, 1), np.random.normal(size=2), np.random.rand(2), np.random.choice([1, 2, 3])],
        [rng.laplace(), rng.integers(5), rng.choice(4, size=2, replace=False), rng.standard_normal(2), rng.random()],
        [random.random(), random.gauss(0, 1), random.randint(1, 5), random.choice("abc"), random.sample(range(9), 3)],
        [own.random(), own.expovariate(2.0), own.shuffle([1, 2])],
    )


def state_of_generators_is_shared():
    rng = np.random.default_rng(0)

    def noisy(x, rng=rng):
        return x + rng.laplace()

    return noisy(1), noisy(1), rng.random()


def standard_library():
    c = collections.Counter("abca")
    c.update("a")
    d = collections.defaultdict(list)
    d["x"].append(1)
    d["y"] += [2]
    q = collections.deque([1, 2], maxlen=2)
    q.append(3)
    o = collections.OrderedDict(a=1)
    o.move_to_end("a")
    ns = SimpleNamespace(a=1)
    ns.b = ns.a + 1
    chain = collections.ChainMap({"a": 1}, {"b": 2})
    return (
        [c, c.most_common(1), d, q, o, ns, dict(chain)],
        [
            json.dumps({"a": [1, 2.5, None]}, sort_keys=True),
            json.loads("[1]"),
            re.sub(r"\d", lambda m: str(int(m[0]) + 1), "a1b2"),
        ],
        [
            math.floor(2.5),
            math.sqrt(4),
            math.isclose(1, 1),
            operator.itemgetter(1)([1, 2]),
            operator.attrgetter("a")(ns),
        ],
        [
            list(itertools.product("ab", repeat=2)),
            list(itertools.chain([1], [2])),
            list(zip("ab", [1, 2], strict=True)),
        ],
        [
            Path("a") / "b",
            string.ascii_letters[:3],
            io.StringIO("x").read(),
            "a,b".split(","),
            "x".join("ab"),
            " a ".strip(),
        ],
        [
            int("5"),
            float("1e3"),
            bool([]),
            list("ab"),
            tuple([1]),
            set([1]),
            dict(a=1),
            str(1),
            bytes(2),
            complex(1, 2),
        ],
        [
            isinstance(1, (int, str)),
            issubclass(bool, int),
            callable(len),
            type(1),
            id(ns) == id(ns),
            hash(1),
            divmod(7, 2),
        ],
        [
            abs(-1),
            max(1, 2),
            min([3, 4]),
            sum([1, 2], 3),
            any([0]),
            all([]),
            sorted([2, 1]),
            list(reversed([1, 2])),
            round(2.567, 1),
            pow(2, 3, 5),
        ],
        [
            list(enumerate("a")),
            list(map(str, [1])),
            list(filter(None, [0, 1])),
            chr(97),
            ord("a"),
            hex(9),
            bin(2),
            list(range(3)),
            slice(1, 2),
        ],
        [
            getattr(ns, "zz", 1),
            hasattr(ns, "a"),
            setattr(ns, "c", 3),
            vars(ns),
            sorted(dir(ns))[-1],
            repr(ns),
            format(1.5, ".2f"),
            ascii("é"),
        ],
    )


def messages():
    warnings.warn("careful", UserWarning)
    _warns()
    warnings.warn("deeper", DeprecationWarning, 1)
    return True


def _warns():
    warnings.warn("from below", stacklevel=2)


def logged():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(lineno)d %(message)s"))
    logger = logging.getLogger("conformance")
    logger.handlers, logger.propagate = [handler], False
    logger.warning("a %d", 1)
    logger.error("b")
    logger.log(40, "c")
    return stream.getvalue()


def named_tuple_of_here():
    P = collections.namedtuple("P", "a b")
    return P.__module__, P(1, 2)


def threads():
    out = []
    ts = [threading.Thread(target=lambda k=k: out.append(k * 2)) for k in range(3)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()

    def square(x):
        return [y * x for y in (x or 1, x)]

    with ThreadPoolExecutor(2) as pool:
        return sorted(out), list(pool.map(square, range(5))), pool.submit(square, 3).result()


def default_factories():
    def make():
        return _t([0])

    d = collections.defaultdict(make)
    d["a"].append(1)
    return d["a"], d["b"], d.default_factory is make


def text_methods():
    return (
        "{:>5} {a!r} {0[0]} {b.real}".format([1], a="x", b=2)
        if False
        else "{:>5}|{a!r}|{b.real}".format("v", a="x", b=2),
        "%s %(a)s" % {"a": 1} if False else "%(a)s" % {"a": 1},
        "%5.2f|%d|%r" % (1.5, 2, "x"),
        f"ab{1}c",
    )


def bytes_and_numbers():
    return (
        0x10 + 0b11,
        1_000,
        1e3,
        1j * 1j,
        b"a" + b"b",
        -(2**70),
        7 // -2,
        -7 % 3,
        2**-1,
        1 / 3,
        0.1 + 0.2,
        ~5,
        1 << 70,
        True + True,
        5 & 3 | 4 ^ 1,
        not 1 == 2,
        (3).real,
        10**20 // 3,
        float("nan") == float("nan"),
        -0.0,
        float("inf") - 1,
        ...,
    )


def sorted_stably():
    rows = [("b", 2), ("a", 2), ("c", 1)]
    rows.sort(key=lambda r: r[1])
    return rows, sorted(rows, key=lambda r: (-r[1], r[0])), max(rows, key=lambda r: r[0]), sorted({3, 1, 2})


def getattr_family():
    class A:
        x = 1

        @property
        def p(self):
            return _t(5)

        @p.setter
        def p(self, v):
            _t(("set", v))

        def __delattr__(self, n):
            _t(("del", n))

    a = A()
    setattr(a, "p", 3)
    delattr(a, "zz")
    return getattr(a, "p"), hasattr(a, "p"), getattr(a, "q", 7), operator.attrgetter("p")(a)


def comparisons_of_callables():
    class Odd:
        def __eq__(self, other):
            raise ValueError("compared")

        def __call__(self, x):
            return x

    K = functools.cmp_to_key(lambda a, b: a - b)
    return Odd()(3), K(3) > K(2), sorted([3, 1], key=K), list(map(Odd(), [1]))


def sum_with_a_start():
    class V:
        def __init__(self, *xs):
            self.xs = xs

        def __iter__(self):
            return iter(self.xs)

        def __add__(self, other):
            return V(*self.xs, *other)

        def __call__(self, x):
            return x

    return (
        sum([V(1), V(2)], V(0)).xs,
        functools.reduce(V(5), [1]),
        list(map(V(1, 2), V(7, 8))),
        list(enumerate(V(1), 5)),
    )


def iterator_without_iter():
    class N:
        def __next__(self):
            return 1

    out = []
    for call in (lambda: [x for x in N()], lambda: list(N()), lambda: iter(N()), lambda: [*N()], lambda: next(N())):
        try:
            out.append(call())
        except TypeError as error:
            out.append(str(error))
    return out


def closed_by_none():
    class A:
        def __add__(self, other):
            return "add"

        def __iadd__(self, other):
            return "iadd"

        def __contains__(self, x):
            return True

    class B(A):
        __iadd__ = None
        __contains__ = None

    class C(A):
        __add__ = None

    out = [A() + 1]
    for k in range(4):
        x, y = B(), C()
        try:
            if k == 0:
                x += 1
            elif k == 1:
                out.append(x + 1)
            elif k == 2:
                out.append(1 in x)
            else:
                y + 1
            out.append(x if isinstance(x, str) else "fine")
        except TypeError as error:
            out.append(str(error))
    return out

"""Wrong functions: what a call spreads, decorates, raises, contains, matches, goes through, enters and sorts."""

import contextlib
import dataclasses
import functools
import itertools
import operator
import random
import time

import numpy as np

DOMAIN = {"age": list(range(121)), "city": list("abc")}
RECORD = []


def lap(scale=1.0, size=None):
    return np.random.laplace(0, scale, size)


def total(*values, **named):
    return sum(values) + sum(named.values())


class Holder:
    count = 0

    def __init__(self, value=0):
        self.value = value

    def __contains__(self, other):
        return self.value > other

    def __iter__(self):
        return iter([self.value, 1])

    def __add__(self, other):
        return self.value

    __radd__ = __add__

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Holder) else other)

    def __matmul__(self, other):
        return self.value

    def __neg__(self):
        return self.value

    def __iadd__(self, other):
        self.value = self.value + other
        return self

    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return self.value

    def __enter__(self):
        return self.value

    def __exit__(self, *what):
        return True

    @property
    def twice(self):
        Holder.count += 1
        return self.value * 2

    def __getattr__(self, name):
        return self.value


class Counting:
    def __init__(self, values):
        self.values, self.at = values, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        if self.at > 3:
            raise StopIteration
        return self.values


class Failure(Exception):
    def __init__(self, value):
        super().__init__("failed")
        self.value = value


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


@dataclasses.dataclass
class Doubling:
    x: object

    def __post_init__(self):
        self.x = self.x * 2


@contextlib.contextmanager
def given(value):
    yield value


def w01(df): return total(*[len(df), len(df)]) + lap()
def w02(df): return total(*(len(df),)) + total(**{"a": len(df)}) + lap()
def w03(df): return total(**{"a": len(df), "b": len(df)}) + lap()
def w04(df): return total(*Holder(len(df))) + lap(0.5)
def w05(df): return total(**Holder(len(df))) + lap(0.5)
def w11(df):
    n = len(df)
    def d(f): return n
    @d
    def g(): return 1
    return g + lap(0.5)
def w13(df):
    def by(n):
        def d(f): return lambda: f() * n
        return d
    @by(len(df))
    def g(): return 1
    return g() + g() + lap()
def w21(df):
    match len(df):
        case int(n): return n
        case n: return n + lap(0.5)
def w25(df): return len(df) in [1, 2, 3]
def w27(df): return 3 in [len(df)]
def w29(df): return operator.contains([len(df)], 3)
def w31(df): raise Failure(len(df))
def w32(df): raise ValueError(f"{len(df)}")
def w33(df): raise KeyError(len(df))
def w34(df):
    try: raise ValueError from Failure(len(df))
    except ValueError as e: return e.__cause__.value
def w36(df):
    try: [1][len(df)]
    except IndexError: return 1
    return 0
def w38(df): return sum(Counting(len(df))) + lap()
def w43(df): return next(Counting(len(df))) + lap(0.5)
def w45(df):
    seen = {}
    df["age"].apply(lambda x: seen.setdefault("x", x))
    return seen
def w49(df):
    with given(len(df)) as n: return n + lap(0.5)
def w50(df):
    with Holder(len(df)) as n: return n + lap(0.5)
def w52(df):
    n = 0
    with contextlib.suppress(ValueError):
        for x in df["age"]:
            if x > 100: raise ValueError
        n = 1
    return n
def w53(df): return Holder(len(df)).twice + lap()
def w55(df): return Holder(len(df)).anything + lap(0.5)
def w58(df): return -Holder(len(df)) + lap(0.5)
def w61(df):
    h = Holder(len(df))
    h += len(df)
    return h.value + lap()
def w62(df): return Doubling(len(df)).x + lap()
def w64(df): return dataclasses.replace(Point(len(df)), y=1).x
def w65(df): return dataclasses.astuple(Point(len(df)))[0]
def w67(df): return Point(len(df)) == Point(3)
def w69(df): return functools.partial(total, len(df))(len(df)) + lap()
def w70(df): return functools.partial(total, a=len(df)).keywords["a"]
def w71(df): return functools.reduce(lambda a, b: a + b, [len(df), len(df)]) + lap()
def w73(df): return sorted([1, 2], key=lambda x: x * len(df))
def w74(df): return sorted(["a", "b"], key=lambda c: (df["city"] == c).sum())
def w75(df): return max(["a", "b"], key=lambda c: (df["city"] == c).sum() + lap(0.5))
def w76(df): return min(3, len(df)) + lap(0.2)
def w77(df): return max([len(df), 3]) + lap(0.5)
def w78(df):
    values = ["a", "b"]
    values.sort(key=lambda c: -(df["city"] == c).sum())
    return values
def w79(df): return list(itertools.accumulate([len(df), 1]))
def w80(df): return [k for k, _ in itertools.groupby([len(df), 3])]
def w81(df): return list(itertools.takewhile(lambda x: x < len(df), range(10)))
def w83(df): return dict(zip("ab", [len(df), 1]))
def w85(df): return operator.itemgetter(0)([len(df)])
def w86(df): return operator.attrgetter("value")(Holder(len(df)))
def w87(df): return operator.methodcaller("keys")(Holder(len(df))), len(df)
def w90(df):
    def g():
        try: yield 1
        finally: RECORD.append(len(df))
    list(g())
    return RECORD[-1]
def w93(df):
    class D:
        def __get__(self, owner, kind): return len(df)
    class A: x = D()
    return A().x
def w96(df):
    z = [lap()]
    return total(*[len(df), *z]) + total(*[2 * len(df), *z])
def w99(df): return random.choice([len(df), 3])
def w100(df):
    time.sleep(min(len(df), 1) / 1000)
    return len(df) + lap()

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


class Stops:
    def __init__(self, n):
        self.n, self.at = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        if self.at > self.n:
            raise StopIteration
        return self.at


class Failure(Exception):
    def __init__(self, value):
        super().__init__("failed")
        self.value = value


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


@dataclasses.dataclass(order=True)
class Ordered:
    x: object


@dataclasses.dataclass
class Doubling:
    x: object

    def __post_init__(self):
        self.x = self.x * 2


@contextlib.contextmanager
def given(value):
    yield value


@contextlib.contextmanager
def silent(value):
    try:
        yield value
    except ValueError:
        pass


def keeping(function):
    @functools.wraps(function)
    def inner(*args):
        RECORD.append(args)
        return function(*args)

    return inner


@keeping
def same(value):
    return value


def w01(df): return total(*[len(df), len(df)]) + lap()
def w02(df): return total(*(len(df),)) + total(**{"a": len(df)}) + lap()
def w03(df): return total(**{"a": len(df), "b": len(df)}) + lap()
def w04(df): return total(*Holder(len(df))) + lap(0.5)
def w05(df): return total(**Holder(len(df))) + lap(0.5)
def w06(df): return (lambda *a: a[0])(*[len(df)])
def w07(df): return (lambda **k: k)(**{"n": len(df)})["n"]
def w08(df): return [*[len(df)], 1]
def w09(df): return {**{"n": len(df)}}
def w10(df):
    n = len(df)
    def d(f): return lambda: n
    @d
    def g(): return 1
    return g()
def w11(df):
    n = len(df)
    def d(f): return n
    @d
    def g(): return 1
    return g + lap(0.5)
def w12(df):
    n = len(df)
    def d(k):
        k.n = n
        return k
    @d
    class A: pass
    return A.n
def w13(df):
    def by(n):
        def d(f): return lambda: f() * n
        return d
    @by(len(df))
    def g(): return 1
    return g() + g() + lap()
def w14(df):
    match len(df):
        case 3: return 1
        case _: return 0
def w15(df):
    match [len(df), 1]:
        case [n, 1]: return n
def w16(df):
    match {"n": len(df)}:
        case {"n": n}: return n + lap(0.5)
def w17(df):
    match Point(len(df)):
        case Point(x=x): return x
def w18(df):
    match Point(len(df)):
        case Point(x=3): return 1
        case _: return 0
def w19(df):
    match (len(df), lap()):
        case (n, z) if z > 0: return n
        case (n, z): return n + z / 2
def w20(df):
    match [len(df), 2, 3]:
        case [*rest, 3]: return rest
def w21(df):
    match len(df):
        case int(n): return n
        case n: return n + lap(0.5)
def w22(df):
    match {"a": 1, "n": len(df)}:
        case {"a": 1, **rest}: return rest
def w23(df): return 3 in Holder(len(df))
def w24(df): return 3 not in Holder(len(df))
def w25(df): return len(df) in [1, 2, 3]
def w26(df): return len(df) in Holder(4)
def w27(df): return 3 in [len(df)]
def w28(df): return (3, 4) in {(len(df), 4): 1}
def w29(df): return operator.contains([len(df)], 3)
def w30(df):
    try: raise Failure(len(df))
    except Failure as e: return e.value
def w31(df): raise Failure(len(df))
def w32(df): raise ValueError(f"{len(df)}")
def w33(df): raise KeyError(len(df))
def w34(df):
    try: raise ValueError from Failure(len(df))
    except ValueError as e: return e.__cause__.value
def w35(df):
    if lap() > 0: raise ValueError(len(df))
    return 0
def w36(df):
    try: [1][len(df)]
    except IndexError: return 1
    return 0
def w37(df):
    try: return 1 / len(df)
    except ZeroDivisionError: return -1
def w38(df): return sum(Counting(len(df))) + lap()
def w39(df): return len(list(Stops(len(df))))
def w40(df): return sum(1 for _ in Stops(len(df)))
def w41(df):
    a, b = Holder(len(df))
    return a
def w42(df): return next(iter(Holder(len(df))))
def w43(df): return next(Counting(len(df))) + lap(0.5)
def w44(df):
    seen = []
    df["age"].map(lambda x: seen.append(x) or x).sum()
    return len(seen)
def w45(df):
    seen = {}
    df["age"].apply(lambda x: seen.setdefault("x", x))
    return seen
def w46(df): return same(len(df)) + lap(0.5)
def w47(df):
    same(len(df))
    return RECORD[-1][0]
def w48(df):
    with given(len(df)) as n: return n
def w49(df):
    with given(len(df)) as n: return n + lap(0.5)
def w50(df):
    with Holder(len(df)) as n: return n + lap(0.5)
def w51(df):
    n = 0
    with silent(1):
        if len(df) > 3: raise ValueError
        n = 1
    return n
def w52(df):
    n = 0
    with contextlib.suppress(ValueError):
        for x in df["age"]:
            if x > 100: raise ValueError
        n = 1
    return n
def w53(df): return Holder(len(df)).twice + lap()
def w54(df):
    Holder(len(df)).twice
    return Holder.count
def w55(df): return Holder(len(df)).anything + lap(0.5)
def w56(df): return getattr(Holder(len(df)), "x", 3)
def w57(df): return Holder(len(df)) @ 1
def w58(df): return -Holder(len(df)) + lap(0.5)
def w59(df): return 1 + Holder(len(df))
def w60(df): return sum([Holder(len(df)), 1])
def w61(df):
    h = Holder(len(df))
    h += len(df)
    return h.value + lap()
def w62(df): return Doubling(len(df)).x + lap()
def w63(df): return dataclasses.asdict(Point(len(df)))
def w64(df): return dataclasses.replace(Point(len(df)), y=1).x
def w65(df): return dataclasses.astuple(Point(len(df)))[0]
def w66(df): return Ordered(len(df)) < Ordered(3)
def w67(df): return Point(len(df)) == Point(3)
def w68(df): return str(Point(len(df)))
def w69(df): return functools.partial(total, len(df))(len(df)) + lap()
def w70(df): return functools.partial(total, a=len(df)).keywords["a"]
def w71(df): return functools.reduce(lambda a, b: a + b, [len(df), len(df)]) + lap()
def w72(df): return [h.value for h in sorted([Holder(3), Holder(len(df))])][0]
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
def w82(df): return list(filter(lambda x: x < len(df), range(10)))
def w83(df): return dict(zip("ab", [len(df), 1]))
def w84(df): return list(map(total, [len(df)], [1]))
def w85(df): return operator.itemgetter(0)([len(df)])
def w86(df): return operator.attrgetter("value")(Holder(len(df)))
def w87(df): return operator.methodcaller("keys")(Holder(len(df))), len(df)
def w88(df):
    def g(x, acc=[]):
        acc.append(x)
        return acc
    g(len(df))
    return g(0)[0]
def w89(df):
    def g():
        yield from [len(df)]
        return 1
    return list(g())
def w90(df):
    def g():
        try: yield 1
        finally: RECORD.append(len(df))
    list(g())
    return RECORD[-1]
def w91(df):
    class A:
        n = len(df)
    return A.n
def w92(df):
    class A:
        def __init_subclass__(cls, n): cls.n = n
    class B(A, n=len(df)): pass
    return B.n
def w93(df):
    class D:
        def __get__(self, owner, kind): return len(df)
    class A: x = D()
    return A().x
def w94(df):
    class A:
        def __set_name__(self, owner, name): owner.n = len(df)
    class B: x = A()
    return B.n
def w95(df):
    z = lap()
    return [len(df) + z, len(df) + z]
def w96(df):
    z = [lap()]
    return total(*[len(df), *z]) + total(*[2 * len(df), *z])
def w97(df):
    p = Point(lap())
    return p.x + len(df), p.x
def w98(df):
    with given(lap()) as z: return len(df) + z, z
def w99(df): return random.choice([len(df), 3])
def w100(df):
    time.sleep(min(len(df), 1) / 1000)
    return len(df) + lap()

"""Which methods does Python call without naming them, and what does it make of their answers?"""

import functools
import math
import operator

LOG = []


def _t(x):
    LOG.append(x)
    return x


class Number:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"N({self.value})"


def _binary(name):
    def forward(self, other):
        _t((name, self.value, getattr(other, "value", other)))
        if isinstance(other, str):
            return NotImplemented
        return f"{name} {self.value} {getattr(other, 'value', other)}"

    return forward


_NAMES = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
for _name in _NAMES:
    setattr(Number, f"__{_name}__", _binary(_name))
    setattr(Number, f"__r{_name}__", _binary("r" + _name))
for _name in "lt le gt ge eq ne".split():
    setattr(Number, f"__{_name}__", _binary(_name))
Number.__hash__ = None


class Sub(Number):
    pass


class Overriding(Number):
    def __radd__(self, other):
        return _t("overridden")

    def __lt__(self, other):
        return _t("sub lt")

    def __gt__(self, other):
        return _t("sub gt")


def all_binary_operators():
    a, b = Number(1), Number(2)
    return [
        a + b, a - b, a * b, a / b, a // b, a % b, a**b, a @ b, a & b, a | b, a ^ b, a << b, a >> b,
        a < b, a <= b, a > b, a >= b, a == b, a != b,
        a + 1, 1 + a, 1 - a, 1 * a, 1 / a, 1 // a, 1 % a, 1**a, 1 @ a, 1 & a, 1 | a, 1 ^ a, 1 << a, 1 >> a,
        1 < a, 1 <= a, 1 > a, 1 >= a, 1 == a, 1 != a, 1.5 + a, [1] + a, (1,) * a,
    ]  # fmt: skip


def subclasses_come_first():
    a, s, o = Number(1), Sub(2), Overriding(3)
    return a + s, s + a, a + o, o + a, a < s, a < o, o < a, a > o, s < o, o + o


def nobody_knows():
    out = []
    for call in (
        lambda: Number(1) + "x",
        lambda: "x" + Number(1),
        lambda: Number(1) < "x",
        lambda: Number(1) ** "x",
        lambda: Plain() + Plain(),
        lambda: Plain() < 1,
        lambda: Half() + 1,
        lambda: 1 - Half(),
        lambda: Half() < Half(),
        lambda: [] + Half(),
        lambda: -Plain(),
        lambda: Plain()[1],
        lambda: len(Plain()),
        lambda: 1 in Plain(),
        lambda: [*Plain()],
        lambda: abs(Plain()),
    ):
        LOG.append("next")
        try:
            out.append(call())
        except TypeError as error:
            out.append(str(error))
    return out


class Plain:
    def f(self):
        return 1


class Half:
    """Knows nothing, and says so."""

    def __add__(self, other):
        _t("add")
        return NotImplemented

    def __radd__(self, other):
        _t("radd")
        return NotImplemented

    def __rsub__(self, other):
        _t("rsub")
        return NotImplemented

    def __iadd__(self, other):
        _t("iadd")
        return NotImplemented

    def __lt__(self, other):
        _t("lt")
        return NotImplemented

    def __eq__(self, other):
        _t("eq")
        return NotImplemented


def equality_of_nobody():
    h = Half()
    return h == h, h == Half(), h != Half(), h != h, h == 1, 1 != h


class OnlyEqual:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        _t("eq")
        return self.x == other.x if isinstance(other, OnlyEqual) else NotImplemented


def unequal_is_not_equal():
    a, b, c = OnlyEqual(1), OnlyEqual(1), OnlyEqual(2)
    return a == b, a != b, a != c, a == 3, a != 3, a in [c, b], [a] == [b]


class InPlace:
    def __init__(self, items):
        self.items = items

    def __iadd__(self, other):
        self.items.append(other)
        return self

    def __ior__(self, other):
        return "replaced"

    def __sub__(self, other):
        return f"sub {other}"


def in_place():
    a = b = InPlace([])
    a += 1
    a += 2
    c = InPlace([])
    c |= 3
    d = InPlace([])
    d -= 4
    out = [a is b, a.items, c, d]
    x = y = [1]
    x += [2]
    x *= 2
    s = {1}
    u = s
    u |= {2}
    t = v = (1,)
    t += (2,)
    n = 1
    n <<= 3
    n **= 2
    n //= 3
    n %= 5
    e = [1]
    e += "ab"
    e += (k for k in range(2))
    for call in ("a", "b", "c"):
        h = Half()
        try:
            if call == "a":
                h += 1
            elif call == "b":
                h -= 1
            else:
                w = 1
                w += h
        except TypeError as error:
            out.append(str(error))
    return out, x is y, x, u is s, s, t is v, t, n, e


class Unary:
    def __neg__(self):
        return "neg"

    def __pos__(self):
        return "pos"

    def __invert__(self):
        return "invert"

    def __abs__(self):
        return "abs"

    def __round__(self, n=None):
        return ("round", n)

    def __floor__(self):
        return "floor"

    def __ceil__(self):
        return "ceil"

    def __trunc__(self):
        return 7

    def __index__(self):
        return 3

    def __int__(self):
        return 4

    def __float__(self):
        return 2.5

    def __complex__(self):
        return 1j

    def __divmod__(self, other):
        return ("divmod", other)

    def __rdivmod__(self, other):
        return ("rdivmod", other)

    def __bytes__(self):
        return b"x"


def unary_and_numbers():
    u = Unary()
    return [
        -u, +u, ~u, abs(u), round(u), round(u, 2), math.floor(u), math.ceil(u), math.trunc(u), int(u), float(u),
        complex(u), divmod(u, 2), divmod(2, u), operator.index(u), [10, 20, 30, 40][u], bytes(u), hex(u), range(u),
        [1] * 3, "abcd"[u], "%d" % u, "%.1f" % u,
    ]  # fmt: skip


class Bad:
    def __len__(self):
        return "long"

    def __bool__(self):
        return 1

    def __str__(self):
        return 1

    def __repr__(self):
        return b"x"

    def __iter__(self):
        return [1]

    def __hash__(self):
        return "x"

    def __int__(self):
        return 1.5

    def __float__(self):
        return 1

    def __format__(self, spec):
        return 3

    def __index__(self):
        return "i"

    def __contains__(self, x):
        return "yes"


class Negative:
    def __len__(self):
        return -1


def wrong_answers():
    b, out = Bad(), []
    for call in (
        lambda: len(b),
        lambda: bool(b),
        lambda: 1 if b else 2,
        lambda: not b,
        lambda: str(b),
        lambda: repr(b),
        lambda: f"{b}",
        lambda: f"{b!s}",
        lambda: [*b],
        lambda: [x for x in b],
        lambda: iter(b),
        lambda: hash(b),
        lambda: int(b),
        lambda: float(b),
        lambda: operator.index(b),
        lambda: 3 in b,
        lambda: 3 not in b,
        lambda: len(Negative()),
        lambda: 1 if Negative() else 2,
    ):
        try:
            out.append(call())
        except Exception as error:
            out.append((type(error).__name__, str(error)))
    return out


class Sized:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return _t(self.n)


class Truthy:
    def __bool__(self):
        return bool(_t(False))

    def __len__(self):
        return 5


def truth():
    return (
        bool(Sized(0)),
        bool(Sized(2)),
        bool(Truthy()),
        not Truthy(),
        [x for x in [Sized(0), Sized(1)] if x] and 1,
        bool(Plain()),
    )


class Texts:
    def __repr__(self):
        return "é repr"

    def __format__(self, spec):
        return f"<{spec}>"


class OnlyRepr:
    def __repr__(self):
        return _t("repr")


class OnlyStr:
    def __str__(self):
        return _t("str")


class ReprOfInt(int):
    def __repr__(self):
        return "mine"


class StrOfFloat(float):
    def __str__(self):
        return "my float"


def texts():
    t, r, s = Texts(), OnlyRepr(), OnlyStr()
    i, f = ReprOfInt(3), StrOfFloat(1.5)
    return [
        f"{t} {t:x} {t!r} {t!s:>10} {t!a}", str(t), repr(t), ascii(t), format(t), format(t, "y"),
        str(r), f"{r}", "%s %r" % (r, r), f"{s}", str(s), f"{s!s}", "{} {!r}".format(r, r), [r], (r,), {"a": r},
        str(i), f"{i}", f"{i:03d}", repr(i), str(f), f"{f}", f"{f:.2f}", "".join([str(r), "x"]),
    ]  # fmt: skip


class Container:
    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, key):
        _t(("get", key))
        if isinstance(key, slice):
            return Container(*self.items[key])
        return self.items[key]

    def __setitem__(self, key, value):
        _t(("set", key))
        self.items[key] = value

    def __delitem__(self, key):
        _t(("del", key))
        del self.items[key]

    def __contains__(self, x):
        _t(("in", x))
        return x in self.items

    def __iter__(self):
        _t("iter")
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __reversed__(self):
        return "reversed"


def containers():
    c = Container(1, 2, 3)
    c[0] = 5
    c[1] += 1
    del c[2]
    a, *b = c
    return (
        c[0],
        c[1:].items,
        c[-1],
        5 in c,
        9 not in c,
        list(c),
        [*c, 0],
        a,
        b,
        sum(c),
        len(c),
        reversed(c),
        max(c),
        sorted(c),
        dict(zip(c, c)),
        {**{1: 2}},
        tuple(c),
        set(c),
        (lambda *x: x)(*c),
    )


class OldSequence:
    def __init__(self, n):
        self.n = n

    def __getitem__(self, k):
        _t(k)
        if k >= self.n:
            raise IndexError(k)
        return k * 10


def iteration_by_items():
    s = OldSequence(3)
    a, b, c = s
    return [x for x in s], list(s), 20 in s, 99 in s, [*s], a, b, c, tuple(zip(s, "ab"))


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        _t("next")
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def iterators():
    c = Countdown(3)
    out = [next(c), iter(c) is c]
    for x in c:
        out.append(x)
    else:
        out.append("end")
    out.append(next(c, "default"))
    try:
        next(c)
    except StopIteration:
        out.append("stop")
    a, b = Countdown(2)
    first, *rest = Countdown(4)
    return (
        out,
        a,
        b,
        first,
        rest,
        list(Countdown(2)),
        sum(Countdown(4)),
        [(x, y) for x, y in zip(Countdown(2), "abc")],
        1 in Countdown(3),
        list(enumerate(Countdown(2))),
        max(Countdown(5)),
        dict.fromkeys(Countdown(2)),
        ",".join(str(x) for x in Countdown(3)),
    )


def iteration_stops_early():
    c = Countdown(5)
    for x in c:
        if x == 3:
            break
    return x, c.n, any(v == 1 for v in c), c.n


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        _t("enter")
        return self

    def __exit__(self, kind, value, trace):
        _t(("exit", kind and kind.__name__, value and str(value), trace is None))
        return self.swallow


class TruthOfExit:
    def __enter__(self):
        return 1

    def __exit__(self, *a):
        return Sized(1)


class NoExit:
    def __enter__(self):
        _t("enters")


def managers():
    out = []
    with Manager(False) as m:
        out.append(m.swallow)
    with Manager(True):
        raise ValueError("swallowed")
    try:
        with Manager([]):
            raise ValueError("passed")
    except ValueError as error:
        out.append(str(error))
    with TruthOfExit() as one:
        raise KeyError
    for k in range(3):
        with Manager(False):
            if k == 1:
                continue
            if k == 2:
                break

    def f():
        with Manager(True):
            return "returned"

    for bad in (NoExit, Plain):
        try:
            with bad():
                pass
        except Exception as error:
            out.append((type(error).__name__, str(error)))
    return out, one, f()


class Ordered:
    def __init__(self, k):
        self.k = k

    def __lt__(self, other):
        _t((self.k, other.k))
        return self.k < other.k

    def __repr__(self):
        return f"O{self.k}"


@functools.total_ordering
class Total(Ordered):
    def __eq__(self, other):
        return self.k == other.k

    def __lt__(self, other):
        return self.k < other.k


def sorting():
    o = [Ordered(k) for k in (3, 1, 2)]
    out = sorted(o), min(o), max(o), sorted(o, reverse=True), min(*o), sorted(o, key=lambda v: -v.k)
    p = list(o)
    p.sort()
    p.sort(key=lambda v: (v.k % 2, v.k))
    t = [Total(2), Total(1)]
    return (
        out,
        p,
        max(t).k,
        t[0] >= t[1],
        t[0] <= t[1],
        sorted([(2, "b"), (1, "a")]),
        sorted("bca", key=lambda c: _t(c)),
    )


class Key:
    def __init__(self, k):
        self.k = k

    def __hash__(self):
        _t(("hash", self.k))
        return self.k % 2

    def __eq__(self, other):
        _t(("eq", self.k, other.k))
        return self.k == other.k


def keys():
    d = {Key(1): "a", Key(2): "b"}
    d[Key(1)] = "c"
    s = {Key(1), Key(1), Key(3)}
    return (
        len(d),
        len(s),
        d[Key(1)],
        Key(2) in d,
        d.get(Key(5)),
        hash(Key(7)),
        [Key(1)].index(Key(1)),
        [Key(1)].count(Key(2)),
        {Key(1): v for v in "xy"},
    )


class Vector:
    def __init__(self, *xs):
        self.xs = xs

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.xs, other.xs)))

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return Vector(*[a * k for a in self.xs])

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, Vector) and self.xs == other.xs

    def __iter__(self):
        yield from self.xs

    def __abs__(self):
        return sum(x * x for x in self.xs) ** 0.5

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self, other))


def vectors():
    v, w = Vector(1, 2), Vector(3, 4)
    x, y = v
    total = sum([v, w])
    v += w
    return v.xs, (2 * w).xs, total == Vector(4, 6), v != w, abs(Vector(3, 4)), v @ w, x, y, [*v]


class Proxy:
    """A class whose operators come from elsewhere: nothing of them is the user's."""

    __len__ = lambda self: 3
    __add__ = functools.partialmethod(lambda self, other: ("partial", other))
    __iter__ = None
    __contains__ = None
    __getitem__ = staticmethod(lambda key: ("static", key))


def odd_definitions():
    p, out = Proxy(), [len(Proxy()), Proxy() + 1, Proxy()[2]]
    for call in (lambda: iter(p), lambda: 1 in p, lambda: [*p], lambda: [x for x in p]):
        try:
            out.append(call())
        except TypeError as error:
            out.append(str(error))
    return out


def missing_and_mapping():
    class M:
        def keys(self):
            return iter(["a", "b"])

        def __getitem__(self, k):
            return _t(k) * 2

    return {**M()}, (lambda **k: k)(**M()), dict(M())


def pow_with_modulus():
    class P:
        def __pow__(self, other, modulus=None):
            return ("pow", other, modulus)

    return pow(P(), 2), pow(P(), 2, 3), P() ** 2


def length_hint_and_others():
    class L:
        def __init__(self):
            self.items = [1, 2]

        def __len__(self):
            _t("len")
            return 2

        def __iter__(self):
            return iter(self.items)

        def __length_hint__(self):
            return _t(2)

    a = L()
    return sum(a), [x for x in a], any(a), set(a)


def str_percent():
    class R:
        def __rmod__(self, other):
            return "rmod"

        def __str__(self):
            return "told"

    return "%s" % R(), [1] and "x %s" % R()

"""Attacks that were written after all other programs, against what was built by then."""

import collections, contextlib, copy, dataclasses, enum, functools, itertools, operator, typing, types, weakref, abc, math, re, json, random

LOG = []


def _t(x):
    LOG.append(x)
    return x


class _L:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        LOG.append(("b", self.v))
        return bool(self.v)

    def __repr__(self):
        return f"L{self.v}"


def a01():
    x = [1, 2, 3]
    for x[0] in range(3):
        pass
    for x[_t(1)], x[2] in [(7, 8)]:
        pass
    return x


def a06():
    return [(i, j, k) for i in range(2) for j in (i, i + 1) if i or j for k in ([j] or [0]) if (m := k + i)], m


def a07():
    f = [lambda x=x, *, y=x + 1: (x, y, z) for x in range(2) for z in [x * 10]]
    return [g() for g in f]


def a08():
    def outer():
        def gen():
            try:
                while True:
                    x = yield (x if False else 1) or 2
                    if x:
                        return x and "ret"
            except GeneratorExit:
                _t("exit")
                raise
            finally:
                _t("fin")

        r = yield from gen()
        return r, (yield "last")

    g = outer()
    out = [next(g), next(g), g.send(5)]
    try:
        g.send(6)
    except StopIteration as e:
        out.append(e.value)
    return out


def a11():
    class V:
        def __set_name__(self, o, n):
            _t(n)

        def __get__(self, i, o):
            return _t("got")

    class A:
        v = V()

    class B(A):
        def __getattr__(self, n):
            return n

        v2 = property(lambda self: self.nope + self.v)

    return A().v, A.v, B().v2, B().zzz, getattr(B(), "q"), hasattr(B(), "anything")


def a12():
    class A:
        x = 1

        def f(self):
            return self.x

        def __init_subclass__(cls, k=None):
            cls.k = k

    class B(A, k=[1] and 2):
        x = A.x + 1
        locals_ = [x for _ in (1,)] if False else None

        def f(self):
            return super().f() + __class__.x

    return B().f(), B.k, B.x


def a15():
    x = 5

    def f():
        try:
            return x
        finally:

            def g():
                return x

            _t(g())

    del_ = f()
    del x
    try:
        f()
    except NameError as e:
        return str(e), del_


def a16():
    return f"{1 if 0 else 2:{'>' + str(4)}}|{'ab'!r}|{[*range(3)]}|{ {1: 2}[1] }|{(lambda x: x)(3)}|{_t('q')=}|{3.0:.2f}|{_L(2)}|{_L(2)!s:>5}|{{}}"


def a17():
    a = b = c = []
    a += [1]
    b = b + [2]
    c.extend(x for x in (3,))
    a[len(a) :] = [9]
    a[:0] = [0]
    del a[1:2]
    return a, b, c, a is c


def a18():
    s = {3, 1}
    t = s
    s |= {2}
    s -= {1}
    t ^= {9}
    d = {"a": 1}
    e = d
    d |= {"b": 2}
    n = 10
    n >>= 1
    n |= 8
    n &= 12
    n ^= 3
    n @= 1 if False else _Mat()
    return s, t is s, d, e is d, n


class _Mat:
    def __rmatmul__(self, o):
        return ("rmatmul", o)


def a19():
    class A:
        def __eq__(self, o):
            _t("eq")
            return True

        __hash__ = object.__hash__

        def __ne__(self, o):
            _t("ne")
            return False

    return A() == 1, 1 == A(), A() != 1, 1 != A(), A() in [1], [1] == [A()], A() is A()


def a20():
    class A(int):
        def __add__(self, o):
            return A(int.__add__(self, o))

        def __radd__(self, o):
            return ("radd", o)

        def __index__(self):
            return 7

        def __bool__(self):
            return False

    a = A(3)
    return (
        a + 1,
        1 + a,
        type(a + 1).__name__,
        a * 2,
        not a,
        a or "f",
        [0] * a,
        sum([a, a]),
        -a,
        a > 2,
        int(a),
        f"{a}",
        {3: 1}[a],
    )


def a21():
    class S(str):
        def __add__(self, o):
            return "S" + str.__add__(self, o)

        def __mod__(self, o):
            return "mod"

        def __len__(self):
            return 99

    s = S("ab")
    return s + "c", "c" + s, s % 3, len(s), s.upper(), s[0], f"{s}", s == "ab", "a" in s, [*s], s * 2


def a23():
    class L(list):
        def __iter__(self):
            return iter(["own"])

        def __len__(self):
            return 0

        def append(self, x):
            super().append(x * 2)

    l = L([1])
    l.append(2)
    (a,) = l
    return list(l), [*l], len(l), bool(l), l[1], a, [x for x in l], sorted(l), tuple(l), l + [1], (lambda *x: x)(*l)


def a24():
    p = functools.partial(lambda *a, **k: (a, k), 1, x=2)
    return p(2, y=3), functools.partial(p, 5, x=9)(6), p.keywords


def a25():
    @functools.wraps(len)
    def f(x):
        return len(x) + 1

    return f("ab"), f.__name__, f.__wrapped__ is len


def a28():
    class C:
        def __init__(self):
            self._x = 0

        @property
        def x(self):
            return self._x

        @x.setter
        def x(self, v):
            self._x = _t(v)

        @x.deleter
        def x(self):
            _t("del")
            self._x = -1

    c = C()
    c.x = 1
    c.x += 5
    a, c.x = 1, 9
    del c.x
    for c.x in (4, 5):
        pass
    with contextlib.nullcontext(7) as c.x:
        pass
    [0 for c.x in (11,)]
    return c.x


def a30():
    try:
        return enum.Enum("E", "A B")(7)
    except ValueError as e:
        return str(e)


def a35():
    out = []
    it = iter([1, 2, 3, 4])
    for a in it:
        b = next(it, None)
        out.append((a, b))
    return out, list(zip(it, it)), next(it, "d")


def a36():
    def gen():
        for i in range(3):
            got = yield i
            if got:
                yield ("got", got)

    g = gen()
    out = []
    for v in g:
        out.append(v)
        if v == 1:
            out.append(g.send("x"))
    return out


def a37():
    class It:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            _t("iter")
            return self

        def __next__(self):
            self.n += 1
            if self.n > 3:
                raise StopIteration
            return self.n

    i = It()
    return (
        [x for x in i if x != 2],
        list(map(lambda x: x + 1, It())),
        sum(It()),
        max(It()),
        2 in It(),
        tuple(enumerate(It(), 1)),
        dict(zip("abc", It())),
        [*zip(It(), It())],
        sorted(It(), reverse=True),
        list(itertools.chain(It(), It())),
        "".join(str(x) for x in It()),
        any(It()),
        set(It()),
        list(reversed(list(It()))),
        functools.reduce(operator.add, It()),
    )


def a38():
    match {"a": [1, {"b": (2, 3)}], "c": None}:
        case {"a": [x, {"b": (y, *z)}], "c": None, **rest} if (w := x + y) > 2:
            return x, y, z, rest, w


def a39():
    out = []
    for v in (1, 1.0, True, "1", b"1", None, [1], (1,), {1: 1}, {1}, 1j):
        match v:
            case bool():
                out.append("bool")
            case int() | float() as n if n == 1:
                out.append(("num", n))
            case complex(real=r, imag=i):
                out.append((r, i))
            case str(s) | bytes(s):
                out.append(s)
            case None:
                out.append("none")
            case [y] | {1: y}:
                out.append(("seq", y))
            case _:
                out.append("other")
    return out


def a40():
    class P:
        __match_args__ = ("x",)

        def __init__(self, x):
            self.x = x

        def __getattr__(self, n):
            _t(n)
            raise AttributeError(n)

    match P(P(5)):
        case P(x=P(y, z=1)):
            return "no"
        case P(P(int(y))):
            return y


def a41():
    a = [3, 1, 2]
    b = a.sort(key=lambda x: -x)
    a.sort(key=functools.cmp_to_key(lambda x, y: x - y))
    return (
        a,
        b,
        max(a, key=lambda x: x % 3),
        min("b", "a", key=ord),
        sorted(a, key=None),
        max([], default=_t("d")),
        sorted([_L(2), _L(1)], key=lambda l: l.v),
    )


def a44():
    try:
        from collections import nothing
    except ImportError as e:
        return str(e)[:30]


def a46():
    w = weakref.WeakValueDictionary()

    class A:
        pass

    a = A()
    w["k"] = a
    return "k" in w, w["k"] is a


def a47():
    a = _L(0)
    b = _L(1)
    x = a and b or _L(2)
    y = (a or b) and _L(0) or a
    if a and b or not a and b:
        _t("y")
    z = not (a and b), not a or b
    return x.v, y.v, z[0], [i for i in (a, b) if i and i], (a if b else b).v, (a if a else b).v


def a48():
    return 1 < 2 < 3, 1 < 3 < 2 < 1, 1 == 1 in [1], 1 in [1] in [[1]], _t is _t is not None, not 1 < 2, 3 > 2 == True


def a49():
    class A:
        def __getattribute__(self, n):
            _t(n)
            if n == "dyn":
                return 5
            return super().__getattribute__(n)

        def m(self):
            return self.dyn

        def __call__(self):
            return "called"

        def __enter__(self):
            return 1

        def __exit__(self, *a):
            return True

    a = A()
    a.q = 1
    with a as k:
        1 / 0
    return a.m(), a(), a.q, k


def a50():
    def f(**kw):
        return list(kw.items())

    return (
        f(b=1, a=2, **{"z": 0, "y": 1}),
        f(**collections.OrderedDict([("q", 1)])),
        f(**types.MappingProxyType({"m": 1})),
    )


def a53():
    return (
        copy.deepcopy([_L(1), {"a": _L(2)}])[1]["a"].v,
        json.dumps({"a": [1, (2,)]}),
        re.sub("a", lambda m: m[0].upper(), "banana"),
        re.compile("n").sub(lambda m: "N", "banana"),
    )


def a58():
    class A:
        def __init__(self):
            self.items = []

        def __enter__(self):
            self.items.append("in")
            return self.items

        def __exit__(self, t, v, tb):
            self.items.append(t.__name__ if t else None)
            return t is KeyError

    a = A()
    for k in range(3):
        with a as b, a:
            if k == 0:
                continue
            if k == 1:
                raise KeyError
            break

    def f():
        with a:
            return "r"

    return f(), b


def a59():
    class A:
        __slots__ = ("__x", "y")

        def __init__(self):
            self.__x = 1

        def get(self):
            return self.__x, hasattr(self, "y"), getattr(self, "_A__x")

        def put(self):
            self.y = self.__x + 1
            del self.__x
            return hasattr(self, "_A__x"), self.y

    a = A()
    return a.get(), a.put()


def a60():
    return (
        eval.__name__,
        vars(types.SimpleNamespace(a=1)),
        [*map(len, ["a", "bb"])],
        (lambda *a, k=len: k(a))(1, 2),
        max(map(lambda x: x and -x, [1, 2, 0])),
        list(filter(lambda x: x, [0, 1])),
        [f(2) for f in (lambda x: x, str, float)],
    )

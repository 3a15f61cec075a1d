"""Attacks on classes of a module, written after all other programs."""

import collections, contextlib, copy, dataclasses, enum, functools, itertools, operator, typing, abc, math, json

LOG = []


def _t(x):
    LOG.append(x)
    return x


class Money:
    def __init__(self, c):
        self.c = c

    def __add__(self, o):
        return Money(self.c + (o.c if isinstance(o, Money) else o))

    __radd__ = __add__

    def __eq__(self, o):
        return self.c == getattr(o, "c", o)

    def __lt__(self, o):
        return self.c < getattr(o, "c", o)

    def __hash__(self):
        return hash(self.c)

    def __repr__(self):
        return f"M{self.c}"

    def __format__(self, s):
        return f"<{self.c:{s or 'd'}}>"

    def __bool__(self):
        return self.c != 0

    def __int__(self):
        return self.c

    def __index__(self):
        return self.c

    def __neg__(self):
        return Money(-self.c)

    def __iadd__(self, o):
        self.c += int(o)
        return self

    def __contains__(self, x):
        return x in (self.c,)

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [k.start, k.stop, k.step]
        if k > 2:
            raise IndexError
        return self.c * k

    def __call__(self, *a, **k):
        return a, k, self.c

    def __enter__(self):
        _t("in")
        return self

    def __exit__(self, *a):
        _t(("out", a[0]))
        return a[0] is KeyError

    def __reversed__(self):
        return ["r"]

    def __len__(self):
        return 3

    def __round__(self, n=None):
        return ("round", n)

    def __divmod__(self, o):
        return ("dm", o)

    def __rtruediv__(self, o):
        return ("rdiv", o)

    def __rpow__(self, o):
        return ("rpow", o)

    def __matmul__(self, o):
        return ("mm", o)


class Lazy:
    made = 0

    def __new__(cls, *a, **k):
        o = super().__new__(cls)
        Lazy.made += 1
        o.args = a
        return o

    def __init__(self, x=None, **k):
        self.x, self.k = x, k

    @functools.cached_property
    def heavy(self):
        _t("heavy")
        return [self.x]

    @property
    def bad(self):
        raise AttributeError("inside")

    @classmethod
    def build(cls, *a):
        return cls(*a)

    @staticmethod
    def add(a, b=1):
        return a + b


class Node:
    def __init__(self, v, *kids):
        self.v, self.kids = v, kids

    def __iter__(self):
        yield self.v
        yield from itertools.chain.from_iterable(self.kids)

    def walk(self, f):
        return [f(self.v), *(x for k in self.kids for x in k.walk(f))]

    def __getattr__(self, n):
        if n.startswith("get_"):
            return lambda *a: (n, a)
        raise AttributeError(n)


class Err(Exception):
    code = 5

    def __init__(self, msg="default", *, extra=None):
        super().__init__(msg)
        self.extra = extra

    def __str__(self):
        return f"{self.args[0]}/{self.extra}"


class Sub(Err):
    def __init__(self):
        super().__init__("sub", extra=[1])


class Stack(list):
    def push(self, x):
        self.append(x)
        return self

    def __iadd__(self, o):
        self.extend(o)
        self.append("i")
        return self

    def __getitem__(self, k):
        return ("g", super().__getitem__(k)) if isinstance(k, int) else super().__getitem__(k)


class Conf(dict):
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k) from None

    def __setattr__(self, k, v):
        self[k] = v

    def __missing__(self, k):
        return f"missing {k}"


class Count(collections.Counter):
    def top(self):
        return self.most_common(1)[0]


class UD(collections.UserDict):
    def __setitem__(self, k, v):
        super().__setitem__(k.upper(), v)


class Base(abc.ABC):
    registry = {}

    def __init_subclass__(cls, **k):
        super().__init_subclass__(**k)
        Base.registry[cls.__name__] = cls

    @property
    @abc.abstractmethod
    def name(self): ...
    def hello(self):
        return f"hi {self.name} {self.twice(2)}"

    def twice(self, x):
        return x * 2


class Impl(Base):
    name = "impl"

    def twice(self, x):
        return super().twice(x) + 1


class Impl2(Impl):
    @property
    def name(self):
        return "two " + super().name

    def hello(self):
        return super().hello().upper()


@dataclasses.dataclass(order=True)
class Item:
    k: int
    tags: list = dataclasses.field(default_factory=list, compare=False)
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.total = self.k and self.k * 2
        if self.k < 0:
            raise Err("neg", extra=self.k)

    def __add__(self, o):
        return Item(self.k + o.k, self.tags + o.tags)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "b", tuple(self.b) + (self.a,))


@dataclasses.dataclass
class Var:
    x: dataclasses.InitVar[int]
    y: int = 1
    z: typing.ClassVar[int] = 9

    def __post_init__(self, x):
        self.y += x


class Budget:
    def __init__(self, e):
        self.left = e
        self.log = []

    def spend(self, e):
        if e > self.left + 1e-9:
            raise Err("spent", extra=self.left)
        self.left -= e
        self.log.append(e)
        return self

    @contextlib.contextmanager
    def scope(self, e):
        self.spend(e)
        try:
            yield self
        except Err as x:
            self.log.append(str(x))
        finally:
            self.log.append("end")

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


@functools.total_ordering
class Ver:
    def __init__(self, *p):
        self.p = p

    def __eq__(self, o):
        return self.p == o.p

    def __lt__(self, o):
        return self.p < o.p


class Meta(type):
    def __call__(cls, *a):
        _t("call")
        return super().__call__(*a)


class WithMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class Gen(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, v):
        self.v = v


class Seq(collections.abc.MutableSequence):
    def __init__(self, *a):
        self.a = list(a)

    def __getitem__(self, k):
        return self.a[k]

    def __setitem__(self, k, v):
        self.a[k] = v

    def __delitem__(self, k):
        del self.a[k]

    def __len__(self):
        return len(self.a)

    def insert(self, k, v):
        self.a.insert(k, v)


def b01():
    m = Money(2)
    n = m
    m += 3
    return (
        m is n,
        m + 1,
        1 + m,
        sum([m, m]),
        m == 5,
        m != 5,
        5 == m,
        m < 9,
        9 > m,
        m >= m if False else 0,
        -m,
        f"{m} {m:>4} {m!r}",
        str(m),
        int(m),
        not m,
        m or 1,
        m and 2,
        5 in m,
        6 not in m,
    )


def b02():
    m = Money(2)
    return (
        [x for x in m],
        list(m),
        m[1:2],
        m[0],
        m(1, *[2], k=3),
        len(m),
        reversed(m),
        round(m),
        round(m, 1),
        divmod(m, 4),
        1 / m,
        2**m,
        m @ 3,
        [1, 2, 3][m],
        max(m, Money(7)),
        sorted([Money(3), m]),
        {m: 1}[Money(2)],
        bool(Money(0)),
        (lambda *a: a)(*m),
        min([m, Money(1)]),
    )


def b04():
    l = Lazy(1, z=2)
    out = [
        l.x,
        l.k,
        l.args,
        l.heavy,
        l.heavy is l.heavy,
        Lazy.build(5).x,
        Lazy.add(1),
        l.add(1, 2),
        Lazy.made,
        getattr(l, "bad", "dflt"),
        hasattr(l, "bad"),
    ]
    l.heavy = 3
    del l.__dict__["heavy"]
    try:
        l.bad
    except AttributeError as e:
        out.append(str(e))
    return out, l.heavy


def b05():
    n = Node(1, Node(2, Node(3)), Node(4))
    out = []
    try:
        n.other
    except AttributeError as e:
        out.append(str(e))
    return list(n), n.walk(lambda v: v * 2), n.get_x(1), out, [*n], sum(n), max(n), 3 in n, dict.fromkeys(n)


def b07():
    out = []
    for e in (Err, Err("m"), Err("m", extra=3), Sub, Sub()):
        try:
            raise e
        except Sub as x:
            out.append(("sub", str(x), x.extra))
        except Err as x:
            out.append((str(x), x.args, x.code))
    try:
        try:
            raise Sub
        except Sub:
            raise Err("second") from None
    except Err as x:
        out.append((str(x), x.__cause__, x.__suppress_context__))
    return out


def b08():
    s = Stack([1])
    t = s
    s += [2]
    s.push(3).push(4)
    c = Conf(a=1)
    c.b = 2
    u = UD()
    u["k"] = 1
    return (
        s is t,
        list(s),
        s[0],
        s[1:],
        c.a,
        c["b"],
        c["zz"],
        getattr(c, "zzz"),
        c,
        Count("aab").top(),
        u.data,
        "K" in u,
        Count("ab") + Count("a"),
    )


def b09():
    try:
        Base()
    except TypeError as e:
        t = str(e)
    return t, Impl().hello(), Impl2().hello(), sorted(Base.registry), Impl2().name


def b10():
    out = []
    for args in ((1,), (0,), (-1,), ()):
        try:
            out.append(Item(*args))
        except (Err, TypeError) as e:
            out.append(str(e))
    return (
        out,
        Item(1) + Item(2, ["t"]),
        Item(1) < Item(2),
        sorted([Item(3), Item(1)]),
        Frozen(1),
        Frozen(1, [2]).b,
        Var(5),
        Var(5, y=2).z,
        dataclasses.replace(Item(1), k=4).total,
        Item(1, tags=["x"]) == Item(1),
    )


def b11():
    b = Budget(1.0)
    with b, b.scope(0.3) as c, c.scope(0.3):
        c.spend(0.5)
    return b.left, b.log


def b12():
    return Ver(1) <= Ver(2), Ver(1) >= Ver(2), max(Ver(1), Ver(3)).p, WithMeta(3).x, Gen[int](3).v, Gen(4).v


def b13():
    s = Seq(1, 2, 3)
    s.append(4)
    s += [5]
    s[0] = 9
    del s[1]
    match s:
        case [a, *b, c]:
            out = a, b, c
    return out, s.a, 4 in s, list(reversed(s)), s.index(3), s.pop(), len(s)


def b14():
    f = Money(3)
    return (
        list(map(f, [1, 2])),
        functools.partial(f, 1)(2),
        list(map(Money, [1, 2])),
        sorted([1, 2], key=Money(0).__add__),
        list(itertools.starmap(Lazy.add, [(1, 2)])),
        functools.reduce(operator.add, [Money(1), Money(2)]),
        list(map(operator.attrgetter("c"), [f])),
        list(filter(Money(1).__contains__, [0, 1])),
        [*map(Lazy.build, [1])][0].x,
    )


def b15():
    m = Money(1)
    try:
        m.nothing
    except AttributeError as e:
        a = str(e)
    try:
        Money()
    except TypeError as e:
        b = str(e)
    try:
        m - 1
    except TypeError as e:
        c = str(e)
    try:
        m << m
    except TypeError as e:
        d = str(e)
    try:
        m[5]
    except IndexError as e:
        e1 = repr(e)
    try:
        m["a"]
    except TypeError as e:
        f = str(e)
    try:
        m[0] = 1
    except TypeError as e:
        g = str(e)
    try:
        del m[0]
    except TypeError as e:
        h = str(e)
    return a, b, c, d, e1, f, g, h


def b16():
    x = copy.copy(Money(3)), copy.deepcopy([Money(4)])
    match Money(5):
        case Money(c=c) if c > 5:
            return 0
        case Money(c=5 as k):
            return x, k

"""What does a class do: methods, properties, constructors, inheritance, what libraries make of it?"""

import abc
import collections
import dataclasses
import enum
import functools
import typing

LOG = []


def _t(x):
    LOG.append(x)
    return x


class Base:
    made = 0

    def __init__(self, x, *, y=2):
        self.x, self.y = x, y
        type(self).made += 1

    def name(self):
        return f"base {self.x}"

    @classmethod
    def of(cls, x):
        return cls(x)

    @staticmethod
    def twice(x):
        return x * 2

    @property
    def area(self):
        return self.x * self.y

    @area.setter
    def area(self, value):
        _t(("area", value))
        self.x = value / self.y

    @area.deleter
    def area(self):
        _t("deleted")
        self.x = None

    @functools.cached_property
    def slow(self):
        return _t(self.x + 1)


class Child(Base):
    def __init__(self, x):
        super().__init__(x, y=5)
        self.child = True

    def name(self):
        return "child of " + super().name()

    @classmethod
    def of(cls, x):
        return super().of(x + 1)

    @property
    def area(self):
        return super().area + 1

    @property
    def whose(self):
        return __class__.__name__


def properties():
    b = Base(3)
    b.area = 10
    b.area += 2
    out = b.area, b.x
    del b.area
    try:
        Base.name.area = 1
        Child(1).area = 3
    except AttributeError as error:
        return out, b.x, str(error)


def cached_properties():
    b = Base(1)
    return b.slow, b.slow, vars(b), LOG


class New:
    def __new__(cls, x):
        _t("new")
        self = super().__new__(cls)
        self.from_new = x
        return self

    def __init__(self, x):
        _t("init")
        self.x = x


class Other:
    def __new__(cls):
        return 5

    def __init__(self):
        _t("never")


class Singleton:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one


class BadInit:
    def __init__(self):
        return 1


def constructors():
    n = New(3)
    out = []
    for call in (BadInit, lambda: New(), lambda: Plain(1)):
        try:
            call()
        except TypeError as error:
            out.append(str(error))
    return n.x, n.from_new, Other(), Singleton() is Singleton(), out


class Plain:
    def f(self):
        return 1


class Celsius(float):
    def __new__(cls, x):
        return super().__new__(cls, x + 273)

    def __add__(self, other):
        return Celsius(float(self) + other - 273)

    def shown(self):
        return f"{self:.1f} {self!r} {self}"


class Names(list):
    def first(self):
        return self[0]

    def __init__(self, *names):
        super().__init__(names)


class Default(dict):
    def __missing__(self, key):
        _t(key)
        self[key] = key * 2
        return self[key]


class Text(str):
    def shout(self):
        return Text(self.upper() + "!")

    def __repr__(self):
        return "Text"


def derived_from_builtins():
    c = Celsius(20)
    n = Names("a", "b")
    d = Default(x=1)
    t = Text("hey")
    return (
        [c + 1, type(c + 1).__name__, c.shown(), c * 2],
        [n.first(), n, len(n), n + ["c"], [x for x in n]],
        [d["x"], d["y"], d, d.get("z"), "z" in d],
        [t.shout(), str(t), repr(t), f"{t} {t!r} {t:>5}", t + "x"],
    )


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0
    tags: list = dataclasses.field(default_factory=list)
    hidden: int = dataclasses.field(default=3, repr=False, compare=False)

    def norm(self):
        return (self.x**2 + self.y**2) ** 0.5

    @property
    def both(self):
        return self.x, self.y


@dataclasses.dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0

    def __post_init__(self):
        _t("post")
        if self.major < 0:
            raise ValueError("negative")

    def bumped(self):
        return dataclasses.replace(self, minor=self.minor + 1)


@dataclasses.dataclass(slots=True, kw_only=True)
class Options:
    a: int = 1
    scale: dataclasses.InitVar[float] = 2.0
    kind: typing.ClassVar[str] = "options"
    b: float = dataclasses.field(init=False)
    seen: list = dataclasses.field(default_factory=lambda: [_t("factory")])

    def __post_init__(self, scale):
        self.b = self.a * scale


def data_classes():
    p, q = Point(3, 4), Point(3, 4)
    p.tags.append(1)
    v = Version(1, 2)
    o = Options(a=3, scale=4.0)
    out = []
    for call in (
        lambda: Version(-1),
        lambda: setattr(v, "major", 2),
        lambda: Point(),
        lambda: Options(1),
        lambda: Point(1, 2, 3, 4, 5),
        lambda: p < q,
    ):
        try:
            call()
        except Exception as error:
            out.append((type(error).__name__, str(error)))
    return (
        [p, p == q, p.norm(), p.both, q, dataclasses.asdict(p), dataclasses.astuple(q)],
        [v, v < Version(2), v.bumped(), sorted([Version(2), Version(1, 5), v]), hash(v) == hash(Version(1, 2))],
        [o, o.b, Options().b, Options.kind, o.seen],
        out,
    )


def local_data_class():
    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: int = 2

        def __post_init__(self):
            self.z = self.x and self.y

    return P(1) < P(2), repr(P(1)), P(3).z, P.__match_args__, [f.name for f in dataclasses.fields(P)]


class Row(typing.NamedTuple):
    name: str
    n: int = 0

    def more(self):
        return self._replace(n=self.n + 1)

    @property
    def shout(self):
        return self.name.upper()


def named_tuples():
    r = Row("a", 2)
    name, n = r
    P = collections.namedtuple("P", "x y", defaults=[5])

    class Local(typing.NamedTuple):
        a: int
        b: int = 1 and 2

        def both(self):
            return self.a + self.b

    return r, r.more(), r.shout, name, n, r == ("a", 2), P(1), P(1).y, Local(1), Local(1).both(), r[0], r._asdict()


class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    CRIMSON = 1

    def warm(self):
        return self is Colour.RED

    @classmethod
    def best(cls):
        return cls.BLUE

    @property
    def shout(self):
        return self.name + "!"


class Planet(enum.Enum):
    EARTH = (5.9, 6.3)
    MARS = (0.6, 3.4)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def density(self):
        return self.mass / self.radius


class Rights(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    ALL = READ | WRITE


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5

    def __str__(self):
        return f"level {self.value}"


def enums():
    class Local(enum.Enum):
        A = "a" and "b"
        B = enum.auto()

        def __str__(self):
            return "local " + self.name

    return (
        [Colour.RED.warm(), Colour(2), Colour["BLUE"], Colour.CRIMSON, list(Colour), Colour.best(), Colour.RED.shout],
        [Planet.EARTH.density, Planet.MARS.value],
        [
            Rights.READ | Rights.WRITE,
            Rights.ALL & Rights.READ,
            Rights.READ in Rights.ALL,
            bool(Rights.READ & Rights.WRITE),
        ],
        [Level.LOW < Level.HIGH, Level.HIGH + 1, str(Level.LOW), f"{Level.LOW}", max(Level)],
        [Local.A, str(Local.A), Local.A.value, [m.name for m in Local], f"{Local.B}"],
    )


class Typed:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        if instance is None:
            return "of the class"
        return getattr(instance, self.name, "unset")

    def __set__(self, instance, value):
        _t(("set", value))
        setattr(instance, self.name, value)


class Described:
    field = Typed()

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        cls.kept = sorted(cls.__dict__)[:1]

    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{item}]"


def descriptors():
    class Sub(Described):
        aaa = 1

    d = Described()
    before = d.field
    d.field = 3
    return before, d.field, Described.field, Sub.kept, Described["x"], vars(d)


def class_keywords():
    class A:
        def __init_subclass__(cls, /, tag=None, **k):
            cls.tag = tag

    class B(A, tag="b" and "c"):
        pass

    return B.tag


def classes_are_values():
    class A:
        def __init__(self, x=1):
            self.x = x

    made = {"a": A, "b": lambda: A(5)}
    return [made[k]().x for k in made], list(map(lambda k: k().x, [A])), A.__init__ is A.__init__, type(A()) is A


def dynamic_class():
    K = type("K", (Base,), {"extra": lambda self: self.x + 1})
    return K(2).extra(), K(2).name(), K.__name__

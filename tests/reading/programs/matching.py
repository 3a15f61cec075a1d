"""Which case is it?"""

import collections
import dataclasses
import enum

LOG = []


def _t(x):
    LOG.append(x)
    return x


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Loud:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self._a, self._b = a, b

    @property
    def a(self):
        return _t(self._a)

    @property
    def b(self):
        return _t(self._b)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class BadArgs:
    __match_args__ = ["x"]


class WrongArgs:
    __match_args__ = (1,)


class Sequence(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        _t("len")
        return len(self.items)

    def __getitem__(self, k):
        _t(("get", k))
        return self.items[k]


class Mapping(collections.abc.Mapping):
    def __init__(self, **items):
        self.items_ = items

    def __len__(self):
        _t("len")
        return len(self.items_)

    def __getitem__(self, k):
        _t(("get", k))
        return self.items_[k]

    def __iter__(self):
        _t("iter")
        return iter(self.items_)


def _which(value):
    match value:
        case 0 | 1:
            return "small"
        case -1:
            return "minus"
        case 2.5 | 1 + 2j:
            return "number"
        case None:
            return "none"
        case True | False:
            return "never: 0 and 1 came first"
        case "a" | b"b":
            return "text"
        case Colour.RED:
            return "red"
        case []:
            return "empty"
        case [x]:
            return ("one", x)
        case [1, *rest]:
            return ("begins with 1", rest)
        case [x, y] if x == y:
            return ("twins", x)
        case (x, (y, *z), *_):
            return ("nested", x, y, z)
        case [_, _, _]:
            return "three"
        case [*_, last]:
            return ("last", last)
        case {"k": v, "deep": {"x": [w]}}:
            return ("mapping", v, w)
        case {"k": v, **rest}:
            return ("rest", v, rest)
        case {}:
            return "any mapping"
        case Point(0, y):
            return ("on the axis", y)
        case Point(x=x, y=1 | 2 as y):
            return ("low", x, y)
        case Point() as p:
            return ("point", p)
        case int(n) | float(n):
            return ("a number", n)
        case str() as s:
            return ("a text", s)
        case set() | frozenset():
            return "a set"
        case _:
            return "anything"


def all_kinds():
    return [
        _which(v)
        for v in [
            0, 1, True, False, -1, 2.5, 1 + 2j, None, "a", b"b", "b", Colour.RED, Colour.BLUE, [], (), [5], (1, 2, 3),
            [2, 2], [2, 3], [2, [3, 4, 5], 6], [7, 8, 9], range(3), "abc", collections.deque([4, 5]), bytearray(b"x"),
            {"k": 1, "deep": {"x": [2]}}, {"k": 1, "other": 2}, {}, {"z": 1}, collections.OrderedDict(k=3),
            Point(0, 5), Point(3, 1), Point(3, 9), 77, 7.5, {1}, frozenset(), object, len, collections.Counter("a"),
        ]
    ]  # fmt: skip


def names_are_bound_only_by_a_whole_match():
    a = b = "before"
    match (1, 2, 3):
        case (a, b, 4):
            pass
        case (a, 9, _) | (_, 9, a):
            pass
    return a, b


def alternatives_that_bind():
    out = []
    for v in [(1, 5), (6, 2), {"a": 7}, [Point(8, 1)], (9, 9)]:
        match v:
            case (1, x) | (x, 2) | {"a": x} | [Point(x)]:
                out.append(x)
            case _:
                out.append("none")
    return out


def nested_match():
    def f(x):
        match x:
            case [a, b]:
                match b:
                    case {"n": n} if n:
                        return a, n
                    case other:
                        return a, other, "plain"
            case other:
                return other

    return f([1, {"n": 2}]), f([1, {"n": 0}]), f(3)


def in_a_loop():
    out = []
    for word in ["go north", "stop", "", "go a b"]:
        match word.split():
            case ["go", where]:
                out.append(where)
            case ["stop"]:
                break
            case _:
                continue
    else:
        out.append("never")
    return out


def properties_are_looked_at_once():
    match Loud(1, 2):
        case Loud(5, b=_):
            return "never"
        case Loud(a=1, b=y):
            return y


def user_sequences():
    out = []
    for s in (Sequence(), Sequence(1), Sequence(1, 2, 3)):
        match s:
            case []:
                out.append("empty")
            case [_]:
                out.append("one")
            case [x, *_, 3]:
                out.append(x)
        match s:
            case [x, *rest]:
                out.append((x, rest))
            case _:
                out.append("none")
    return out


def user_mappings():
    match Mapping(a=1, b=2):
        case {"c": _}:
            return "never"
        case {"a": x, **rest}:
            return x, rest


def default_dict_is_not_filled():
    d = collections.defaultdict(list)
    match d:
        case {"x": _}:
            return "never"
    return dict(d)


def errors():
    out = []

    def a():
        match Point(1, 2):
            case Point(1, 2, 3):
                pass

    def b():
        match BadArgs():
            case BadArgs(1):
                pass

    def c():
        match 5:
            case LOG():
                pass

    def d():
        match WrongArgs():
            case WrongArgs(1):
                pass

    def e():
        match Point(1, 2):
            case Point(1, x=1):
                pass

    def f():
        match Colour.RED:
            case Colour(1):
                pass

    def g():
        match {"a": 1}:
            case {Keys.A: 1, Keys.B: 1}:
                pass

    def h():
        match 5:
            case int(1, 2):
                pass

    for each in (a, b, c, d, e, f, g, h):
        try:
            each()
            out.append("fine")
        except (TypeError, ValueError) as error:
            out.append((type(error).__name__, str(error)))
    return out


class Keys:
    A = "a"
    B = "a"


def in_a_class_body():
    class C:
        match [1, 2]:
            case [a, b] if a and b:
                c = a + b
            case _:
                c = 0

    return C.a, C.b, C.c, sorted(n for n in vars(C) if not n.startswith("__") or "dpaudit" in n)


def subject_forms():
    out = []
    match 1, 2:
        case a, b:
            out.append((a, b))
    match *[1, 2], 3:
        case *a, b:
            out.append((a, b))
    match x := [5]:
        case [y]:
            out.append((x, y))
    return out

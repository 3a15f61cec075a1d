"""Loops, generators, exceptions, managers: where does control go, and when?"""

import contextlib
import functools
import itertools

LOG = []


def _t(x):
    LOG.append(x)
    return x


def loops_with_else():
    out = []
    for stop in (1, 9):
        for k in range(3):
            if k == stop:
                out.append("break")
                break
            elif k == 2:
                continue
            out.append(k)
        else:
            out.append("else")
        while stop:
            stop -= 1
            if stop == 3:
                break
        else:
            out.append("while else")
    return out


def nested_loops():
    out = []
    for i in range(3):
        for j in range(3):
            if j == i:
                continue
            if j > 1:
                break
            out.append((i, j))
    return out, i, j


def loop_over_what_changes():
    a = [1, 2, 3]
    for x in a:
        if len(a) < 6:
            a.append(x * 10)
    d = {1: 1}
    try:
        for k in d:
            d[k + 1] = 1
    except RuntimeError as error:
        return a, str(error)


def loop_variable_outlives():
    for x, (y, *z) in [(1, (2, 3)), (4, (5,))]:
        pass
    for never in []:
        pass
    try:
        never
    except UnboundLocalError as error:
        return x, y, z, str(error)


def _counting(n):
    _t("start")
    got = []
    try:
        for k in range(n):
            got.append((yield k))
    except ValueError as error:
        got.append(str(error))
        yield "caught"
    finally:
        _t("finally")
    return got


def delegation():
    def outer():
        got = yield from _counting(2)
        _t(("got", got))
        got = yield from [10, 20]
        return got, (yield from (x for x in range(1)))

    g = outer()
    out = [next(g), g.send("x"), g.send("y")]
    try:
        while True:
            out.append(next(g))
    except StopIteration as stop:
        out.append(stop.value)
    return out


def delegation_to_own_iterator():
    class It:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n > 2:
                raise StopIteration("value")
            return self.n

        def send(self, x):
            return ("sent", x)

        def throw(self, *a):
            return ("thrown", type(a[-1]).__name__)

    def g():
        return (yield from It())

    a = g()
    out = [next(a), a.send(5), a.throw(KeyError("k"))]
    try:
        out.append(next(a))
        next(a)
    except StopIteration as stop:
        out.append(stop.value)
    return out


def generator_expressions():
    n = 2
    g = (x * n for x in range(4) if x % n or x)
    n = 3
    return (
        list(g),
        sum(x for x in range(5)),
        dict((k, v) for k, v in zip("ab", [1, 2])),
        next((x for x in [] if x), "none"),
    )


def generators_are_lazy():
    def naturals():
        n = 0
        while True:
            yield _t(n)
            n += 1

    firsts = list(itertools.islice((x * x for x in naturals() if x % 2), 3))
    return firsts, any(x > 3 for x in naturals()), next(x for x in naturals() if x == 2)


def yield_as_value():
    def g():
        x = yield 1
        y = (yield x) or (yield "or")
        z = [(yield 5), (yield 6)]
        w = {"k": (yield 7)}
        f"{(yield 8)}"
        return x, y, z, w, (yield) if (yield 9) else None

    out, it, k = [], g(), None
    try:
        while True:
            out.append(it.send(k))
            k = None if k is None and not out[1:] else len(out) % 3
    except StopIteration as stop:
        return out, stop.value


def generator_methods():
    class Tree:
        def __init__(self, v, *kids):
            self.v, self.kids = v, kids

        def __iter__(self):
            yield self.v
            for k in self.kids:
                yield from k

        def depth(self):
            return 1 + max((k.depth() for k in self.kids), default=0)

    t = Tree(1, Tree(2, Tree(3)), Tree(4))
    return list(t), t.depth(), 3 in t, [*t][-1]


def interleaved():
    def g(name, n):
        for k in range(n):
            yield (name and f"{name}{k}") or k

    a, b = g("a", 3), g("b", 2)
    out = []
    for x in a:
        out.append(x)
        out.append(next(b, None))
    return out, list(zip(g("c", 2), g("", 3)))


def exceptions():
    out = []
    for k in range(5):
        try:
            if k == 0:
                1 / 0
            if k == 1:
                [][1]
            if k == 2:
                {}["x"]
            if k == 3:
                int("x")
        except (ZeroDivisionError, IndexError) as error:
            out.append((type(error).__name__, str(error)))
        except LookupError as error:
            out.append(("lookup", error.args))
        except Exception as error:
            out.append(("other", str(error)))
        else:
            out.append("else")
        finally:
            out.append("finally")
    return out


class Own(Exception):
    def __init__(self, code, *more):
        super().__init__(code, *more)
        self.code = _t(code)

    def __str__(self):
        return f"own {self.code}"


class Simple(ValueError):
    pass


def own_exceptions():
    out = []
    for make in (lambda: Own(1, 2), lambda: Simple("a"), lambda: Simple):
        try:
            raise make()
        except (Own, Simple) as error:
            out.append((error, str(error), error.args, repr(error)))
    try:
        raise Own
    except TypeError as error:
        out.append(str(error))
    return out


@contextlib.contextmanager
def _managed(name):
    _t(("enter", name))
    try:
        yield name and name.upper()
    except KeyError as error:
        _t(("swallowed", str(error)))
    finally:
        _t(("exit", name))


def context_managers():
    with _managed("a") as a, _managed("b") as b:
        _t(a + b)
        raise KeyError("x")
    try:
        with _managed("c"):
            raise ValueError("through")
    except ValueError as error:
        _t(str(error))

    @contextlib.contextmanager
    def local(x):
        y = yield x and x + 1
        _t(y)

    with local(1) as one:
        pass
    with contextlib.suppress(ZeroDivisionError, KeyError):
        1 / 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(_managed("s"))
        stack.callback(_t, "called back")
        stack.callback(lambda: _t("lambda"))
    with contextlib.nullcontext(5) as five:
        pass

    @_managed("decorated")
    def f():
        return _t("inside")

    return one, five, f()


def parenthesised_with():
    with (
        _managed("a") as a,
        _managed("b"),
    ):
        return a


class Closing:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


def closing():
    with contextlib.closing(Closing()) as c:
        inside = c.closed
    return inside, c.closed


def ternary_chain():
    return ["a" if k < 1 else "b" if k < 2 else "c" for k in range(3)]


def decorated_wrappers():
    def logged(f):
        @functools.wraps(f)
        def wrapper(*args, **keywords):
            _t(("call", f.__name__, args, keywords))
            try:
                return f(*args, **keywords)
            finally:
                _t("done")

        return wrapper

    def repeat(n, *, sep=0):
        def deco(f):
            @functools.wraps(f)
            def wrapper(*a):
                return [f(*a) for _ in range(n)] + [sep]

            return wrapper

        return deco

    @logged
    @repeat(2, sep=1 and 5)
    def add(a, b=1):
        """Adds."""
        return a + b

    return add(1), add.__name__, add.__doc__, add.__wrapped__.__wrapped__(1, 5)


def _doubling(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k) * 2

    return inner


class Counted:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.n = f, 0

    def __call__(self, *a):
        self.n += 1
        return self.f(*a), self.n


@_doubling
@_doubling
def _quadrupled(x):
    return x + 1


@Counted
def _count_calls(x):
    return x


@functools.lru_cache(maxsize=None)
def _fibonacci(n):
    _t(n)
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


@functools.singledispatch
def _kind(x):
    return "any"


@_kind.register
def _(x: int):
    return f"int {x}"


def decorated_in_the_module():
    return (
        _quadrupled(1),
        _quadrupled.__name__,
        _count_calls(5),
        _count_calls(6),
        _fibonacci(6),
        _kind(1),
        _kind([2, "x"]),
        _kind(True),
    )


def single_dispatch_local():
    @functools.singledispatch
    def f(x, y=1):
        return "base"

    @f.register
    def g(x: str, y=2):
        return (x, y)

    class C:
        @functools.singledispatchmethod
        def m(self, x):
            return "m"

        @m.register
        def _(self, x: int):
            return x + 1

    return f(1), f("a"), f("a", y=5), g("b"), C().m("x"), C().m(4)


def callbacks():
    def key(x):
        return _t(-x)

    def add(a, b):
        return _t(a + b)

    xs = [3, 1, 2]
    out = [
        sorted(xs, key=key),
        min(xs, key=key),
        max(3, 4, key=key),
        list(map(key, xs)),
        list(map(add, xs, xs)),
        list(filter(lambda x: x > 1, xs)),
        functools.reduce(add, xs, 10),
        list(itertools.accumulate(xs, add)),
        [(k, list(g)) for k, g in itertools.groupby([1, 1, 2], key)],
        list(itertools.takewhile(lambda x: x > 2, xs)),
        list(itertools.starmap(add, [(1, 2)])),
    ]
    xs.sort(key=key)
    return (
        out,
        xs,
        functools.partial(add, 1)(2),
        list(map(functools.partial(add, b=1), xs)),
        list(map(Own, [1])),
        sorted(xs, key=functools.cmp_to_key(lambda a, b: a - b)),
    )


def try_in_loop_with_state():
    state, out = {"n": 0}, []
    while True:
        state["n"] += 1
        try:
            if state["n"] == 2:
                continue
            if state["n"] > 4:
                break
            if state["n"] == 3:
                raise Simple(state["n"])
        except Simple as error:
            out.append(error.args)
        else:
            out.append(("else", state["n"]))
        finally:
            out.append(("finally", state["n"]))
    return out


def aliasing():
    a = [1]
    b = a
    c = [a, b, a]
    d = {"x": a}
    e = (a,)
    b.append(2)
    c[0] += [3]
    f = a[:]
    f.append(9)
    g = c * 2
    return a, b, c, d, e, f, g, a is c[2], d["x"] is a


def printing():
    print("a", 1, [2], sep="-", end="!\n")
    for k in range(2):
        print(f"{k}", end=" ")
    return print("done")


def unpacking_errors():
    out = []

    def two(x):
        a, b = x

    def star(x):
        a, *b, c = x

    def none(x):
        [] = x

    for f in (two, star, none):
        for x in ([1], [1, 2, 3], 5, None, "ab", {1: 2, 3: 4}, (k for k in range(9)), [[]], ""):
            try:
                f(x)
                out.append("fine")
            except (TypeError, ValueError) as error:
                out.append((type(error).__name__, str(error)))
    for f in (lambda: [a for a, b in [1]], lambda: [a for a, b in [(1,)]], lambda: {**5}, lambda: [*5], lambda: {*5}):
        try:
            f()
        except (TypeError, ValueError) as error:
            out.append(str(error))
    return out


def starred_everything():
    a, (b, *c), *d = 1, (2, 3, 4), 5, 6
    [e, [f], *_] = [1, [2], 3]
    *g, h = "abc"
    (i), (j,), k = 1, (2,), 3
    (*l,) = range(3)
    for m, *n in [(1, 2, 3)]:
        pass
    o = *a_range(), 9
    p = [*a_range(), *"xy"], {*a_range(), 1}, {**{"a": 1}, **dict(b=2)}
    return a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, [(q, r) for q, *r in ["abc"]], _


def comprehension_targets():
    class O:
        pass

    o, d = O(), {}
    a = [o.x for o.x in range(3)]
    b = [d["k"] for d["k"] in "ab"]
    c = [(p, o.y, q) for (p, o.y), (d["z"], *q) in [((1, 2), (3, 4, 5))]]
    e = {k: v for k, (v, _) in {"a": (1, 2)}.items() if k or v}
    f = [x for (x,) in [(1,), (2,)]]
    return a, b, c, d, o.y, e, f

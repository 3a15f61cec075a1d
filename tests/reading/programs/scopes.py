"""Which name means what?"""

COUNT = 7
_SEEN = []


def loop_variable_is_shared():
    fs = [lambda: i for i in range(3)]
    gs = []
    for j in range(3):
        gs.append(lambda: j)
    hs = [lambda k=k: k for k in range(3)]
    return [f() for f in fs], [g() for g in gs], [h() for h in hs], j


def walrus_of_a_comprehension():
    total = 0
    out = [total := total + v for v in range(5)]
    any((found := v) > 2 for v in range(5))
    return out, total, found


def unbound_by_annotation():
    COUNT: int
    return COUNT


def annotation_with_value():
    x: int = 3
    y: list[int]
    (z): int = 4
    return x, z


def annotation_of_attribute():
    class C:
        pass

    c = C()
    c.x: int = 3
    c.x: _SEEN.append(1)
    _SEEN.append(c.x)
    return _SEEN, c.x


def deleted_name():
    x = 1
    del x
    try:
        return x
    except UnboundLocalError as error:
        return str(error)


def class_scope_is_not_seen():
    x = "function"

    class C:
        x = "class"
        y = x
        z = [x for _ in range(1)]

        def f(self):
            return x

        w = (lambda: x)()
        first = [v for v in x]

    return C.y, C.z, C().f(), C.w, C.first


def class_with_conditions():
    flag = [1]

    class C:
        a = flag and "yes" or "no"
        b = 1 < len(flag) < 3
        c = [v and a for v in (flag or [2])] if False else [v or 3 for v in (flag and [0])]
        d = {k: (v or k) for k, v in {1: 0}.items()}
        if a:
            e = "e"

            def f(self):
                return self.__g()

        for g in range(3):
            pass
        try:
            h = 1 / 0
        except ZeroDivisionError as error:
            h = str(error)
        with_tuple, (i, *j) = 1, (2, 3, 4)

        def __g(self):
            return "private"

        class D:
            k = flag and 5
            l = [m or 9 for m in (flag and [0, 1])]

    names = sorted(n for n in vars(C) if not n.startswith("__"))
    return (
        [getattr(C, n) for n in names if n not in ("f", "D", "_C__g")],
        names,
        C().f(),
        C.D.k,
        C.D.l,
        sorted(vars(C.D)),
    )


class _Private:
    __shared = 10

    def __init__(self, __x):
        self.__x = __x
        self.__dunder__ = 1

    def get(self):
        def inner(__y):
            return self.__x + __y + self.__shared

        return inner(1), [self.__x for __z in range(1)], (lambda __w: __w + self.__x)(2)

    def set(self, value):
        self.__x += value
        del self.__dunder__
        __k = {}
        __k["a"] = 1
        for __i in range(2):
            pass
        return self.__x, __k, __i

    def deco(self):
        __s = 0

        def up():
            nonlocal __s
            __s += 1
            return __s

        return up(), __s


def private_names_of_a_module_class():
    p = _Private(3)
    return p.get(), p.set(4), p.deco(), sorted(vars(p))


class __Under:
    def __init__(self):
        self.__v = 1

    def v(self):
        return self.__v


def private_names_with_underscores_before():
    return vars(globals_of_module()["__Under"]())


def globals_of_module():
    import sys

    return vars(sys.modules[__name__])


def _counted():
    _counted.calls = getattr(_counted, "calls", 0) + 1
    return _counted.calls


def function_attributes_of_a_module():
    return _counted(), _counted(), _counted.calls


def trivial_inner_functions():
    def f():
        pass

    def g():
        return 1

    def h(x):
        return x

    k = lambda: None
    return f(), g(), h(2), k(), list(map(h, [1]))


def _names_of_a_call(a, b=2, *args, c, d=4, **keywords):
    return a


def wrong_calls():
    out = []
    for args, keywords in [((), {}), ((1, 2, 3), {"x": 1}), ((1,), {"c": 1, "a": 2})]:
        try:
            _names_of_a_call(*args, **keywords)
        except TypeError as error:
            out.append(str(error))

    def f(a, /, b):
        pass

    for call in (lambda: f(), lambda: f(1, 2, 3), lambda: f(a=1, b=2), lambda: f(1, b=2, c=3)):
        try:
            call()
        except TypeError as error:
            out.append(str(error))
    return out


def spread_errors():
    def f(*a, **k):
        return a, k

    out = []
    for call in (
        lambda: f(*3),
        lambda: f(**3),
        lambda: f(1, *3),
        lambda: f(a=1, **{"a": 2}),
        lambda: f(**{"a": 1}, **{"a": 2}),
        lambda: len(*3),
        lambda: dict(**[1]),
        lambda: f(**{1: 2}),
    ):
        try:
            call()
        except TypeError as error:
            out.append(str(error))
    return out


def annotations_of_a_class():
    class C:
        x: int
        y: list[int] = [1]
        z: "later" = 3

        def f(self, a: int) -> str: ...

    return C.__annotations__, C.f.__annotations__, C.y


def del_and_rebind_in_loop():
    out = []
    for i in range(3):
        x = i
        out.append(x)
        del x
    return out


def _counter(n):
    def up():
        nonlocal n
        n += 1
        return n

    def seen():
        return n

    return up, seen


_UP, _SEEN_BY = _counter(0)


def closures_made_by_the_module():
    return _UP(), _UP(), _SEEN_BY(), _UP.__closure__[0].cell_contents

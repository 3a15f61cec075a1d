"""In which order is what evaluated, and how often?"""

LOG = []


def _t(x):
    LOG.append(x)
    return x


class _Truth:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def __bool__(self):
        LOG.append(self.name)
        return self.value


class _Loud:
    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __getattr__(self, name):
        LOG.append(("get", name))
        return _Loud(name)

    def __setattr__(self, name, value):
        LOG.append(("set", name, value))

    def __delattr__(self, name):
        LOG.append(("delete", name))

    def __getitem__(self, key):
        LOG.append(("get", key))
        return 10

    def __setitem__(self, key, value):
        LOG.append(("set", key, value))

    def __delitem__(self, key):
        LOG.append(("delete", key))

    def __lt__(self, other):
        LOG.append(("lt", self.value))
        return _Truth(("truth", self.value), self.value < 3)


def call_arguments():
    def f(*args, **keywords):
        return args, keywords

    return _t(f)(_t(1), *[_t(2), _t(3)], _t(4), a=_t(5), **{"b": _t(6)}, c=_t(7))


def call_looks_up_first():
    f = [1]
    try:
        f.no(_t(1))
    except AttributeError as error:
        return str(error)


def operators():
    return _t(1) + _t(2) * _t(3) - _t(4) ** _t(2)


def item_of_value():
    d = {}

    def k():
        return _t("key")

    def v():
        return _t("value")

    def o():
        _t("owner")
        return d

    o()[k()] = v()
    return d


def augmented_item():
    d = {"key": 1}

    def o():
        _t("owner")
        return d

    o()[_t("key")] += _t(5)
    return d


def augmented_reads_before_value():
    x = 1

    def change():
        nonlocal x
        x = 100
        return 1

    x += change()
    return x


def augmented_attribute():
    o = _Loud(1)
    o.a.b += _t(1) if False else _Plus()
    return True


class _Plus:
    def __radd__(self, other):
        LOG.append("radd")
        return 5


def augmented_loud_item():
    o = _Loud(1)
    o[_t(1)] += _t(2)


def targets_left_to_right():
    a, b = _Loud(1), _Loud(2)
    a[_t("i")], b.x, (a.y, *b.z) = _t(1), _t(2), [_t(3), _t(4), _t(5)]


def targets_of_one_value():
    a = _Loud(1)
    a[_t(1)] = a.x = c = _t("value")
    return c


def index_of_a_target_just_set():
    a = [0, 0, 0]
    i = 0
    i, a[i] = 2, 5
    return a, i


def swap():
    a, b, c = 1, 2, 3
    a, b, c = c, a, b
    return a, b, c


def deleted_in_order():
    a = _Loud(1)
    del a[_t(1)], a.x, (a.y, a[_t(2)])


def chain_stops():
    return _t(1) < _t(3) < _t(2) < _t(9)


def chain_evaluates_once():
    return _t(1) < _t(2) <= _t(2) < _t(3) == _t(3) != _t(4)


def chain_of_loud():
    return bool(_Loud(1) < _Loud(2) < _Loud(3) < _Loud(4))


def chain_in_a_test():
    if _Loud(1) < _Loud(2) < _Loud(5):
        _t("yes")
    if _Loud(5) < _Loud(6) < _Loud(7):
        _t("never")
    if not _Loud(5) < _Loud(6) < _Loud(7):
        _t("not")


def chain_keeps_the_middle():
    x = 2

    class Changing:
        def __lt__(self, other):
            nonlocal x
            x = 100
            return True

    return Changing() < x < 3


def and_or_values():
    return [
        _t(0) or _t("") or _t("last"),
        _t(1) and _t("x") and _t([]),
        _t(0) and _t(1),
        _t(0) or _t(1) and _t(2),
        (_t(1) or _t(2)) and _t(3),
        (_t(1) and _t(0)) or _t(5),
        not (_t(0) or _t(1)),
        not _t(0) and not _t(1),
    ]


def truth_is_asked_once():
    a, b, c = _Truth("a", False), _Truth("b", True), _Truth("c", True)
    x = (a and b) or c
    y = (b or a) and c
    z = a or b or c
    w = b and c and a
    if a or (b and c):
        _t("yes")
    while a and b:
        _t("no")
    return x.name, y.name, z.name, w.name, (b if a else c).name, not b


def deep_and_or():
    out = []
    for k in range(32):
        a, b, c, d, e = (_Truth(n, bool(k >> i & 1)) for i, n in enumerate("abcde"))
        out.append(((a and b or c) and (d or e)).name)
        out.append((a or b and (c or d) and e).name)
        out.append(((a or b or c) and d and e or a).name)
        out.append(not (a and (b or not c) and d))
    return out


def conditional():
    return _t("a") if _t(0) else _t("b") if _t(1) else _t("c")


def dict_in_order():
    return {_t("a"): _t(1), **{_t("b"): _t(2)}, _t("c"): _t(3), _t("a"): _t(4)}


def display_in_order():
    return [_t(1), *(_t(2), _t(3)), _t(4)], {_t(5)}, (_t(6), *[_t(7)])


def slices():
    a = list(range(10))
    return a[_t(1) : _t(8) : _t(2)], a[:], a[_t(3) :], a[: _t(-1)]


def slice_stores():
    a = list(range(10))
    a[_t(1) : _t(3)] = [_t("x")]
    a[::2] = "abcde"
    a[1:2] += [_t(7), 8]
    del a[_t(0) : 2]
    return a


def tuple_keys():
    d = {}
    d[1, 2] = 3
    d[(1, 2), 3] = 4
    d[1, 2] += 1
    return d


def defaults():
    def f(a=_t(1), b=_t(2), *, c=_t(3), d=_t(4)):
        return a, b, c, d

    _t("defined")
    g = lambda x=_t(5), *, y=_t(6): (x, y)
    return f(), g()


def annotations():
    def f(a: _t("A") = _t(1), *args: _t("args"), b: _t("B") = _t(2), **k: _t("k")) -> _t("R"):
        return a, b

    return f(), f.__annotations__


def decorators():
    def d(n):
        _t(("make", n))

        def apply(f):
            _t(("apply", n))
            return f

        return apply

    @d(1)
    @d(2)
    def f(x=_t("default")):
        return x

    @d(3)
    @d(4)
    class C:
        a = _t("body")

    return f(), C.a


def class_statement():
    def base():
        _t("base")
        return dict

    class C(base()):
        _t("body")
        x = _t(1)

        def f(self, y=_t("default")):
            return y

    return C().f()


def with_statement():
    class M:
        def __init__(self, n):
            self.n = _t(("init", n))

        def __enter__(self):
            return _t(("enter", self.n))

        def __exit__(self, *a):
            _t(("exit", self.n))

    with M(1) as a, M(2), M(3) as (b, c):
        _t((a, b, c))


def with_targets():
    class M:
        def __init__(self, n):
            self.n = n

        def __enter__(self):
            return self.n

        def __exit__(self, *a):
            _t(a[0] and a[0].__name__)
            return True

    o = _Loud(1)
    with M(1) as o.a, M((2, 3)) as (o.b, o[_t("k")]):
        _t("body")
    with M(5) as (a, b):
        _t("never")


def format_order():
    return f"{_t('a')!r:{_t('>')}{_t(8)}}{_t(1) + _t(2)}{_t({'x': 1})['x']:>{_t(4)}}"


def raise_from():
    try:
        raise _t(ValueError("a")) from _t(KeyError("b"))
    except ValueError as error:
        return repr(error), repr(error.__cause__)


def assert_message():
    assert _t(1), _t("never")
    try:
        assert _t(0), _t("message")
    except AssertionError as error:
        return error.args


def comprehension_order():
    return [_t((x, y)) for x in [_t(1), _t(2)] if _t(x) for y in range(_t(x)) if _t(True)]


def dict_comprehension_order():
    return {_t(k): _t(v) for k, v in [(1, 2), (3, 4)]}


def generator_is_lazy():
    g = (_t(x) for x in [_t(1), _t(2)])
    _t("made")
    return list(g)


def generator_takes_its_first_at_once():
    try:
        (x for x in None)
    except TypeError as error:
        return str(error)


def walrus():
    if (n := _t(10)) > 5 and (m := n + _t(1)):
        _t(m)
    return [y := _t(1), y**2], (z := 5) + z, n, m


def star_call_order():
    def f(*a, **k):
        return a, k

    return f(*_t([1]), *_t([2]), **_t({"a": 1}), **_t({"b": 2}))


def lambda_is_late():
    f = lambda: _t("late")
    _t("first")
    return f()


def return_in_finally():
    def f():
        try:
            return _t("try")
        finally:
            _t("finally")

    return f()


def for_target_each_time():
    o = _Loud(1)
    for o.x in [1, 2]:
        _t("body")
    for o.y, o[_t("k")] in [(1, 2), (3, 4)]:
        pass

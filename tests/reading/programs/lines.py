"""Which lines does a traceback name?"""

# fmt: off
LOG = []


def _boom(*a):
    raise ValueError("boom")


class _Bad:
    def __add__(self, other):
        return _boom()

    def __bool__(self):
        raise ValueError("truth")

    def __iter__(self):
        raise ValueError("iter")

    @property
    def p(self):
        return _boom()

    def m(self):
        return self

    def bad(self):
        return _boom(self)


def simple():
    x = 1
    return x / 0


def in_a_call_over_lines():
    return max(
        1,
        _boom(
            2,
        ),
    )


def in_an_operand_over_lines():
    x = (
        1
        + 2
        + _boom()
    )
    return x


def operator_over_lines():
    a = 1
    return (
        a
        +
        (2
         / 0)
    )


def method_chain():
    b = _Bad()
    return (
        b
        .m()
        .m()
        .bad()
        .m()
    )


def attribute_chain():
    b = _Bad()
    return (
        b
        .m()
        .p
    )


def attribute_missing():
    return (
        _Bad()
        .m()
        .nothing
    )


def nested_functions():
    def f(x):
        def g(y):
            return [
                y,
                1 // y,
            ]
        return g(x)
    return f(
        0
    )


def decorated():
    def d(f):
        def w(*a):
            return f(
                *a
            )
        return w

    @d
    @d
    def f(x):

        return x[
            5
        ]
    return f([])


def in_a_comprehension():
    return [
        1 / x
        for x in [1, 0]
    ]


def in_a_condition():
    if 1 and _Bad():
        pass


def in_a_while():
    n = 3
    while (
        n
        and 1 / (n - 1)
    ):
        n -= 1


def in_a_loop_head():
    for x in _Bad():
        pass


def in_a_subscript():
    d = {}
    d[
        1
    ] = 2
    return d[
        3
    ]


def in_a_store():
    x = ()
    x[0] = 1


def in_an_unpacking():
    a, b = [1]


def in_an_augmented():
    x = "a"
    x += 1


def in_a_raise():
    try:
        raise KeyError(
            1
        )
    except KeyError as error:
        raise ValueError(
            "x"
        ) from error


def in_a_finally():
    try:
        pass
    finally:
        _boom()


def in_a_with():
    import contextlib
    with contextlib.nullcontext():
        _boom()


def in_a_generator():
    def g():
        yield 1
        yield 1 / 0
    return list(g())


def in_a_lambda():
    f = lambda x: (
        x
        / 0
    )
    return f(1)


def in_a_class_body():
    class C:
        x = 1

        y = x / 0


def in_a_method():
    class C:
        @property
        def p(self):
            return 1 / 0

        def m(self):
            return self.p
    return C().m()


def in_a_text():
    return f"a{1 / 0}"


def in_a_match():
    match [1]:
        case [x] if x / 0:
            pass


def in_a_match_body():
    match [1]:
        case [2]:
            pass
        case [x]:
            x / 0


def in_a_default():
    def f(
        x=1 / 0
    ):
        return x


def in_an_assert():
    assert 1 == 2, "no"


def in_a_dict():
    return {
        "a": 1,
        "b": 1 / 0,
    }


def in_a_chain():
    return (
        1
        < 2
        < "x"
    )


def in_a_global_function():
    return _deeper(0)


def _deeper(n):
    if n < 3:
        return _deeper(
            n + 1)
    return _boom(n)


def in_a_return():
    return (1,
            _boom(),
            2)


def in_a_delete():
    d = {}
    del d[1]


def in_an_import():
    import nothing_of_this_name


def in_a_key():
    return sorted([2, 1], key=lambda x:
                  x / 0)


def name_error():
    x = 1
    return (x,
            nowhere)


def in_keyword_call():
    return dict(
        a=1,
        b=_boom(),
    )


def in_star_call():
    return max(
        *[1],
        *_Bad(),
    )

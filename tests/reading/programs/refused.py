"""What is refused, with the words of its docstring?"""

LOG = []
COUNT = 0


def calls_locals():
    """locals() sees more than its arguments"""
    return locals()


def calls_eval():
    """eval() sees more than its arguments"""
    return eval("1 + 1")


def calls_dir():
    """dir() sees more than its arguments"""
    return dir()


def calls_globals_by_another_name():
    """globals() sees more than its arguments"""
    g = globals
    return g()


def super_outside_of_a_class():
    """super() where there is no class, or no first parameter"""

    def f(self):
        return super().f()

    return f


def swallows_a_refusal():
    """locals() sees more than its arguments"""
    try:
        f = locals
        return f()
    except Exception:
        return "swallowed"


def swallows_it_in_a_helper():
    """exec() sees more than its arguments"""

    def helper(f):
        f("1")

    try:
        helper(exec)
    except BaseException:
        return "swallowed"


def looks_at_frames():
    """_getframe() sees more than its arguments"""
    import sys

    return sys._getframe().f_code


def writes_a_global():
    """global COUNT: kept from one call to the next"""
    global COUNT
    COUNT += 1


def writes_a_global_in_a_loop():
    """global COUNT: kept from one call to the next"""
    global COUNT
    for COUNT in range(3):
        pass


def writes_a_global_by_walrus():
    """global COUNT: kept from one call to the next"""
    global COUNT
    return [COUNT := x for x in range(2)]


def writes_a_global_in_an_inner_function():
    """global COUNT: kept from one call to the next"""

    def f():
        global COUNT
        import os as COUNT

    f()


def asynchronous():
    """an asynchronous function"""

    async def f():
        pass

    return f


def asynchronous_with_in_a_generator():
    """an asynchronous function"""

    async def f():
        async with x as y:
            await z

    return f


def uses_the_readers_names():
    """__dpaudit__ is a name of dpaudit's own"""
    __dpaudit__ = 5
    return __dpaudit__


def uses_the_readers_temporaries(__dpaudit_1__=3):
    """__dpaudit_1__ is a name of dpaudit's own"""
    return __dpaudit_1__


def calls_the_reader():
    """__dpaudit__ is a name of dpaudit's own"""
    return __dpaudit__.call(len, [])


def groups_of_exceptions():
    """except*"""
    try:
        raise ExceptionGroup("a", [ValueError()])
    except* ValueError:
        pass


def metaclass():
    """a class with a metaclass"""

    class M(type):
        pass

    class C(metaclass=M):
        pass

    return C


def _unreadable():
    exec("x = 1")


def calls_what_is_refused():
    """exec() sees more than its arguments"""
    try:
        return _unreadable()
    except Exception:
        return "swallowed"


def super_without_an_object():
    """super() where there is no class, or no first parameter"""

    class A:
        def f(self):
            return [super().f for _ in range(1)]

    return A().f()

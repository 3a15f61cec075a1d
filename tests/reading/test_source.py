"""Is the source that is read the source that runs, wherever a function comes from?"""

import importlib.util
import linecache
import subprocess
import sys
import sysconfig
import textwrap
import threading
import traceback

import pytest

from dpaudit.reading.python import Python
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.source import is_of_user, is_rewritten


def module_of(text, folder, name="written"):
    file = folder / f"{name}.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    linecache.checkcache(str(file))
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_this_file(x):
    assert x != 3, f"x is {x}"
    return [x and y for y in (1, 2)]


def test_functions_under_pytests_rewriting_of_assertions():
    assert Python().run(of_this_file, 5) == [1, 2]
    with pytest.raises(AssertionError, match="x is 3"):
        Python().run(of_this_file, 3)
    inner = [lambda v: v + 1, lambda v: v + 2]
    assert [Python().run(each, 1) for each in inner] == [2, 3]


def test_a_file_that_was_changed_after_its_import_is_refused(tmp_path):
    module = module_of("def f():\n    return 1 + 1\n", tmp_path)
    (tmp_path / "written.py").write_text("def f():\n    return 1 + 2\n", encoding="utf-8")
    linecache.checkcache(module.__file__)
    with pytest.raises(UnreadableError, match=r"is not what runs .* it was changed since"):
        Python().run(module.f)


def test_a_module_that_was_imported_again_is_read_as_it_is_now(tmp_path):
    first = module_of("def f():\n    return 1 + 1\n", tmp_path)
    assert Python().run(first.f) == 2
    second = module_of("def f():\n    return 10 + 1\n\ndef g():\n    return f()", tmp_path)
    assert Python().run(second.g) == 11


def test_a_function_that_is_changed_is_read_again(tmp_path):
    module = module_of("def f(x=1):\n    return x + 1\n\ndef g(x=5):\n    return x * 2\n", tmp_path)
    domain = Python()
    assert domain.run(module.f) == 2
    module.f.__defaults__ = (7,)
    assert domain.run(module.f) == 8
    module.f.__code__ = module.g.__code__
    assert domain.run(module.f) == 14


def test_functions_without_a_source_are_refused_in_a_sentence():
    made = {}
    exec("def f(): return 1 + 1", made)
    assert Python().run(made["f"]) == 2  # made by somebody's library: called as it is
    exec(compile("def f(): return 1 + 1", "<stdin>", "exec"), made)
    with pytest.raises(UnreadableError, match=r"the source of f cannot be had .* write it in a file"):
        Python().run(made["f"])


def test_cells_of_a_notebook_are_read():
    text = "def f(x):\n    return [y for y in (x or [1])]\n"
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    made = {}
    exec(compile(text, name, "exec"), made)
    try:
        assert Python().run(made["f"], [3]) == [3]
    finally:
        del linecache.cache[name]


def test_functions_of_one_line_and_one_name_are_told_apart(tmp_path):
    module = module_of(
        """
        a, b, c = lambda: 1 + 0, lambda x=lambda: 2 + 0: x(), lambda: (lambda: (lambda: 3 + 0))

        def f(): return "first" + ""
        first = f

        def f(): return "second" + ""

        class A:
            def f(self): return "A" + ""
            g = lambda self: "g" + ""
        """,
        tmp_path,
    )
    run = Python().run
    assert [run(module.a), run(module.b), run(module.c)()()] == [1, 2, 3]
    assert [run(module.first), run(module.f), run(module.A().f), run(module.A().g)] == ["first", "second", "A", "g"]


def test_annotations_stay_texts_where_a_file_says_so(tmp_path):
    text = """
    {}

    def f():
        class C:
            x: undefined if False else int
            def m(self, a: list[int]) -> "str": ...
        def g(a: int) -> str: ...
        return C.__annotations__, C.m.__annotations__, g.__annotations__
    """
    lazy = module_of(text.format("from __future__ import annotations"), tmp_path, "lazy")
    eager = module_of(text.format(""), tmp_path, "eager")
    assert Python().run(lazy.f) == lazy.f()
    assert Python().run(eager.f) == eager.f()


@pytest.mark.slow
def test_the_source_is_read_as_it_runs_under_flags(tmp_path):
    script = tmp_path / "flags.py"
    script.write_text(
        textwrap.dedent(
            """
            from dpaudit.reading.python import Python
            def f(x):
                "doc"
                assert x, "stays"
                if __debug__:
                    return "debug", (lambda: x + 1)(), f.__doc__
                return "optimized", (lambda: x + 1)(), f.__doc__
            assert Python().run(f, 1) == f(1)
            print(f(0) if not __debug__ else f(1))
            """
        ),
        encoding="utf-8",
    )
    for flags in ([], ["-O"], ["-OO"], ["-X", "no_debug_ranges"]):
        done = subprocess.run([sys.executable, *flags, str(script)], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        assert ("optimized" in done.stdout) == (flags in (["-O"], ["-OO"]))


def test_functions_are_read_while_they_are_traced():
    lines = []

    def trace(frame, event, argument):
        if frame.f_code.co_filename == __file__ and event == "line":
            lines.append(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        assert Python().run(of_this_file, 5) == [1, 2]
    finally:
        sys.settrace(None)
    first = of_this_file.__code__.co_firstlineno
    assert {first + 1, first + 2} <= set(lines)


def test_one_domain_serves_several_threads(tmp_path):
    module = module_of("def f(n):\n    return [k and k * n for k in range(n or 3)]\n", tmp_path)
    domain, out = Python(), {}

    def work(n):
        for _ in range(50):
            out[n] = domain.call(module.f, n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert out == {n: module.f(n) for n in range(8)}


def test_a_traceback_shows_the_lines_of_the_source(tmp_path):
    module = module_of("def f(x):\n    y = 1\n    return (y +\n            1 / x)\n", tmp_path)
    with pytest.raises(ZeroDivisionError) as raised:
        Python().run(module.f, 0)
    shown = [each for each in traceback.extract_tb(raised.value.__traceback__) if each.filename == module.__file__]
    assert [(each.lineno, each.line, each.name) for each in shown] == [(4, "1 / x)", "f")]


def test_depth_of_recursion_is_that_of_python(tmp_path):
    module = module_of("def f(n):\n    return n and 1 + f(n - 1)\n\ndef g():\n    return g()\n", tmp_path)
    limit = sys.getrecursionlimit()
    assert Python().run(module.f, limit - 200) == limit - 200
    with pytest.raises(RecursionError):
        Python().run(module.g)
    assert sys.getrecursionlimit() == limit


def test_inner_functions_are_rewritten_with_the_outer_one(tmp_path):
    module = module_of(
        """
        def f():
            def g(): pass
            return [g, lambda: 1, (lambda x: x), type("C", (), {"m": lambda self: 2})().m]
        """,
        tmp_path,
    )
    made = Python().run(module.f)
    assert all(is_rewritten(getattr(each, "__func__", each)) for each in made)
    assert not is_rewritten(module.f)


def test_a_module_of_an_installed_library_is_not_the_users_whatever_its_name():
    packages = sysconfig.get_path("purelib")
    assert not is_of_user(f"{packages}/diffprivlib/mechanisms/laplace.py")
    assert is_of_user(f"{packages}/dpaudit_mechanisms/laplace.py")

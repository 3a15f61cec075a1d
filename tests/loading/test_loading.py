"""Is the named mechanism found, wherever it lies and whatever lies beside it?"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import os
import py_compile
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit import loading

LAPLACE = "def f(data, noise, *, scale=1.0):\n    return data + noise.laplace(scale)\n"
_names = map("case_{}".format, itertools.count())


def module_level(data, noise):
    return data + noise.laplace(1)


@dp.mechanism(claim="epsilon=1")
def decorated(data, rng):
    return data + rng.laplace()


class Holder:
    @staticmethod
    def inner(data, rng):
        return data + rng.laplace()


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path) -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]
    loading._offers.cache_clear()
    loading.catalogue.cache_clear()


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


# --- the catalogue ---


def offering(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """Let these packages, and no others, offer a catalogue."""
    made = [EntryPoint(name, value, loading.GROUP) for name, value in points]
    monkeypatch.setattr(loading, "entry_points", lambda *, group: made)
    loading._offers.cache_clear()
    loading.catalogue.cache_clear()


def test_the_catalogue_is_found_by_entry_point() -> None:
    assert {"laplace", "exponential", "exact_count"} <= set(dp.catalogue())
    assert any(point.value == "dpaudit_mechanisms" for point in importlib.metadata.entry_points(group=loading.GROUP))
    for name, found in dp.catalogue().items():
        assert found.name == found.reference == name
        assert dp.load(name) is found


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(dp.UsageError, match=r"'laplac'; did you mean 'laplace'.*dpaudit list.*py:name"):
        dp.load("laplac")


def test_names_that_clash_are_written_with_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [next(_names), next(_names)]
    text = "import dpaudit as dp\n__all__ = ['same', '{0}']\n"
    text += "@dp.mechanism\ndef same(data, noise): return '{0}'\n@dp.mechanism\ndef {0}(data, noise): return data\n"
    written(tmp_path / "site", **{name: text.format(f"own_{name}") for name in names})
    monkeypatch.syspath_prepend(tmp_path / "site")
    offering(monkeypatch, ("left", names[0]), ("right", names[1]))
    assert sorted(dp.catalogue()) == sorted(["left:same", "right:same", f"own_{names[0]}", f"own_{names[1]}"])
    assert dp.load("right:same")(0, None) == f"own_{names[1]}"
    assert dp.load("right:same").name == "right:same"
    # the package may be written where nothing clashes, too
    assert dp.load(f"left:own_{names[0]}") is dp.load(f"own_{names[0]}")
    with pytest.raises(dp.UsageError, match="no mechanism is called 'same'; did you mean"):
        dp.load("same")


def test_a_catalogue_inside_a_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(_names)
    text = "import dpaudit as dp\n__all__ = ['deep', 'pi']\npi = 3\n@dp.mechanism\ndef deep(data, noise): return data\n"
    written(written(tmp_path / "site") / name, __init__="", mechanisms=text)
    monkeypatch.syspath_prepend(tmp_path / "site")
    offering(monkeypatch, ("acme", f"{name}.mechanisms"))
    assert list(dp.catalogue()) == ["deep"]


@pytest.mark.parametrize("text", ["raise ValueError('boom')", "import sys; sys.exit(1)", "__all__ = ['absent']"])
def test_a_broken_catalogue_is_named_and_files_load_without_it(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(_names)
    written(tmp_path, **{name: text, "mine": LAPLACE})
    monkeypatch.syspath_prepend(tmp_path)
    offering(monkeypatch, ("acme", name))
    with pytest.raises(dp.UsageError, match=f"catalogue 'acme' .module '{name}'.*uninstall"):
        dp.load("laplace")
    assert dp.load(f"{tmp_path}/mine.py:f").name == "f"


@pytest.mark.parametrize("already_imported", [False, True])
def test_a_module_of_ones_own_does_not_shadow_the_catalogue(
    already_imported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "mechanisms"}
    written(tmp_path, mechanisms="def mine(data, noise): return 'mine'\n__all__ = ['mine']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in kept:
        monkeypatch.delitem(sys.modules, name)
    if already_imported:
        __import__("mechanisms")
    offering(monkeypatch, ("mechanisms", "mechanisms"))
    assert "laplace" in dp.catalogue()
    assert dp.load("mechanisms:laplace").name == "laplace"
    assert dp.load("mechanisms.py:mine")(0, None) == "mine"
    if already_imported:
        assert sys.modules["mechanisms"].mine(0, None) == "mine"  # and the other way round
    sys.modules.pop("mechanisms", None)
    sys.modules.update(kept)


# --- files ---


def test_a_file_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "some folder", target=LAPLACE)
    monkeypatch.chdir(tmp_path)
    found = dp.load("some folder/target.py:f")
    assert (found.name, found.reference, found.defaults) == ("f", f"{folder}/target.py:f", {"scale": 1.0})
    assert found.reference is not None
    assert dp.load(found.reference).function is found.function  # imported once


def test_a_method_in_a_class_in_a_file(tmp_path: Path) -> None:
    text = "class A:\n    class B:\n        @staticmethod\n        def f(data, rng): return data\n"
    assert dp.load(f"{written(tmp_path, target=text)}/target.py:A.B.f").name == "f"


def test_an_edited_file_is_read_anew(tmp_path: Path) -> None:
    target = f"{written(tmp_path, target=LAPLACE)}/target.py:f"
    before = dp.load(target)
    written(tmp_path, target=LAPLACE.replace("1.0", "2.0"))
    after = dp.load(target)
    assert (before.defaults["scale"], after.defaults["scale"]) == (1.0, 2.0)
    assert before.digest is not None


def test_code_that_lies_compiled_beside_a_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of the file, nor of what it imports, nor of a module that is named."""
    written(tmp_path, target="from other import SCALE\ndef f(data, rng, *, scale=SCALE, own=1): return data\n")
    written(tmp_path, other="SCALE = 1\n")
    for name in ("target", "other"):
        file = tmp_path / f"{name}.py"
        text, times = file.read_text(), file.stat()
        file.write_text(text.replace("1", "2"))
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        py_compile.compile(str(file), doraise=True)
        file.write_text(text)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert dp.load(f"{tmp_path}/target.py:f").defaults == {"scale": 1, "own": 1}
    monkeypatch.syspath_prepend(tmp_path)
    assert dp.load("target:f").defaults == {"scale": 1, "own": 1}


def test_a_file_imports_its_own_siblings_and_not_those_of_another(tmp_path: Path) -> None:
    text = "from sibling import SCALE\ndef f(data, noise, *, scale=SCALE): return data\n"
    folders = [written(tmp_path / name, target=text, sibling=f"SCALE = '{name}'") for name in ("one", "two")]
    assert [dp.load(f"{folder}/target.py:f").defaults["scale"] for folder in folders] == ["one", "two"]


def test_a_sibling_imported_late_is_found(tmp_path: Path) -> None:
    text = "def f(data, noise):\n    import late_sibling\n    return late_sibling.SCALE\n"
    folder = written(tmp_path, target=text, late_sibling="SCALE = 7")
    assert dp.load(f"{folder}/target.py:f")(0, None) == 7


def test_siblings_hide_nothing_that_is_installed(tmp_path: Path) -> None:
    before = list(sys.path)
    dp.load(f"{written(tmp_path, target=LAPLACE, colorsys='raise ValueError')}/target.py:f")
    assert sys.path == [*before, str(tmp_path)]
    assert __import__("colorsys").rgb_to_hsv


BAD_FILES = [
    ("raise ValueError('boom')", r"cannot import '.*target.py' \(line 1\): ValueError: boom"),
    ("x = 1\nimport sys\nsys.exit(1)", r"\(line 3\): SystemExit: 1"),
    ("class Odd(BaseException): pass\nraise Odd('hm')", "Odd: hm"),
    ("def f(:", "SyntaxError"),
    ("import absent_module", "ModuleNotFoundError: No module named 'absent_module'"),
    ("f = 3", "'f' in '.*' is no function but 3; write f"),
    ("f = None", "is no function but None"),
    ("def g(data, noise): pass", "has no 'f'; known: g"),
    ("def ff(data, noise): pass\ndef g(data): pass", "has no 'f'; did you mean 'ff'"),
    ("def f(): pass", "takes no data"),
    ("def f(data, noise, rng): pass", "noise and for rng"),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES)
def test_a_file_that_cannot_be_used_is_refused_with_the_reason(text: str, message: str, tmp_path: Path) -> None:
    modules, path = set(sys.modules), list(sys.path)
    with pytest.raises(dp.UsageError, match=message):
        dp.load(f"{written(tmp_path, target=text)}/target.py:f")
    assert not {name for name in set(sys.modules) - modules if name.startswith("target") and "cannot" in message}
    assert set(sys.path) - set(path) <= {str(tmp_path)}


def test_an_interrupted_import_stays_an_interrupt(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        dp.load(f"{written(tmp_path, target='raise KeyboardInterrupt')}/target.py:f")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("none.py:f", "no file 'none.py'"),
        ("none.py", "names a file; say which function in it: 'none.py:name'"),
        ("none:f", "cannot import the module 'none'.*ModuleNotFoundError.*path/to/file.py:name"),
        (":f", "cannot import the module ''"),
        (".a:f", "cannot import the module '.a'"),
        ("", "no mechanism is called ''"),
        ("math:tau", "is no function but 6.28"),
        ("math:taw", "has no 'taw'"),
    ],
)
def test_a_target_that_is_nowhere_is_refused_with_the_forms(target: str, message: str) -> None:
    with pytest.raises(dp.UsageError, match=message):
        dp.load(target)


def test_a_module_in_the_working_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(_names)
    written(written(tmp_path / name, __init__="") / "inner", __init__=LAPLACE)
    monkeypatch.chdir(tmp_path)
    found = dp.load(f"{name}.inner:f")
    assert (found.name, found.reference) == ("f", f"{name}.inner:f")


# --- functions: can another process find the same one? ---


def test_what_another_process_can_find_has_a_reference() -> None:
    here = str(Path(__file__).resolve())
    for function, name in ((module_level, "module_level"), (decorated, "decorated"), (Holder.inner, "Holder.inner")):
        reference = dp.load(function).reference
        assert reference is not None
        assert reference.endswith(f":{name}")
        if reference.rpartition(":")[0].endswith(".py"):
            assert reference == f"{here}:{name}"


def test_what_only_exists_here_has_no_reference() -> None:
    def local(data: Any, noise: Any) -> Any:
        return data

    class Called:
        def __call__(self, data: Any, noise: Any) -> Any:
            return data

    for function in (local, lambda data, noise: data, functools.partial(module_level), Called()):
        assert dp.load(function).reference is None
    assert dp.load(dp.mechanism(decorated.function, shape="opaque")).reference is None  # it would run otherwise there
    assert dp.load(dp.mechanism(max, shape="opaque")).reference is None


MISSING = [("opendp", "opendp>="), ("tmlt", "tmlt.core>="), ("pydp", "python-dp>=")]


@pytest.mark.parametrize(("package", "asked"), MISSING)
def test_a_missing_library_is_named_with_what_to_install(tmp_path: Path, monkeypatch, package: str, asked: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(dp.UsageError, match=rf"{package}.*; pip install '{asked}"):
        dp.load(f"{written(tmp_path, target=f'import {package}')}/target.py:f")


def test_any_other_missing_module_is_named_alone(tmp_path: Path) -> None:
    with pytest.raises(dp.UsageError, match=r"No module named 'nothing_like_this'$"):
        dp.load(f"{written(tmp_path, target='import nothing_like_this')}/target.py:f")

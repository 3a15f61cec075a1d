"""Does a domain do what Python does? Small programs, and all that can be seen of one run of each.

A program is a function without required parameters in a file of ``tests/reading/programs``. It is run by Python, and by
an *adapter*: anything that can run a function. Both runs have a module of their own and the same seeds, and all that
they leave is compared: the result with exact types and shared parts, the exception with its text, causes and lines,
what was printed and warned, the module's variables (among them ``LOG``, in which programs note the order of what they
do), and the state of the generators.

A new domain passes the kit by an entry in `ADAPTERS` of ``tests/reading/test_conformance.py``. What it does not read it
lists, with the words of its refusal; the tests print the list, and fail where a program that is listed is read.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import linecache
import random
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.source import is_rewritten

PROGRAMS = Path(__file__).parents[1] / "reading" / "programs"


@dataclass(frozen=True)
class Adapter:
    """A domain, as the kit runs it.

    Attributes:
        name: for people.
        run: run(function) returns what the function returns, by a domain that is made for this run.
        unread: programs ("file.function") that it refuses, each with words of its refusal.
        alone: programs of which Python calls some function by itself, unread by the domain, each with why.
    """

    name: str
    run: Callable[..., Any]
    unread: Mapping[str, str] = field(default_factory=dict)
    alone: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A function of a file."""

    file: Path
    name: str

    @property
    def title(self) -> str:
        return f"{self.file.stem}.{self.name}"

    def fresh(self) -> types.ModuleType:
        """A module of its own."""
        name = f"conformance_{self.file.stem}"
        module = types.ModuleType(name)
        module.__file__ = str(self.file)
        sys.modules[name] = module
        exec(compiled(self.file), vars(module))
        return module


@functools.cache
def compiled(file: Path) -> types.CodeType:
    return compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)


def programs(folder: Path = PROGRAMS) -> list[Program]:
    """All programs, by file and in order."""
    return [
        Program(file, code.co_name)
        for file in sorted(folder.glob("*.py"))
        for code in compiled(file).co_consts
        if isinstance(code, types.CodeType) and code.co_flags & inspect.CO_OPTIMIZED  # of a function, not of a class
        if not code.co_name.startswith(("_", "<"))
    ]


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of a run."""

    result: Any
    raised: Any
    printed: str
    warned: Any
    state: Any
    drawn: Any


def outcome(program: Program, run: Callable[[Any], Any]) -> Outcome:
    """Run a program.

    Raises:
        UnreadableError: if the domain refuses it.
    """
    module = program.fresh()
    function = getattr(module, program.name)
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 – programs draw from it
    out, result, raised = io.StringIO(), None, None
    with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = run(function)
        except UnreadableError:
            raise
        except BaseException as error:
            raised = error
        state = {name: value for name, value in vars(module).items() if _is_state(name, value)}
        describe = Description()
        described = describe(result), exception(raised, program.file, describe), describe(state)
    told = [
        (each.category.__name__, str(each.message), each.lineno if each.filename == str(program.file) else "elsewhere")
        for each in warned
    ]
    drawn = random.random(), np.random.random()  # noqa: NPY002
    return Outcome(described[0], described[1], out.getvalue(), told, described[2], drawn)


def _is_state(name: str, value: Any) -> bool:
    known = types.ModuleType, types.FunctionType, type
    return not name.startswith("__") and not isinstance(value, known)


class Description:
    """What a value is, down to exact types, bits of floats, order and shared parts."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, Any]] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        title = f"{kind.__module__}.{kind.__qualname__}"
        if value is None or kind in (bool, int, str, bytes, complex, float, type(...), type(NotImplemented)):
            return title, _ADDRESS.sub(" at 0x", repr(value))
        if isinstance(value, np.generic):
            return title, value.dtype.str, value.tobytes().hex()
        if id(value) in self._seen:
            return "again", self._seen[id(value)][0]
        if kind is not tuple:
            self._seen[id(value)] = len(self._seen), value
        return title, *self._parts(value, kind)

    def _parts(self, value: Any, kind: type) -> Iterator[Any]:
        if isinstance(value, np.ndarray):
            content = list(map(self, value.ravel().tolist())) if value.dtype == object else value.tobytes().hex()
            yield from (value.dtype.str, value.shape, content)
        elif isinstance(value, pd.DataFrame | pd.Series | pd.Index):
            frame = value.to_frame() if not isinstance(value, pd.DataFrame) else value
            yield [str(each) for each in frame.dtypes]
            yield from map(self, (list(frame.columns), list(frame.index), frame.to_numpy(object).tolist()))
        elif isinstance(value, BaseException):
            yield from map(self, (_text(value), value.args, _attributes(value)))
        elif isinstance(value, types.FunctionType | types.BuiltinFunctionType):
            yield from (value.__qualname__, value.__module__, value.__doc__)
        elif isinstance(value, types.MethodType):
            yield from (value.__qualname__, self(value.__self__))
        elif isinstance(value, type):
            names = sorted(name for name in vars(value) if not name.startswith("__") or "dpaudit" in name)
            yield from (value.__qualname__, value.__module__, names if "<locals>" in value.__qualname__ else None)
        else:
            base = next((each for each in _PLAIN if isinstance(value, each)), None)
            if base is dict:
                yield [(self(key), self(each)) for key, each in dict.items(value)]
            elif base in (set, frozenset):
                yield sorted(map(self, base.__iter__(value)), key=repr)
            elif base in (list, tuple):
                yield [self(each) for each in base.__iter__(value)]
            elif base is not None:
                yield base.__repr__(value)
            own = _attributes(value, base)
            if own:
                yield self(own)
            elif base is None and not _is_of_programs(kind):
                yield _ADDRESS.sub(" at 0x", repr(value))


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PLAIN = (list, tuple, set, frozenset, dict, int, float, str, bytes, complex)


def _is_of_programs(kind: type) -> bool:
    return kind.__module__.startswith(("conformance", "__main__", "test"))


def _attributes(value: Any, base: type | None = None) -> dict[str, Any]:
    """What an object of a program's class has, by slots too."""
    if type(value) is base or not _is_of_programs(type(value)):
        return {}
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        found = {}
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else list(slots):
            hidden = (
                f"_{kind.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
            )
            with contextlib.suppress(AttributeError):
                found[name] = object.__getattribute__(value, hidden)
    return found


def _text(error: BaseException) -> str:
    try:
        return _ADDRESS.sub(" at 0x", str(error))
    except Exception as other:
        return f"no text: {other!r}"


def exception(error: BaseException | None, file: Path, describe: Description) -> Any:
    """An exception, all that caused it, and the lines of the program that it came through."""
    out = []
    while error is not None and len(out) < 20:
        lines: list[int] = []
        place = error.__traceback__
        while place is not None:
            if place.tb_frame.f_code.co_filename == str(file) and lines[-1:] != [place.tb_lineno]:
                lines.append(place.tb_lineno)
            place = place.tb_next
        told = f"{type(error).__module__}.{type(error).__qualname__}", _text(error), describe(error.args)
        out.append((*told, getattr(error, "__notes__", []), lines, error.__cause__ is not None))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return out


def difference(program: Program, adapter: Adapter, reference: Outcome | None = None) -> str:
    """What differs between Python's run and the adapter's; "" if nothing.

    Raises:
        UnreadableError: if the domain refuses the program.
    """
    python = reference or outcome(program, lambda function: function())
    domain = outcome(program, adapter.run)
    for part in Outcome.__dataclass_fields__:
        expected, found = getattr(python, part), getattr(domain, part)
        if expected != found:
            return f"{program.title}, {part}:\nPython: {expected}\n{adapter.name}: {found}"
    return ""


def called_alone(program: Program, adapter: Adapter) -> list[str]:
    """Return the functions of a program that ran as they are, where the domain does not see what they do."""
    found: list[str] = []

    def watch(frame: types.FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        of_program = code.co_filename == str(program.file) and code.co_name != "<module>"
        if event == "call" and of_program and not is_rewritten(frame):
            found.append(code.co_qualname)

    def run(function: Any) -> Any:
        sys.setprofile(watch)
        try:
            return adapter.run(function)
        finally:
            sys.setprofile(None)

    outcome(program, run)
    return sorted(set(found))


def program_of(text: str, folder: Path, name: str = "program") -> Program:
    """Write a program down."""
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    compiled.cache_clear()
    linecache.checkcache(str(file))
    return Program(file, "program")

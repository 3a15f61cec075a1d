"""Which settings of Python may a target change, and how is dpaudit's own work protected from it?

A mechanism shares a process with its auditor, and two things in it are shared by all code. *Settings* (how NumPy and
`decimal` treat errors, warning filters, the working directory, …): a target runs under the settings that it found and
that its module made when it was loaded; dpaudit computes under its own; and what a target changes while it runs is
restored after every block of runs. *Functions* that dpaudit computes with (Python's, NumPy's, its own): a target that
replaces one is refused, and what it replaced is named and restored. This protects against accidents and is not a
sandbox: see SECURITY.md.

A target that forks would draw the same noise twice; a reading draws none, so that its own forks are told apart.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import fractions
import functools
import gc
import hashlib
import io
import itertools
import json
import math
import os
import re
import struct
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain
from operator import call, is_, itemgetter
from types import FunctionType
from typing import Any

import numpy as np

from dpaudit.errors import InvalidRunsError, UsageError

Functions = dict[Any, dict[str, Any]]
"""Modules and classes, each with functions and classes by name."""


class ReplacedError(UsageError):
    """A function that dpaudit computes with was replaced, so nothing that was computed could be relied on."""


# --- settings ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a process at one time."""

    errors: Any
    call: Any
    buffer: int
    printing: Any
    decimals: decimal.Context
    digits: int
    recursion: int
    collecting: bool
    streams: tuple[Any, Any]
    filters: list[Any]
    shown: Any
    folder: str | None

    @classmethod
    def now(cls) -> Settings:
        """Return the current settings."""
        folder = None
        with suppress(OSError):  # it was removed
            folder = os.getcwd()
        return cls(
            errors=np.geterr(),
            call=np.geterrcall(),
            buffer=np.getbufsize(),
            printing=np.get_printoptions(),
            decimals=decimal.getcontext().copy(),
            digits=sys.get_int_max_str_digits(),
            recursion=sys.getrecursionlimit(),
            collecting=gc.isenabled(),
            streams=(sys.stdout, sys.stderr),
            filters=list(warnings.filters),
            shown=warnings.showwarning,
            folder=folder,
        )

    def hold(self) -> None:
        """Apply these settings; those that already hold are not touched."""
        now = Settings.now()
        if now.errors != self.errors:
            np.seterr(**self.errors)
        if now.call is not self.call:
            np.seterrcall(self.call)
        if now.buffer != self.buffer:
            np.setbufsize(self.buffer)
        if now.printing != self.printing:
            np.set_printoptions(**self.printing)
        decimal.setcontext(self.decimals.copy())
        if now.digits != self.digits:
            sys.set_int_max_str_digits(self.digits)
        if now.recursion != self.recursion:
            sys.setrecursionlimit(self.recursion)
        if now.collecting != self.collecting:
            (gc.enable if self.collecting else gc.disable)()
        sys.stdout, sys.stderr = self.streams
        if now.filters != self.filters:  # only then: it makes Python forget which warnings it has shown
            warnings.filters[:] = self.filters  # type: ignore[index]
        warnings.showwarning = self.shown
        if self.folder is not None and now.folder != self.folder:
            with suppress(OSError):
                os.chdir(self.folder)


_PRINTING = {
    "precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75, "suppress": False, "nanstr": "nan",
    "infstr": "inf", "formatter": None, "sign": "-", "floatmode": "maxprec", "legacy": False, "override_repr": None,
}  # fmt: skip
_KNOWN: dict[str, Any] = {  # the defaults of Python and NumPy; all other settings stay the caller's
    "errors": {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"},
    "call": None,
    "buffer": 8192,
    "printing": {name: value for name, value in _PRINTING.items() if name in np.get_printoptions()},
    "decimals": decimal.Context(
        prec=28,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=-999999,
        Emax=999999,
        capitals=1,
        clamp=0,
        flags=[],
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    ),
    "digits": sys.int_info.default_max_str_digits,
}


@dataclass(slots=True, eq=False)
class _Lender:
    """State while dpaudit's own settings apply: the target's settings, and dpaudit's functions as they were before."""

    theirs: Settings
    functions: _Watch

    @classmethod
    def begin(cls) -> _Lender:
        """Apply dpaudit's settings."""
        with _LOCK:
            theirs = Settings.now()
            if _WORKING:  # another thread has changed what all threads share
                theirs = replace(theirs, digits=_WORKING[0].theirs.digits)
            lender = cls(theirs, _own_functions())
            _WORKING.append(lender)
            replace(theirs, **_KNOWN).hold()
        return lender

    def end(self) -> None:
        """Apply the caller's settings again; those that all threads share with the last thread that ends."""
        with _LOCK:
            _WORKING.remove(self)
            (replace(self.theirs, digits=_KNOWN["digits"]) if _WORKING else self.theirs).hold()


_LENDER: ContextVar[_Lender | None] = ContextVar("lender", default=None)  # each thread has its own
_WORKING: list[_Lender] = []  # of all threads
_LOCK = threading.Lock()


@contextmanager
def own_settings() -> Iterator[None]:
    """Work under dpaudit's own settings.

    The caller's settings are the target's meanwhile, with what loading it adds, and apply again afterwards.

    Raises:
        ReplacedError: if a function that dpaudit computes with had been replaced before.
    """
    if _LENDER.get() is not None:
        yield
        return
    mended = _names(_replaced(_STRANGE))
    replaced = _names(_WATCHED.replaced()) + [name for name in _names(_STRANGE) if name not in mended]
    if replaced:
        raise ReplacedError(_sentence(replaced, "before the target was loaded"))
    lender = _Lender.begin()
    _LENDER.set(lender)
    try:
        yield
    finally:
        _LENDER.set(None)
        lender.end()


@contextmanager
def kept() -> Iterator[None]:
    """Restore the previous settings afterwards."""
    before = Settings.now()
    try:
        yield
    finally:
        before.hold()


def _handed_over() -> tuple[Settings, _Lender | None]:
    """Apply the target's settings; return dpaudit's, and whose the target's are."""
    ours, lender = Settings.now(), _LENDER.get()
    if lender is not None:
        ours = replace(ours, digits=_KNOWN["digits"])  # a target in another thread may have its own just now
        lender.theirs.hold()
    return ours, lender


@contextmanager
def lent() -> Iterator[None]:
    """Let a target run under its own settings, and restore what it changes.

    Raises:
        InvalidRunsError: if it replaced a function that dpaudit computes with.
    """
    ours, lender = _handed_over()
    try:
        yield
    finally:
        replaced = _put_back(lender)
        ours.hold()
        if replaced:  # even if something else was raised, which this may have caused
            raise InvalidRunsError(_sentence(replaced, "while the target ran"))


@contextmanager
def importing() -> Iterator[None]:
    """Let the module of a target be loaded; the settings that it makes are the target's from now on.

    Raises:
        ReplacedError: if it replaced a function that dpaudit computes with.
    """
    ours, lender = _handed_over()
    try:
        yield
    finally:
        replaced = _put_back(lender)
        if lender is not None:
            lender.theirs = Settings.now()
            ours.hold()
    if replaced:
        raise ReplacedError(_sentence(replaced, "when the target was loaded"))


# --- functions --------------------------------------------------------------------------------------------

_SPARED = {"print", "input", "breakpoint", "help", "exit", "quit", "sleep"}  # replacing these changes no result
_BUILT_IN = {"abs", "all", "any", "dict", "enumerate", "float", "getattr", "int", "isinstance", "len", "list", "map",
             "max", "min", "open", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple",
             "type", "zip"}  # fmt: skip
_RANDOM = ("Generator", "SFC64", "SeedSequence", "default_rng")
_FILES = ("open", "fdopen", "write", "close", "replace", "rename", "unlink", "fsync", "stat", "chmod", "getpid")


class _Watch:
    """Functions that are watched, in a form in which thousands of them are compared quickly: after every block."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        listed = [(vars(owner), list(known)) for owner, known in functions.items() if known]
        self._homes = [home for home, _ in listed]
        # one name more: of a single name itemgetter returns no tuple
        self._getters = [itemgetter(*names, names[0]) for _, names in listed]
        self._values = [each for known in functions.values() for each in (*known.values(), *list(known.values())[:1])]

    def holds(self) -> bool:
        """Whether all are there as they were."""
        try:
            there = chain.from_iterable(map(call, self._getters, self._homes))
            return all(map(is_, there, self._values))
        except KeyError:  # one was removed
            return False

    def replaced(self) -> Functions:
        """Return those that were replaced or removed, as they were."""
        return {} if self.holds() else _replaced(self.functions)


def _functions_of(modules: Iterable[types.ModuleType]) -> Functions:
    """Return the functions and classes of modules, and the methods of the classes that they define."""
    functions: Functions = {}
    for module in modules:
        known = {name: value for name, value in list(vars(module).items()) if callable(value)}
        functions[module] = {name: value for name, value in known.items() if name not in _SPARED and name[:2] != "__"}
        for value in known.values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                functions[value] = {name: each for name, each in vars(value).items() if isinstance(each, FunctionType)}
    return functions


def _own_functions() -> _Watch:
    """Return dpaudit's functions as they are; the same as before, where no module was added and none was replaced."""
    global _OWN
    modules = [each for name, each in list(sys.modules.items()) if f"{name}.".startswith(_PACKAGES)]
    if _OWN[0] != modules or not _OWN[1].holds():
        functions: Functions = {}
        for module in modules:  # of hundreds, few have changed
            size, known = _SEEN.get(module, (0, {}))
            if size != len(vars(module)) or _replaced(known):
                known = _functions_of([module])
                _SEEN[module] = len(vars(module)), known
            functions |= known
        _OWN = modules, _Watch(functions)
    return _OWN[1]


def _pythons() -> tuple[Functions, Functions]:
    """Return the watched functions of Python and NumPy, and those that had been replaced before.

    Functions that a notebook adds to the built-in ones are its own.
    """
    functions = _functions_of(
        (builtins, math, json, json.encoder, json.decoder, time, datetime, struct, io, re, decimal)
    )
    strange: Functions = {}
    for owner, known in functions.items():
        for name in [name for name, value in known.items() if _is_strange(value)]:
            value = known.pop(name)
            if owner is not builtins or name in _BUILT_IN:
                strange.setdefault(owner, {})[name] = value
    functions |= _functions_of((fractions, hashlib, itertools, functools, tempfile, np, np.linalg))
    for module, names in ((np.random, _RANDOM), (os, _FILES)):
        functions[module] = {name: getattr(module, name) for name in names}
    return functions, strange


def _is_strange(function: Any) -> bool:
    home = str(getattr(function, "__module__", None) or "builtins").partition(".")[0]
    return home not in sys.stdlib_module_names or home == "unittest"


_PYTHON, _STRANGE = _pythons()
_WATCHED = _Watch(_PYTHON)
_OWN: tuple[list[types.ModuleType], _Watch] = [], _Watch({})
_PACKAGES = ("dpaudit.",)  # whose functions are dpaudit's own
_SEEN: dict[types.ModuleType, tuple[int, Functions]] = {}


def _replaced(functions: Functions) -> Functions:
    strange_ones: Functions = {}
    for owner, known in functions.items():
        there = vars(owner)
        strange = {name: each for name, each in known.items() if there.get(name) is not each}
        if strange:
            strange_ones[owner] = strange
    return strange_ones


def _put_back(lender: _Lender | None) -> list[str]:
    """Restore every function that was replaced, and return the names of these."""
    replaced = _WATCHED.replaced() | ({} if lender is None else lender.functions.replaced())
    for owner, known in replaced.items():
        for name, function in known.items():
            setattr(owner, name, function)
    return _names(replaced)


def _names(functions: Functions) -> list[str]:
    return [_qualified_name(owner, name) for owner, known in functions.items() for name in known]


def _qualified_name(owner: Any, name: str) -> str:
    home = owner.__name__ if isinstance(owner, types.ModuleType) else f"{owner.__module__}.{owner.__name__}"
    return f"{home}.{name}".removeprefix("builtins.")


def _sentence(names: list[str], when: str) -> str:
    more = f", and {len(names) - 3} more" if len(names) > 3 else ""
    was = "was" if len(names) == 1 else "were"
    return (
        f"{', '.join(names[:3])}{more} {was} replaced {when}, and dpaudit computes with what was there: replace it in "
        "the call that needs it, and put it back before the call returns"
    )


# --- How long does something take, on a machine that does other things as well? ---

PATIENCE = 6  # seconds on the clock for one of the CPU


class Taken:
    """How many seconds something takes from here on, whatever else the machine does.

    Those of the CPU, of this process and of others that it waited for. Where a function waits, it uses none: a sixth
    (`PATIENCE`) of those on the clock, if that is more.
    """

    def __init__(self) -> None:
        self._cpu, self._clock = _cpu(), time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since this was made."""
        return max(_cpu() - self._cpu, self.on_the_clock() / PATIENCE)

    def on_the_clock(self) -> float:
        """Return the seconds on the clock since this was made."""
        return time.perf_counter() - self._clock


def _cpu() -> float:
    return time.process_time() + sum(os.times()[2:4])


_OURS = [False]


def fork() -> int:
    """Fork the process, as `os.fork` does."""
    _OURS[0] = True
    try:
        return os.fork()
    finally:
        _OURS[0] = False


def is_ours() -> bool:
    """Whether the fork that happens now is one of a reading."""
    return _OURS[0]

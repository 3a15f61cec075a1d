"""What does a program do, on every path? The symbolic reading.

The same function that is sampled is run on unknown numbers. Each comparison needs a decision: a run takes the first
side that is open, and the function is run again for the others, replaying the decisions, until every side has been
read. A side is left out only with a Farkas vector that shows that no run takes it.

The reading is about the numbers that the program stands for: draws and data are real numbers (or integers), parameters
and literals are the decimals that are written.
"""

from __future__ import annotations

import math
import pickle
import random
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.outcome import Raised, raised
from dpaudit.program.symbolic.budget import count_path
from dpaudit.program.symbolic.linear import Affine
from dpaudit.program.symbolic.noise import RUNNING, AbandonedError, SymbolicError, SymbolicNoise, Unknown
from dpaudit.program.symbolic.simplex import whole_where_possible
from dpaudit.program.symbolic.tree import DEPTH, Node, Output, ProgramPath, ProgramTree
from dpaudit.program.symbolic.value import RefusedError, SymbolicValue, end_of, line_of

__all__ = ["SymbolicError", "Unknown", "queries", "read"]

MOST_LEAVES = 20_000  # about as many as the time budget allows


def queries(length: int, *, integer: bool = False) -> list[Unknown]:
    """Return the data of a program that reads ``length`` answers: q0, q1, …"""
    return [Unknown(f"q{number}", integer) for number in range(length)]


def read(
    function: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any],
    watched: WatchedProgram | None = None,
    *,
    most: int = MOST_LEAVES,
) -> ProgramTree:
    """Read all paths of a program."""
    state = global_state()
    nodes: list[Node] = []
    pending: list[list[Any]] = [[]]
    leaves: list[ProgramPath] = []
    repeated = False
    while pending:
        count_path()
        decisions = pending.pop()
        noise = SymbolicNoise(nodes, decisions)
        following = nullcontext() if watched is None else watched.following(partial(_decided, noise))
        leaf = _run(function, data, parameters, noise, following)
        if watched is not None:
            watched.ended()
        if leaf is not None:
            leaves.append(leaf)
        pending += noise.left_over
        if len(leaves) > most:
            raise SymbolicError(f"the program has more than {most:,} paths; give a smaller length")
        if not repeated and leaf is not None:
            again = SymbolicNoise(nodes, noise.decisions)
            if _run(function, data, parameters, again, nullcontext()) != leaf:
                raise SymbolicError("the program returns another output on the same draws; it must not keep a state")
            repeated = True
    if global_state() != state:
        raise SymbolicError("the program draws from Python's or NumPy's global generator; draw from noise instead")
    changed = None if watched is None else watched.changed()
    if changed is not None:
        raise SymbolicError(f"the program changes {changed} between calls; it must not keep a state")
    return ProgramTree(tuple(nodes), tuple(leaves))


def global_state() -> tuple[Any, bytes]:
    """Return the state of the generators that all of Python shares."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002


def _decided(noise: SymbolicNoise) -> int:
    return noise.decided


def _run(
    function: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any],
    noise: SymbolicNoise,
    following: AbstractContextManager[None],
) -> ProgramPath | None:
    """Read one path while tracing it; None if no run takes it."""
    given, exact = noise.given(data), {name: noise.given(value) for name, value in parameters.items()}
    before = _identities([given, exact])[1:]
    try:
        output = _read_output(function, given, exact, noise, following)
    except AbandonedError:
        return noise.end(("none",), is_null=True)
    except RefusedError as refused:
        raise SymbolicError(str(refused)) from None
    if _identities([given, exact])[1:] != before:
        raise SymbolicError("the program changes its data or its parameters; it must work on a copy")
    return noise.end(output)


def _read_output(
    function: Callable[..., Any],
    data: Any,
    parameters: dict[str, Any],
    noise: SymbolicNoise,
    following: AbstractContextManager[None],
) -> Output:
    outer = sys.exception()
    token = RUNNING.set(noise)
    try:
        failed = None
        with following:
            try:
                result = function(data, noise, **parameters)
            except (TypeError, AttributeError, NotImplementedError, RecursionError) as error:
                # most likely the program needs a real float and got an unknown number
                where = _raised_at(error)
                raise RefusedError(f"{where and where + ': '}raises {type(error).__name__}: {error}") from None
            except (Exception, SystemExit) as error:
                failed, where = raised(error, outer), _raised_at(error)
        noise.ended_at = partial(end_of, function) if failed is None else lambda: where
        return _output(result, noise) if failed is None else ("exception", _exception_text(failed, noise))
    finally:
        RUNNING.reset(token)
        noise.close()


def _raised_at(error: BaseException) -> str:
    """Return the innermost line of the program that raised an exception, empty if there is none."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return "" if frames is None else line_of(frames.tb_frame)


def _identities(value: Any) -> Any:
    """Return a key that stays equal exactly if the value, and everything in it, was not changed."""
    if type(value) in (list, tuple):
        return id(value), *map(_identities, value)
    if type(value) is dict:
        return id(value), *((key, _identities(member)) for key, member in value.items())
    return id(value)


def _exception_text(found: Raised, noise: SymbolicNoise) -> str:
    """Return everything an exception says; a number in it must be a constant of the path, or the program is refused."""
    text = str(_constant(found, noise)).removeprefix("raises ")
    if "at 0x" in text:
        noise.refuse("an exception that says where in memory an object lies")
    return text


def _constant(value: Any, noise: SymbolicNoise, depth: int = 0) -> Any:
    """Return what an exception contains besides its text, in plain values."""
    kind = type(value)
    if depth <= DEPTH:
        if kind is Raised:
            details = ((name, _constant(member, noise, depth + 1)) for name, member in value.details)
            return Raised(value.kind, value.message, tuple(details))
        if kind is SymbolicValue:
            return value._leave("an exception that holds")
        if kind in (list, tuple):
            return kind(_constant(member, noise, depth + 1) for member in value)
        if kind is dict:
            return {_constant(k, noise, depth + 1): _constant(v, noise, depth + 1) for k, v in value.items()}
        if value is None or kind in (bool, int, float, str, bytes):
            return value
    return noise.refuse(f"an exception that holds a {kind.__name__}; numbers, text, lists, tuples and dicts are known")


def _output(result: Any, noise: SymbolicNoise, depth: int = 0) -> Output:
    if depth > DEPTH:
        noise.refuse(f"an output with more than {DEPTH} levels")
    kind = type(result)
    if kind is SymbolicValue:
        if not result.expression.is_constant:
            noise.ensure_own(result._noise)
        if not result.is_whole:
            noise.ensure_zero(result)
        return ("int" if result.is_whole else "float"), result.expression
    if kind is bool or kind is np.bool_:
        return "bool", bool(result)
    if kind is int or kind is np.int64:
        return "int", Affine({}, int(result))
    if kind is float or kind is np.float64:
        number = float(result)
        if math.copysign(1, number) < 0 and (number == 0 or math.isnan(number)):
            noise.refuse(f"the output -{abs(number)}, which is told from {abs(number)}; add 0.0 to a zero")
        if math.isnan(number) and struct.pack(">d", number) != struct.pack(">d", math.nan):
            noise.refuse("an output that is NaN with a payload")
        # a constant is compared with other constants only, so its decimal may be long
        return "float", Affine({}, whole_where_possible(decimal_of(number))) if math.isfinite(number) else str(number)
    if kind is str:
        if any("\ud800" <= letter <= "\udfff" for letter in result):
            noise.refuse("a text with a lone surrogate, which is no Unicode")
        return "str", result
    if result is None:
        return ("none",)
    if kind in (list, tuple):
        return kind.__name__, *(_output(member, noise, depth + 1) for member in result)
    if kind is dict:
        members = [(_output(k, noise, depth + 1), _output(v, noise, depth + 1)) for k, v in result.items()]
        return "dict", *members
    return noise.refuse(f"an output of type {kind.__name__}; numbers, text, None, lists, tuples and dicts are known")

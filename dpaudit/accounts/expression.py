"""Which events does a text write? The inverse of ``str`` of events: ``Gaussian('1.1').poisson('0.004').times(14000)``.

Nothing is evaluated. Entries of the catalogue are read too, with their parameters by name: ``laplace(epsilon=0.5)``.
"""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from typing import Any, NoReturn

from dpaudit import accounting
from dpaudit.accounting import Events
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.registered import registered

MECHANISMS = {
    name: getattr(accounting, name)
    for name in (
        "Gaussian",
        "Laplace",
        "DiscreteLaplace",
        "DiscreteGaussian",
        "RandomisedResponse",
        "Exponential",
        "Block",
    )
}
"""The mechanisms by their names."""

_STEPS = ("poisson", "fixed_size", "shuffled", "times")
_LONGEST = 200_000  # characters
_DEEPEST = 8  # calls on calls: Gaussian(1).poisson(0.1).times(2) are three
_EXAMPLE = "Gaussian('1.1').poisson('0.004').times(14000) + Laplace(2)"


def parse_events(text: str, *, stored: bool = False) -> Events:
    """Read events from their text.

    Args:
        text: of events.
        stored: whether 0.1 is what a float stores, as in earlier evidence; '0.1' is the decimal always.

    Raises:
        UsageError: for what is no such text, or describes nothing that can be run.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"a text of {len(text):,} characters is too long; list the releases in a plan file")
    try:
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse(text)
    for each in ast.walk(node) if stored else ():
        if isinstance(each, ast.Constant) and isinstance(each.value, float) and math.isfinite(each.value):
            each.value = str(Fraction(each.value))
    parts = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    parts.append(node)
    found = [_read(part, text, 0) for part in reversed(parts)]
    return Events(tuple(part for each in found for part in accounting.as_events(each).parts))


def is_plain(text: str) -> bool:
    """Whether a text that reads as events is written as `str` writes them, and names no entry of a catalogue."""
    tree = ast.parse(text, mode="eval")
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    return ast.unparse(tree) == text and names <= set(MECHANISMS)


def _read(node: ast.expr, text: str, depth: int) -> Any:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth < _DEEPEST:
        return _read(node.left, text, depth + 1) + _read(node.right, text, depth + 1)
    if not isinstance(node, ast.Call) or depth > _DEEPEST:
        _refuse(text)
    arguments = [_constant(each, text) for each in node.args]
    named = {each.arg: _constant(each.value, text) for each in node.keywords if each.arg is not None}
    if len(named) < len(node.keywords):
        _refuse(text)
    called: Any
    if isinstance(node.func, ast.Name):
        name = node.func.id
        if name not in MECHANISMS:
            if arguments:
                raise UsageError(f"there is no mechanism {name!r}; {nearest(name, MECHANISMS)}")
            found = registered("event")(name, named)
            if found is None:
                raise UsageError(
                    f"there is no mechanism {name!r}, and no entry of the catalogue; {nearest(name, MECHANISMS)}"
                )
            return found
        called = MECHANISMS[name]
    elif isinstance(node.func, ast.Attribute):
        name, on = node.func.attr, _read(node.func.value, text, depth + 1)
        called = getattr(on, name, None) if name in _STEPS else None
        if called is None:
            raise UsageError(
                f"{on} has no {name!r}: a mechanism has {', '.join(f'.{each}(…)' for each in _STEPS)}, and what is "
                "sampled .times(…)"
            )
    else:
        _refuse(text)
    try:
        return called(*arguments, **named)
    except TypeError:
        raise UsageError(f"{ast.unparse(node)} is not how {name} is written; write for example {_EXAMPLE}") from None


def _constant(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str) and node.value is not True:
        return node.value
    _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise UsageError(f"cannot read the events {text[:80]!r}; write for example {_EXAMPLE!r}, or name a plan file")

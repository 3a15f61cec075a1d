"""How is the noise of JAX followed? Its draws return followed arrays of NumPy, and its operators give way to them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.program.laws import EXPONENTIAL, GAUSSIAN, GUMBEL, LAPLACE, LOGISTIC, UNIFORM, NoiseLaw
from dpaudit.tracing.primitives import DrawingMethod, noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.values import is_followed

_DRAWS: dict[str, NoiseLaw] = {
    "normal": GAUSSIAN, "laplace": LAPLACE, "gumbel": GUMBEL, "exponential": EXPONENTIAL, "logistic": LOGISTIC,
    "uniform": UNIFORM,
}  # fmt: skip
_FUNCTIONS = (
    "add", "subtract", "multiply", "divide", "true_divide", "negative", "sum", "mean", "dot", "matmul", "concatenate",
    "stack", "reshape", "ravel", "asarray", "array", "argmax", "argmin", "max", "min", "exp", "log", "abs", "sqrt",
    "clip", "maximum", "minimum", "where", "cumsum", "round", "sign",
)  # fmt: skip
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "__add__": lambda x, y: x + y, "__radd__": lambda x, y: y + x, "__sub__": lambda x, y: x - y,
    "__rsub__": lambda x, y: y - x, "__mul__": lambda x, y: x * y, "__rmul__": lambda x, y: y * x,
    "__truediv__": lambda x, y: x / y, "__rtruediv__": lambda x, y: y / x, "__matmul__": lambda x, y: x @ y,
    "__rmatmul__": lambda x, y: y @ x, "__gt__": lambda x, y: x > y, "__lt__": lambda x, y: x < y,
    "__ge__": lambda x, y: x >= y, "__le__": lambda x, y: x <= y,
}  # fmt: skip


def _drawing(name: str, law: NoiseLaw) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def draw(key: Any, *args: Any, **keywords: Any) -> Any:
            recorder = active()
            if recorder is None:
                return original(key, *args, **keywords)
            where = site()
            with recorder.own_work():
                drawn = original(key, *args, **keywords)
                moved = name == "uniform" and (len(args) > 2 or {"minval", "maxval"} & keywords.keys())
                if moved or isinstance(drawn, sys.modules["jax"].core.Tracer):
                    return _unseen(recorder, name, where, drawn)
                return noted(recorder, law, 1.0, 0.0, np.asarray(drawn, dtype=np.float64), where, f"jax.random.{name}")

        return draw

    return followed


def _unseen(recorder: Any, name: str, where: str, drawn: Any) -> Any:
    recorder.unseen[f"jax.random.{name} is drawn where it is not followed, at {where}"] = None
    return drawn


def _holds_followed(value: Any) -> bool:
    return is_followed(value) or (isinstance(value, list | tuple) and any(map(_holds_followed, value)))


def _unfollowed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_unfollowed, value))
    return np.asarray(value) if type(value).__module__.startswith("jax") else value


def _giving_way(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what follows a function of ``jax.numpy``: on followed arrays it is NumPy's."""

    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **keywords: Any) -> Any:
            if active() is None or not _holds_followed(args):
                return original(*args, **keywords)
            return getattr(np, name)(*_unfollowed(args), **keywords)

        return function

    return followed


def _operator(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def operator(self: Any, other: Any) -> Any:
            if active() is None or not is_followed(other):
                return original(self, other)
            return _OPERATORS[name](np.asarray(self), other)

        return operator

    return followed


ROWS = (
    *(DrawingMethod("jax.random", "", name, followed=_drawing(name, law)) for name, law in _DRAWS.items()),
    *(DrawingMethod("jax.numpy", "", name, followed=_giving_way(name)) for name in _FUNCTIONS),
    *(DrawingMethod("jaxlib._jax", "ArrayImpl", name, followed=_operator(name)) for name in _OPERATORS),
)
"""Its draws, functions and operators."""

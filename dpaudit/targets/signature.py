"""What does a function ask for, and so how is it run?

=================  =======================================  =================================
asks for           signature                                runs as
=================  =======================================  =================================
``noise``          ``f(data, noise, **parameters)``         a program: one output a run
``size``           ``f(data, size, rng, **parameters)``     a sampler: ``size`` outputs a call; without
                                                            ``rng`` one, as an opaque function
``rng`` alone      ``f(data, rng, **parameters)``           seeded: one output a call
none of these      ``f(data, **parameters)``                opaque: randomness of its own
=================  =======================================  =================================
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from dpaudit.errors import UsageError

FILLED = ("noise", "rng", "size")


class Shape(Enum):
    """What a function asks for, and so how it is run."""

    PROGRAM = "program"
    SAMPLER = "sampler"
    SEEDED = "seeded"
    OPAQUE = "opaque"
    READ = "read"  # of runs alone: a seeded or opaque function whose source is read, so that one pass makes many

    def __str__(self) -> str:
        return self.value


FORMS = (
    "f(data, noise, **parameters), f(data, size, rng, **parameters), "
    "f(data, rng, **parameters) or f(data, **parameters)"
)


def title_of(function: Any) -> str:
    """Return the name of a function, or of the class of a callable."""
    if isinstance(function, functools.partial):
        return title_of(function.func)
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _listed(function: Callable[..., Any], *, follow: bool) -> list[inspect.Parameter]:
    try:
        listed = list(inspect.signature(function, follow_wrapped=follow).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(
            f"{title_of(function)} has no readable signature; wrap it in one of the forms {FORMS}, "
            "or give shape='opaque'"
        ) from None
    if not listed or listed[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise UsageError(f"{title_of(function)} takes no data; the forms of a mechanism are {FORMS}")
    return listed


def _takes_any(listed: list[inspect.Parameter]) -> bool:
    return listed[-1].kind is inspect.Parameter.VAR_KEYWORD


def names_taken(function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Return what a function takes by name after its data, with defaults, and whether it takes any other name.

    A wrapper (functools.wraps) that takes ``**names`` passes them on to the inner function, whose names count too;
    except ``noise``, ``rng`` and ``size`` if the wrapper itself asks for one of them.
    """
    try:
        own = _listed(function, follow=False)
    except UsageError:
        own = _listed(function, follow=True)  # a wrapper without its own signature, such as a cache
    names = _named(own, title_of(function))
    if not _takes_any(own):
        return names, False
    inner = _listed(function, follow=True)
    handed_on = _named(inner, title_of(function))
    if not names.keys().isdisjoint(FILLED):
        handed_on = {name: default for name, default in handed_on.items() if name not in FILLED}
    return {**handed_on, **names}, _takes_any(inner)


def _named(listed: list[inspect.Parameter], title: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for item in listed[1:]:
        if item.kind is inspect.Parameter.POSITIONAL_ONLY:
            if item.default is inspect.Parameter.empty:
                raise UsageError(f"{title} takes {item.name} by position only; give it by name: write {FORMS}")
        elif item.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            names[item.name] = item.default
    return names


def inferred(names: Mapping[str, Any], title: str) -> tuple[Shape, frozenset[str]]:
    """Return how a function is run, and which of noise, rng and size it asks for."""
    asked = frozenset(
        name for name in FILLED if name in names and (names[name] is inspect.Parameter.empty or names[name] is None)
    )
    if "noise" in asked:
        if asked != {"noise"}:
            raise UsageError(f"{title} asks for noise and for {', '.join(sorted(asked - {'noise'}))}; write {FORMS}")
        return Shape.PROGRAM, asked
    if "size" in asked:
        return Shape.SAMPLER, asked
    return (Shape.SEEDED if "rng" in asked else Shape.OPAQUE), asked


_SIZES = ("n_samples", "num_samples", "nsamples", "n_runs", "samples", "n")


def size_hint(missing: list[str]) -> str:
    """Advice if the number of outputs of a call has another name than ``size``."""
    other = next((name for name in missing if name in _SIZES), None)
    return "" if other is None else f"; where {other} says how many outputs a call returns, name it size"


_NEEDED = {Shape.PROGRAM: "noise", Shape.SAMPLER: "size", Shape.SEEDED: "rng", Shape.OPAQUE: None}


def stated(shape: str | Shape, names: Mapping[str, Any], anything: bool, title: str) -> tuple[Shape, frozenset[str]]:
    """Return the call style that was stated explicitly, and what such a function receives."""
    try:
        kind = Shape(str(shape))
        needed = _NEEDED[kind]
    except (ValueError, KeyError):
        raise UsageError(f"shape is one of {', '.join(map(str, _NEEDED))}, not {shape!r}") from None
    if needed is not None and needed not in names and not anything:
        raise UsageError(f"{title} cannot run as {kind}: it does not take {needed}; write {FORMS}")
    given = {"size", "rng"} if kind is Shape.SAMPLER else {needed}
    return kind, frozenset(name for name in FILLED if name in given and (name in names or anything))


def refuse_other_callables(function: Callable[..., Any], title: str) -> None:
    """Raise `UsageError` for callables that do not return outputs of a mechanism."""
    if inspect.isclass(function):
        raise UsageError(
            f"{title} is a class, and a call of it makes an object; write a function around it: "
            f"def release(data, rng): return {title}(…).its_method(data)"
        )
    if inspect.iscoroutinefunction(function):
        raise UsageError(
            f"{title} is async, and a call of it returns a coroutine; write a function around it: "
            f"def release(data): return asyncio.run({title}(data))"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"{title} is a generator, and a call of it runs nothing; write a function that returns what it yields: "
            f"def release(data, rng): return list({title}(data, rng))"
        )
    qualified = getattr(function, "__qualname__", "")
    owner = qualified.rpartition(".")[0].rpartition(".")[2]
    if inspect.isfunction(function) and owner.isidentifier() and _first_parameter(function) == "self":
        raise UsageError(
            f"{qualified} is a method without its object, so that the data would stand for self; write a function "
            f"around it: def release(data, rng): return {owner}(…).{title}(data)"
        )


def _first_parameter(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return str(code.co_varnames[0]) if code is not None and code.co_argcount else ""

"""What is this function, as a mechanism: what does it ask for, what is claimed of it, on which pairs?

Nothing is ever subclassed. A mechanism is a function; what it asks for decides how it is run:

=================  =======================================  =================================
asks for           signature                                runs as
=================  =======================================  =================================
``noise``          ``f(data, noise, **parameters)``         a program: one output a run
``size``           ``f(data, size, rng, **parameters)``     a sampler: ``size`` outputs a call
``rng`` alone      ``f(data, rng, **parameters)``           seeded: one output a call
none of these      ``f(data, **parameters)``                opaque: randomness of its own
=================  =======================================  =================================
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dpaudit.errors import UsageError, nearest
from dpaudit.privacy.claims import Claim, as_claim

_FILLED = ("noise", "rng", "size")


class Shape(Enum):
    """What a function asks for, and so how it is run."""

    PROGRAM = "program"
    SAMPLER = "sampler"
    SEEDED = "seeded"
    OPAQUE = "opaque"

    def __str__(self) -> str:
        return self.value


FORMS = (
    "f(data, noise, **parameters), f(data, size, rng, **parameters), "
    "f(data, rng, **parameters) or f(data, **parameters)"
)


def _title(function: Any) -> str:
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if not callable(function):
        raise UsageError(f"a mechanism is a function, not {function!r}; write {FORMS}")
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise UsageError(
            f"{_title(function)} has no readable signature; wrap it in one of the forms {FORMS}, or give shape='opaque'"
        ) from None


def _asked(function: Callable[..., Any]) -> tuple[frozenset[str], dict[str, Any], bool]:
    """Return which of noise, rng, size it asks for, its parameters with defaults, and whether it takes any name."""
    listed = list(_signature(function).parameters.values())
    if not listed or listed[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    ):
        raise UsageError(f"{_title(function)} takes no data; the forms of a mechanism are {FORMS}")
    filled: set[str] = set()
    parameters: dict[str, Any] = {}
    anything = False
    for item in listed[1:]:
        if item.kind is inspect.Parameter.VAR_KEYWORD:
            anything = True
        elif item.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        elif item.name in _FILLED and (item.default is inspect.Parameter.empty or item.default is None):
            filled.add(item.name)
        else:
            parameters[item.name] = item.default
    return frozenset(filled), parameters, anything


def _shape_of(asked: frozenset[str], name: str) -> Shape:
    if "noise" in asked:
        if asked != {"noise"}:
            raise UsageError(f"{name} asks for noise and for {', '.join(sorted(asked - {'noise'}))}; write {FORMS}")
        return Shape.PROGRAM
    if "size" in asked:
        return Shape.SAMPLER
    return Shape.SEEDED if "rng" in asked else Shape.OPAQUE


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A randomised function with what is known of it; calling it calls the function.

    Attributes:
        function: the function itself.
        name: its name in the catalogue, in reports and on the command line.
        claim: a Claim, its text, a callable that is given the parameters it names, or None.
        relation: the text of a relation, or a callable of parameters, or None.
        pairs: worst-case pairs, a list or a callable of parameters, or None.
        true_loss: the real value of the claim's parameter over those pairs, where known (or a callable).
        unit: what one record stands for.
        source: authors, year, number of the algorithm or theorem.
        family: the group it is listed under.
        correct: False for a published mistake.
        shape: how it is run.
        reference: the text by which another process can load it, or None.
    """

    function: Callable[..., Any]
    name: str
    claim: Any = None
    relation: Any = None
    pairs: Any = None
    true_loss: Any = None
    unit: str = ""
    source: str = ""
    family: str = ""
    correct: bool = True
    shape: Shape = Shape.OPAQUE
    reference: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    open_ended: bool = False
    asked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "__wrapped__", self.function)
        for attribute in ("__doc__", "__module__", "__qualname__", "__name__"):
            if hasattr(self.function, attribute):
                object.__setattr__(self, attribute, getattr(self.function, attribute))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it is."""
        return self.function(*args, **kwargs)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def digest(self) -> str | None:
        """SHA-256 of the function's source, or None where there is none to read."""
        try:
            source = inspect.getsource(inspect.unwrap(self.function))
        except (OSError, TypeError):
            return None
        return hashlib.sha256(source.encode()).hexdigest()

    def parameters_with(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return all parameters: the given ones over the defaults.

        Raises:
            UsageError: for a parameter that does not exist, or one without a value.
        """
        given = dict(given or {})
        for name in given:
            if name not in self.defaults and not (self.open_ended and name not in _FILLED):
                raise UsageError(f"{self.name} has no parameter {name!r}; {nearest(name, self.defaults)}")
        merged = {**self.defaults, **given}
        missing = [name for name, value in merged.items() if value is inspect.Parameter.empty]
        if missing:
            raise UsageError(f"{self.name} needs a value for {', '.join(missing)}; give it as a parameter")
        return merged

    def claim_for(self, parameters: Mapping[str, Any]) -> Claim | None:
        """Return the claim at these parameters, or None where the mechanism makes none."""
        return as_claim(self._resolve(self.claim, parameters, "claim"))

    def relation_for(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the text of the relation at these parameters, or None."""
        relation = self._resolve(self.relation, parameters, "relation")
        return None if relation is None else str(relation)

    def pairs_for(self, parameters: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return the worst-case pairs at these parameters; empty where the mechanism names none."""
        return [tuple(pair) for pair in self._resolve(self.pairs, parameters, "pairs") or []]

    def true_loss_for(self, parameters: Mapping[str, Any]) -> float | None:
        """Return the real loss over the worst-case pairs, in the claim's own parameter, where it is known."""
        loss = self._resolve(self.true_loss, parameters, "true_loss")
        return None if loss is None else float(loss)

    def _resolve(self, spec: Any, parameters: Mapping[str, Any], what: str) -> Any:
        """Call a callable with the parameters that it names; return anything else as it is."""
        if not callable(spec):
            return spec
        wanted = inspect.signature(spec).parameters
        absent = [
            name for name, item in wanted.items() if name not in parameters and item.default is inspect.Parameter.empty
        ]
        if absent:
            raise UsageError(
                f"the {what} of {self.name} is computed from {', '.join(absent)}, which is no parameter of it; "
                f"{nearest(absent[0], parameters)}"
            )
        return spec(**{name: parameters[name] for name in wanted if name in parameters})


def mechanism(
    function: Callable[..., Any] | None = None,
    *,
    claim: Any = None,
    relation: Any = None,
    pairs: Any = None,
    true_loss: Any = None,
    unit: str = "",
    source: str = "",
    family: str = "",
    correct: bool = True,
    name: str | None = None,
    shape: str | Shape | None = None,
    reference: str | None = None,
) -> Any:
    """Say what a function claims: a decorator, with or without arguments, or a plain call.

    Every argument is described at `Mechanism`; ``claim``, ``relation``, ``pairs`` and ``true_loss`` may be
    callables, which are given the parameters that they name (a claim class in the usual case).

    Raises:
        UsageError: for a callable without a readable signature or in none of the forms.
    """
    if function is None:
        return functools.partial(
            mechanism,
            claim=claim,
            relation=relation,
            pairs=pairs,
            true_loss=true_loss,
            unit=unit,
            source=source,
            family=family,
            correct=correct,
            name=name,
            shape=shape,
            reference=reference,
        )
    title = name or _title(function)
    asked: frozenset[str] = frozenset()
    defaults: dict[str, Any] = {}
    open_ended = True
    if shape is None:
        asked, defaults, open_ended = _asked(function)
        kind = _shape_of(asked, title)
    else:
        try:
            kind = Shape(str(shape))
        except ValueError:
            raise UsageError(f"shape is one of {', '.join(map(str, Shape))}, not {shape!r}") from None
        wanted = {
            Shape.PROGRAM: {"noise"},
            Shape.SAMPLER: {"size", "rng"},
            Shape.SEEDED: {"rng"},
            Shape.OPAQUE: set(),
        }
        asked = frozenset(wanted[kind])
        try:
            _, defaults, open_ended = _asked(function)
        except UsageError:
            defaults = {}
    return Mechanism(
        function=function,
        name=title,
        claim=claim,
        relation=relation,
        pairs=pairs,
        true_loss=true_loss,
        unit=unit,
        source=source,
        family=family,
        correct=correct,
        shape=kind,
        reference=reference,
        defaults=defaults,
        open_ended=open_ended,
        asked=asked,
    )

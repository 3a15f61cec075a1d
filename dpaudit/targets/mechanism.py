"""What is claimed about a function, and how does an object of a library become such a mechanism?

There is nothing to subclass: a mechanism is a function, and what it asks for decides how it is run
(`dpaudit.targets.signature`).

An adapter is a module ``dpaudit.adapters.NAME`` with a function ``mechanism_of(made, …)``: it takes an object of a
library and returns a `Mechanism` that runs the library's own code, with the claim stated by the library's own privacy
map or accountant, the relation of its input metric, the unit, and the library's version. Nothing is computed here that
the library computes itself: an audit asks whether the library keeps *its* promise.

`dpaudit.audit` recognises an object by the module of its type, so nothing is imported for objects from elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, TypedDict, Unpack, overload

from dpaudit.errors import UsageError, nearest, refuse_unknown
from dpaudit.privacy.claims import ApproxDP, Claim, PureDP, as_claim
from dpaudit.targets.signature import (
    FORMS,
    Shape,
    inferred,
    names_taken,
    reached_digest,
    refuse_other_callables,
    size_hint,
    stated,
    title_of,
)
from dpaudit.targets.signature import PREFIX as REACHED

# --- What is claimed about a function, on which pairs, and what else is known of it? ---------------------


def _sources(function: Any) -> Iterator[str]:
    """The source of a function and of every function that it wraps, as far as it can be read.

    An object that combines functions, such as a fold, lists them as ``__functions__``.
    """
    while function is not None:
        if isinstance(function, functools.partial):
            function = function.func
            continue
        parts = getattr(function, "__functions__", None)
        if parts is not None:
            yield from _sources_of_parts(parts, set())
        elif not isinstance(function, Mechanism):
            own = getattr(function, "__code__", None)  # the source of the wrapper itself, not of the inner function
            has_source = inspect.isroutine(function) or inspect.isclass(function)
            with contextlib.suppress(OSError, TypeError, SyntaxError):
                yield inspect.getsource(own or (function if has_source else type(function)))
        function = getattr(function, "__wrapped__", None)


def _sources_of_parts(parts: Iterable[Any], seen: set[int]) -> Iterator[str]:
    """The sources of parts and of their closures; parts that are not functions count as values.

    Parts are often made by one function for several objects, which then differ only in their closures.
    """
    for part in parts:
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, functools.partial):
            yield from _sources_of_parts([part.func, part.args, part.keywords], seen)
        elif callable(part):
            yield from _sources(part)
            yield from _sources_of_parts(_closed_over(part), seen)
        else:
            yield re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(part))  # an address differs from run to run


def _closed_over(function: Any) -> Iterator[Any]:
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield cell.cell_contents


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A randomised function with what is known about it; calling it calls the function.

    Attributes:
        function: the function itself.
        name: its name in the catalogue, in reports and on the command line.
        claim: a Claim, its text, a callable of the parameters that it names, or None.
        relation: the text of a relation, or a callable of parameters, or None.
        pairs: worst-case pairs, a list or a callable of parameters, or None.
        true_loss: the true value of the claim's parameter over those pairs, if known (or a callable).
        law: if outputs are single numbers of a known distribution, a callable of ``data`` and of the parameters that it
            names, which returns the function x ↦ P(output < x) over arrays (floats, shape kept), or None for such data.
            It is drawn beside the counts, and decides nothing.
        query: the deterministic function within, before any noise: a callable of the data and of the parameters that it
            names, which returns numbers. `dpaudit.auditing.sensitivity` searches for a counterexample to its declared
            sensitivity.
        sensitivity: the declared largest movement of the query between neighbours: a number, or (number, norm) with the
            norm 1, 2 or "inf"; or a callable of the parameters that it names.
        unit: what one record stands for.
        source: authors, year, number of the algorithm or theorem.
        family: the group it is listed under.
        correct: False for a published mistake.
        needs: what it takes to find the mistake, if an audit with the default runs does not.
        shape: how it is run.
        reference: the text by which another process can load it, or None.
        defaults: its parameters with their default values.
        open_ended: whether it takes any other parameter.
        asked: which of noise, rng and size it asks for.
        versions: versions, besides dpaudit's own, that its outputs depend on, by distribution; evidence records them.
    """

    function: Callable[..., Any]
    name: str
    claim: Any = None
    relation: Any = None
    pairs: Any = None
    true_loss: Any = None
    law: Any = None
    query: Callable[..., Any] | None = None
    sensitivity: Any = None
    unit: str = ""
    source: str = ""
    family: str = ""
    correct: bool = True
    needs: str = ""
    shape: Shape = Shape.OPAQUE
    reference: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    open_ended: bool = False
    asked: frozenset[str] = frozenset()
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__wrapped__", self.function)
        for attribute in ("__doc__", "__module__", "__qualname__", "__name__"):
            if hasattr(self.function, attribute):
                object.__setattr__(self, attribute, getattr(self.function, attribute))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it is."""
        return self.function(*args, **kwargs)

    @property
    def own_randomness(self) -> bool:
        """Whether it receives nothing to draw from: an opaque function, or a sampler that does not ask for rng."""
        return self.shape is Shape.OPAQUE or (self.shape is Shape.SAMPLER and "rng" not in self.asked)

    @property
    def description(self) -> str:
        """The docstring of the function, or an empty text."""
        function = self.function
        while isinstance(function, functools.partial):
            function = function.func
        return inspect.getdoc(function) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.description.partition("\n")[0]

    @functools.cached_property
    def digest(self) -> str | None:
        """A digest of the function's code and everything that it reaches (`dpaudit.targets.signature`).

        Computed when first asked for. None if there is no code to read.
        """
        return reached_digest(self.function)

    def digest_like(self, stated: str | None) -> str | None:
        """Return the digest of the same kind as a stated one: older evidence covers the function's own source alone."""
        if stated is None or stated.startswith(REACHED):
            return self.digest
        sources = list(_sources(self.function))
        return hashlib.sha256("\0".join(sources).encode()).hexdigest() if sources else None

    def parameters_with(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return all parameters: the given ones over the defaults."""
        given = dict(given or {})
        for name in given:
            if name in self.asked:
                raise UsageError(f"{name} is no parameter of {self.name}: dpaudit fills it in for every run")
            if name not in self.defaults and not self.open_ended:
                raise UsageError(f"{self.name} has no parameter {name!r}; {nearest(name, self.defaults)}")
        merged = {**self.defaults, **given}
        missing = [name for name, value in merged.items() if value is inspect.Parameter.empty]
        if missing:
            how = f"give the parameter {missing[0]}=…{size_hint(missing)}"
            raise UsageError(f"{self.name} needs a value for {', '.join(missing)}; {how}")
        return merged

    def claim_for(self, parameters: Mapping[str, Any]) -> Claim | None:
        """Return the claim at these parameters, or None if the mechanism makes none."""
        return as_claim(self._resolve(self.claim, parameters, "claim"))

    def relation_for(self, parameters: Mapping[str, Any]) -> str | None:
        """Return the text of the relation at these parameters, or None."""
        relation = self._resolve(self.relation, parameters, "relation")
        return None if relation is None else str(relation)

    def pairs_for(self, parameters: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return the worst-case pairs at these parameters; empty if the mechanism names none."""
        pairs = self._resolve(self.pairs, parameters, "pairs")
        listed = []
        for pair in () if pairs is None else pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise UsageError(f"the pairs of {self.name} are a list [(data0, data1), …], but hold {pair!r:.80}")
            listed.append((pair[0], pair[1]))
        return listed

    def true_loss_for(self, parameters: Mapping[str, Any]) -> float | None:
        """Return the true loss over the worst-case pairs, in the unit of the claim's parameter, if it is known."""
        loss = self._resolve(self.true_loss, parameters, "true_loss")
        return None if loss is None else float(loss)

    def law_for(self, data: Any, parameters: Mapping[str, Any]) -> Any:
        """Return the function x ↦ P(output < x) for a dataset, or None if it is not known."""
        return self._resolve(self.law, {**parameters, "data": data}, "law")

    def query_for(self, parameters: Mapping[str, Any]) -> Callable[[Any], Any] | None:
        """Return the query as a function of the data alone, or None if the mechanism exposes none."""
        if self.query is None:
            return None
        names, takes_any = names_taken(self.query)
        absent = [name for name, value in names.items() if value is inspect.Parameter.empty and name not in parameters]
        if absent:
            raise UsageError(
                f"the query of {self.name} needs {', '.join(absent)}, which is no parameter of the mechanism; "
                f"{nearest(absent[0], parameters)}"
            )
        given = {name: value for name, value in parameters.items() if takes_any or name in names}
        return functools.partial(self.query, **given)

    def sensitivity_for(self, parameters: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return the declared sensitivity of the query and its norm (1 by default), or None."""
        stated = self._resolve(self.sensitivity, parameters, "sensitivity")
        return None if stated is None else tuple(stated) if isinstance(stated, tuple | list) else (stated, 1)

    def _resolve(self, spec: Any, parameters: Mapping[str, Any], what: str) -> Any:
        """Call a callable with the parameters that it names; return anything else unchanged."""
        if not callable(spec):
            return spec
        wanted = inspect.signature(spec).parameters.values()
        takes_any = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in wanted)
        named = {item.name: item.default for item in wanted if item.kind not in _VARIADIC}
        absent = [
            name for name, default in named.items() if name not in parameters and default is inspect.Parameter.empty
        ]
        if absent:
            raise UsageError(
                f"the {what} of {self.name} is computed from {', '.join(absent)}, which is no parameter of it; "
                f"{nearest(absent[0], parameters)}"
            )
        given = {name: value for name, value in parameters.items() if takes_any or name in named}
        try:
            return spec(**given)
        except (Exception, SystemExit) as error:
            at = ", ".join(f"{name}={value!r:.40}" for name, value in given.items()) or "no parameters"
            why = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
            raise UsageError(f"the {what} of {self.name} cannot be computed at {at}: {why}") from error


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class MechanismOptions(TypedDict, total=False):
    """What can be declared about a function; see `Mechanism`."""

    claim: Any
    relation: Any
    pairs: Any
    true_loss: Any
    law: Any
    query: Callable[..., Any] | None
    sensitivity: Any
    unit: str
    source: str
    family: str
    correct: bool
    needs: str
    name: str | None
    shape: str | Shape | None
    reference: str | None
    versions: Mapping[str, str] | None


@overload
def mechanism(function: Callable[..., Any], **options: Unpack[MechanismOptions]) -> Mechanism: ...


@overload
def mechanism(
    function: None = None, **options: Unpack[MechanismOptions]
) -> Callable[[Callable[..., Any]], Mechanism]: ...


def mechanism(function: Callable[..., Any] | None = None, **options: Unpack[MechanismOptions]) -> Any:
    """Declare a function as a mechanism: a decorator, with or without arguments, or a plain call.

    The arguments are described at `Mechanism`; ``claim``, ``relation``, ``pairs`` and ``true_loss`` may be callables,
    which receive the parameters that they name (a claim class in the usual case).

    Raises:
        UsageError: for a callable without a readable signature or in none of the supported forms.
    """
    refuse_unknown("mechanism", options, MechanismOptions.__annotations__)
    if function is None:
        return functools.partial(mechanism, **options)
    if not callable(function):
        raise UsageError(f"a mechanism is a function, not {function!r:.80}; write {FORMS}")
    return _declared(function, **options)


def _declared(
    function: Callable[..., Any],
    *,
    claim: Any = None,
    relation: Any = None,
    pairs: Any = None,
    true_loss: Any = None,
    law: Any = None,
    query: Callable[..., Any] | None = None,
    sensitivity: Any = None,
    unit: str = "",
    source: str = "",
    family: str = "",
    correct: bool = True,
    needs: str = "",
    name: str | None = None,
    shape: str | Shape | None = None,
    reference: str | None = None,
    versions: Mapping[str, str] | None = None,
) -> Mechanism:
    title = name or title_of(function)
    refuse_other_callables(function, title)
    try:
        names, open_ended = names_taken(function)
    except UsageError:
        if shape is None:
            raise
        names, open_ended = {}, True
    kind, asked = inferred(names, title) if shape is None else stated(shape, names, open_ended, title)
    defaults = {name: default for name, default in names.items() if name not in asked}
    return Mechanism(
        function=function,
        name=title,
        claim=claim,
        relation=relation,
        pairs=pairs,
        true_loss=true_loss,
        law=law,
        query=query,
        sensitivity=sensitivity,
        unit=unit,
        source=source,
        family=family,
        correct=correct,
        needs=needs,
        shape=kind,
        reference=reference,
        defaults=defaults,
        open_ended=open_ended,
        asked=asked,
        versions=dict(versions or {}),
    )


# --- Of which library is an object, and how does it become a mechanism? ----------------------------------

_LARGEST_GROUP = 1e9  # that the text of a relation can state


@dataclass(frozen=True, slots=True)
class Library:
    """A library of differential privacy, and the releases that its adapter was tested with.

    Attributes:
        package: the name that it is imported by.
        distribution: the name that it is installed by.
        first, last: the supported releases, as (major, minor); every patch of the last one is supported too.
        adapter: the module that makes mechanisms from its objects.
        recognised: whether an object describes its release by itself; else ``mechanism_of`` needs more arguments.
        followed: whether a trace follows its noise, by the ``ROWS`` of that module.
    """

    package: str
    distribution: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    adapter: str
    recognised: bool = True
    followed: bool = True

    @property
    def supported(self) -> str:
        """The supported releases, as text: ``0.14 to 0.16``."""
        ends = [".".join(map(str, end)) for end in (self.first, self.last)]
        return " to ".join(dict.fromkeys(ends))

    def release(self) -> str:
        """Return the installed version."""
        try:
            release = version(self.distribution)
        except PackageNotFoundError:
            raise UsageError(
                f"{self.distribution} is not installed, and dpaudit.adapters.{self.adapter} needs it: "
                f"pip install '{self.requirement}'"
            ) from None
        numbers = tuple(map(int, re.findall(r"\d+", release)))
        if not self.first <= numbers[: len(self.first)] or not numbers[: len(self.last)] <= self.last:
            raise UsageError(
                f"{self.distribution} {release} is installed, and dpaudit.adapters.{self.adapter} knows "
                f"{self.supported}: pip install '{self.requirement}', or "
                "wrap the release in a function of your own and state its claim"
            )
        return release

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        first = ".".join(map(str, self.first))
        beyond = ".".join(map(str, (*self.last[:-1], self.last[-1] + 1)))
        return f"{self.distribution}>={first},<{beyond}"


LIBRARIES = {
    library.adapter: library
    for library in (
        Library("opendp", "opendp", (0, 14), (0, 16), "opendp"),
        Library("diffprivlib", "diffprivlib", (0, 6), (0, 6), "diffprivlib"),
        Library("pydp", "python-dp", (1, 1), (1, 1), "pydp"),
        Library("tmlt.core", "tmlt.core", (0, 18), (0, 20), "tmlt_core"),
        Library("pipeline_dp", "pipeline-dp", (0, 3), (0, 3), "pipeline_dp", recognised=False, followed=False),
        Library("snsql", "smartnoise-sql", (1, 0), (1, 0), "snsql", recognised=False, followed=False),
        Library("opacus", "opacus", (1, 5), (1, 6), "opacus", recognised=False),
    )
}

_EXTRAS = {"torch": "torch", "jax": "jax", "optax": "jax", "polars": "data"}
"""Packages that targets import, with the extra of dpaudit that brings them."""


def how_to_install(error: BaseException) -> str:
    """Return advice with the requirement for pip, if an import failed for want of one of these libraries; else ""."""
    missing = error.name if isinstance(error, ModuleNotFoundError) and error.name else ""
    for library in LIBRARIES.values():
        if f"{library.package}.".startswith(f"{missing}.") or missing.startswith(f"{library.package}."):
            return f"; pip install '{library.requirement}'"
    extra = _EXTRAS.get(missing.partition(".")[0], "")
    return f"; pip install 'dpaudit[{extra}]', or pip install {missing.partition('.')[0]}" if extra else ""


def library_of(made: Any) -> Library | None:
    """Return the library of an object, by the module of its type; None for objects from elsewhere."""
    home = type(made).__module__ or ""
    for library in LIBRARIES.values():
        if home == library.package or home.startswith(library.package + "."):
            return library
    return None


def adapted(made: Any) -> Mechanism | None:
    """Return the mechanism of a known library's object; None for objects from elsewhere.

    Raises:
        UsageError: if the library's version is not supported, or the object does not describe its release by itself.
    """
    library = library_of(made)
    if library is None:
        return None
    module = importlib.import_module(f"dpaudit.adapters.{library.adapter}")
    if not library.recognised:
        raise UsageError(
            f"a {type(made).__name__} of {library.distribution} does not say what it releases by itself; make a "
            f"mechanism of it with dpaudit.adapters.{library.adapter}.mechanism_of(…) (docs/adapters.md)"
        )
    return module.mechanism_of(made)  # type: ignore[no-any-return]


def required(adapter: str) -> tuple[ModuleType, str]:
    """Import the library of an adapter and return it with its version."""
    library = LIBRARIES[adapter]
    release = library.release()
    try:
        return importlib.import_module(library.package), release
    except Exception as error:
        raise UsageError(
            f"{library.distribution} {release} is installed but cannot be imported: {type(error).__name__}: {error}"
        ) from error


def answers(size: Any) -> tuple[str, str]:
    """Return the relation of a number that moves by at most ``size``, and its unit.

    Relations consist of steps of 1, so only whole sizes can be checked; others are declared.
    """
    if size == 1:
        return "queries", "a change of the input by 1"
    kind = f"queries(group={int(size)})" if 1 < size < _LARGEST_GROUP and size == int(size) else "declared"
    return kind, f"a change of the input by {float(size):g}"


def approximate(epsilon: float, delta: float) -> Claim:
    """Return (ε, δ)-DP, or plain ε-DP if δ is 0."""
    return ApproxDP(float(epsilon), float(delta)) if delta else PureDP(float(epsilon))


def wrapped(
    adapter: str,
    run: Callable[..., Any],
    *,
    name: str | None,
    shown: str,
    release: str,
    claim: Any,
    relation: str,
    unit: str,
    pairs: Sequence[tuple[Any, Any]] | None,
    made_of: Sequence[Any] = (),
    more: Mapping[str, str] | None = None,
) -> Mechanism:
    """Return a mechanism that runs a library's code."""
    library = LIBRARIES[adapter]
    run.__doc__ = shown
    run.__functions__ = (adapter, shown, *made_of)  # type: ignore[attr-defined]
    return mechanism(
        run,
        name=name or adapter,
        claim=claim,
        relation=relation,
        unit=unit,
        pairs=list(pairs) if pairs is not None else None,
        source=f"{library.distribution} {release}",
        versions={library.distribution: release, **(more or {})},
    )

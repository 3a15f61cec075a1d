"""Of which library is an object, and how does it become a mechanism? The adapter is imported only when needed.

An adapter is a module ``dpaudit.adapters.NAME`` with a function ``mechanism_of(made, …)``: it takes an object of a
library and returns a `Mechanism` that runs the library's own code, with the claim stated by the library's own privacy
map or accountant, the relation of its input metric, the unit, and the library's version. Nothing is computed here that
the library computes itself: an audit asks whether the library keeps *its* promise.

`dpaudit.audit` recognises an object by the module of its type, so nothing is imported for objects from elsewhere.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.privacy.claims import ApproxDP, Claim, PureDP
from dpaudit.targets.mechanism import Mechanism, mechanism

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
    """

    package: str
    distribution: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    adapter: str
    recognised: bool = True

    @property
    def supported(self) -> str:
        """The supported releases, as text: ``0.14 to 0.16``."""
        ends = [".".join(map(str, end)) for end in (self.first, self.last)]
        return " to ".join(dict.fromkeys(ends))

    def release(self) -> str:
        """Return the installed version."""
        try:
            found = version(self.distribution)
        except PackageNotFoundError:
            raise UsageError(
                f"{self.distribution} is not installed, and dpaudit.adapters.{self.adapter} needs it: "
                f"pip install '{self.requirement}'"
            ) from None
        numbers = tuple(map(int, re.findall(r"\d+", found)))
        if not self.first <= numbers[: len(self.first)] or not numbers[: len(self.last)] <= self.last:
            raise UsageError(
                f"{self.distribution} {found} is installed, and dpaudit.adapters.{self.adapter} knows "
                f"{self.supported}: pip install '{self.requirement}', or "
                "wrap the release in a function of your own and state its claim"
            )
        return found

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
        Library("pipeline_dp", "pipeline-dp", (0, 3), (0, 3), "pipeline_dp", recognised=False),
        Library("snsql", "smartnoise-sql", (1, 0), (1, 0), "snsql", recognised=False),
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

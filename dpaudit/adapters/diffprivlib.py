"""What does diffprivlib promise? A mechanism holds its ε and δ, and everything else reports to a budget accountant.

`mechanism_of` takes a mechanism (``Laplace(epsilon=1, sensitivity=1)``), which randomises one value. `release_of` takes
a tool (``tools.mean``), or any function that passes ``random_state`` and ``accountant`` on to tools and models; the
claim is what one call spends by the library's own `BudgetAccountant`. Both are seeded through ``random_state``: every
draw depends on the seed of the audit, and the evidence can be reproduced.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpaudit.adapters import answers, approximate, required, wrapped
from dpaudit.errors import UsageError
from dpaudit.privacy import Claim
from dpaudit.targets.mechanism import Mechanism


def mechanism_of(
    made: Any,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of a diffprivlib `DPMechanism`; its dataset is the value that it randomises."""
    diffprivlib, release = required("diffprivlib")
    if not isinstance(made, diffprivlib.mechanisms.base.DPMechanism):
        raise UsageError(
            f"a {type(made).__name__} of diffprivlib says what it spends only to an accountant, while it runs; make a "
            "mechanism of it with dpaudit.adapters.diffprivlib.release_of(function, spent_on=data)"
        )
    if getattr(made, "utility", None) is not None:
        raise UsageError(
            f"{type(made).__name__} holds its data, the utilities, since it was made; audit a function of them with "
            "release_of(lambda utility, random_state, accountant: …, claim=…)"
        )
    found, unit = _moved(made)
    run = _seeded(made) if made.random_state is None else _as_it_is(made)
    return wrapped(
        "diffprivlib",
        run,
        name=name or type(made).__name__,
        shown=repr(made),
        release=release,
        claim=approximate(made.epsilon, made.delta),
        relation=relation or found,
        unit=unit,
        pairs=pairs,
    )


def release_of(
    function: Callable[..., Any],
    *,
    relation: str,
    spent_on: Any = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    claim: Claim | str | None = None,
    name: str | None = None,
    **options: Any,
) -> Mechanism:
    """Return the mechanism of a tool, or of a function ``f(data, *, random_state, accountant, **options)``."""
    diffprivlib, release = required("diffprivlib")
    run = _release(function, options, diffprivlib)
    shown = ", ".join([_title(function), *(f"{key}={value!r}" for key, value in options.items())])
    if claim is None:
        claim, warned = _spent(function, options, _first(spent_on, pairs), diffprivlib)
        shown += f"; diffprivlib warns: {warned}" if warned else ""
    return wrapped(
        "diffprivlib",
        run,
        name=name or _title(function),
        shown=shown,
        release=release,
        claim=claim,
        relation=relation,
        unit="one record",
        pairs=pairs,
        made_of=(function,),
    )


def _title(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _moved(made: Any) -> tuple[str, str]:
    """The relation of the values that a mechanism randomises, and its unit."""
    sensitivity = getattr(made, "sensitivity", None)
    return ("replace", "one value") if sensitivity is None else answers(sensitivity)


@functools.lru_cache(maxsize=4)
def _state(rng: np.random.Generator) -> np.random.RandomState:
    """A generator in the form that the library takes; it draws from the same stream."""
    return np.random.RandomState(rng.bit_generator)


def _seeded(made: Any) -> Callable[..., Any]:
    def randomise(data: Any, rng: np.random.Generator) -> Any:
        mechanism = made.copy()
        mechanism._rng = _state(rng)
        return mechanism.randomise(data)

    return randomise


def _as_it_is(made: Any) -> Callable[..., Any]:
    def randomise(data: Any) -> Any:
        return made.randomise(data)

    return randomise


def _release(function: Callable[..., Any], options: dict[str, Any], diffprivlib: Any) -> Callable[..., Any]:
    def release(data: Any, rng: np.random.Generator) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(data, random_state=_state(rng), accountant=diffprivlib.BudgetAccountant(), **options)

    return release


def _first(spent_on: Any, pairs: Sequence[tuple[Any, Any]] | None) -> Any:
    if spent_on is None and not pairs:
        raise UsageError("give a dataset whose release an accountant can watch: spent_on=data, or pairs, or claim=…")
    return pairs[0][0] if spent_on is None and pairs else spent_on


def _spent(function: Callable[..., Any], options: dict[str, Any], data: Any, diffprivlib: Any) -> tuple[Claim, str]:
    """What one call spends by the library's accountant, and the library's warning."""
    accountant = diffprivlib.BudgetAccountant()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(data, random_state=np.random.RandomState(0), accountant=accountant, **options)
        except Exception as error:
            raise UsageError(
                f"{_title(function)} cannot be run once: {type(error).__name__}: {error!s:.200}"
            ) from error
    if not accountant.spent_budget:
        raise UsageError(f"{_title(function)} tells the accountant nothing; hand it on, or say claim=…")
    told = [str(each.message) for each in caught if "Leak" in each.category.__name__]
    return approximate(*accountant.total()), " ".join((told or [""])[0].split())

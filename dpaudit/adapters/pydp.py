"""What does PyDP promise? Every algorithm holds the ε and δ that one call of ``quick_result`` spends.

PyDP wraps Google's C++ library. Its noise comes from that library's own generator, which cannot be seeded, so evidence
is not reproducible to the bit. An algorithm bounds how much one user adds to one result (``linf_sensitivity``) and to
how many results (``l0_sensitivity``); here one result is observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.adapters import answers, approximate, required, wrapped
from dpaudit.errors import UsageError
from dpaudit.targets.mechanism import Mechanism


def mechanism_of(
    made: Any,
    *,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | None = None,
    name: str | None = None,
) -> Mechanism:
    """Return the mechanism of an algorithm (``BoundedMean``, ``Count``, …) or of a mechanism of PyDP."""
    _, release = required("pydp")
    run, found, unit, claim = _read(made)
    title = name or type(made).__name__
    return wrapped(
        "pydp",
        run,
        name=title,
        shown=_shown(made, title),
        release=release,
        claim=claim,
        relation=relation or found,
        unit=unit,
        pairs=pairs,
    )


def _read(made: Any) -> tuple[Any, str, str, Any]:
    """The function, the relation, the unit and the claim of an object."""
    if hasattr(made, "quick_result"):

        def quick_result(data: Any) -> Any:
            return made.quick_result(list(data))

        values = made.linf_sensitivity if isinstance(made.linf_sensitivity, int) else 1
        group = "add-remove" if values == 1 else f"add-remove(group={values})"
        unit = "one value" if values == 1 else f"up to {values} values of one user"
        return quick_result, group, unit, approximate(made.epsilon, made.delta)
    if hasattr(made, "add_noise"):

        def add_noise(data: Any) -> Any:
            return made.add_noise(data)

        delta = getattr(made, "delta", 0.0)
        moved = made.sensitivity if hasattr(made, "sensitivity") else made.l2_sensitivity
        return add_noise, *answers(moved), approximate(made.epsilon, delta)
    if hasattr(made, "should_keep"):

        def should_keep(data: Any) -> Any:
            return made.should_keep(len(data))

        unit = f"one user, in up to {made.max_partitions_contributed} partitions"
        return should_keep, "add-remove", unit, approximate(made.epsilon, made.delta)
    raise UsageError(
        f"a {type(made).__name__} of PyDP releases nothing; give an algorithm of pydp.algorithms.laplacian, a "
        "mechanism of pydp.algorithms.numerical_mechanisms or a strategy of pydp.algorithms.partition_selection"
    )


_TOLD = (
    "epsilon",
    "delta",
    "sensitivity",
    "l2_sensitivity",
    "l0_sensitivity",
    "linf_sensitivity",
    "max_partitions_contributed",
    "dtype",
)


def _shown(made: Any, title: str) -> str:
    told = {name: getattr(made, name) for name in _TOLD if hasattr(made, name)}
    return f"{title}({', '.join(f'{name}={value}' for name, value in told.items())})"

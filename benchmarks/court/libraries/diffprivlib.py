"""diffprivlib: every mechanism and every tool, at small, usual and large ε, and at edges."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from diffprivlib import mechanisms, models, tools
from seat import Audited, Left, Seat, shown, without_recipe

from dpaudit.adapters.diffprivlib import mechanism_of, release_of

_REAL, _WHOLE = [(0.0, 1.0)], [(0, 1)]
_BETWEEN = {"sensitivity": 1.0, "lower": 0.0, "upper": 3.0}
# parameters beside ε, and the two values
MECHANISMS: dict[str, list[tuple[dict[str, Any], list[Any]]]] = {
    "Binary": [({"value0": "a", "value1": "b"}, [("a", "b")])],
    "Gaussian": [({"delta": 1e-3, "sensitivity": 1.0}, _REAL)],
    "GaussianAnalytic": [({"delta": 1e-3, "sensitivity": 1.0}, _REAL)],
    "GaussianDiscrete": [({"delta": 1e-3}, _WHOLE)],
    "Geometric": [({}, _WHOLE), ({"sensitivity": 3}, [(0, 3)])],
    "GeometricFolded": [({"lower": 0, "upper": 5}, _WHOLE)],
    "GeometricTruncated": [({"lower": 0, "upper": 5}, _WHOLE), ({"lower": 0, "upper": 1}, _WHOLE)],
    "Laplace": [({"sensitivity": 1.0}, _REAL), ({"sensitivity": 1.0, "delta": 0.1}, _REAL)],
    "LaplaceBoundedDomain": [(_BETWEEN, _REAL), ({**_BETWEEN, "upper": 1.0}, _REAL)],
    "LaplaceBoundedNoise": [({"delta": 0.1, "sensitivity": 1.0}, _REAL)],
    "LaplaceFolded": [(_BETWEEN, _REAL)],
    "LaplaceTruncated": [(_BETWEEN, _REAL)],
    "Snapping": [({"sensitivity": 1.0, "lower": -10.0, "upper": 10.0}, _REAL)],
    "Staircase": [({"sensitivity": 1.0}, _REAL), ({"sensitivity": 1.0, "gamma": 0.9}, _REAL)],
    "Uniform": [({"delta": 0.1, "sensitivity": 1.0}, _REAL)],
    "ExponentialCategorical": [
        ({"utility_list": [("a", "b", 1), ("a", "c", 2), ("b", "c", 1)]}, [("a", "c"), ("a", "b")])
    ],
    "ExponentialHierarchical": [({"hierarchy": [["a", "b"], ["c"]]}, [("a", "c"), ("a", "b")])],
}
_ARRAYS = [(np.array([0.0, 0, 1]), np.array([1.0, 0, 1])), (np.zeros(1), np.ones(1))]
_MORE = [(np.array([1.0, 0, 0]), np.zeros(2))]
_TABLES = [(np.array([[1.0, 1.0], [0, 0], [0, 0]]), np.zeros((2, 2)))]
_MISSING = [(np.array([0.0, np.nan, np.nan]), np.array([1.0, np.nan, np.nan]))]
_BOUNDS, _BINS = {"bounds": (0, 1)}, {"bins": 2, "range": (0, 1)}
TOOLS: dict[str, list[tuple[dict[str, Any], list[Any]]]] = {
    "count_nonzero": [({}, _ARRAYS)],
    **{name: [(_BOUNDS, _ARRAYS)] for name in ("mean", "std", "sum", "var", "median")},
    **{name: [(_BOUNDS, _ARRAYS), (_BOUNDS, _MISSING)] for name in ("nanmean", "nanstd", "nansum", "nanvar")},
    "percentile": [({**_BOUNDS, "percent": 25}, _ARRAYS)],
    "quantile": [({**_BOUNDS, "quant": 0.25}, _ARRAYS), ({**_BOUNDS, "quant": 1.0}, _ARRAYS)],
    "histogram": [(_BINS, _MORE)],
    "histogramdd": [({"bins": 2, "range": [(0, 1), (0, 1)]}, _TABLES)],
    "histogram2d": [({"bins": 2, "range": [(0, 1), (0, 1)]}, _TABLES)],
}
EPSILONS = (0.5, 1.0, 4.0)


def mechanism(name: str, options: dict[str, Any]) -> Any:
    """A mechanism of a class; those that take no ε are given none."""
    return mechanism_of(getattr(mechanisms, name)(**options))


def counts(data: Any, *, of: str, **options: Any) -> Any:
    """What a tool returns; of histograms without their edges."""
    tool = getattr(tools, of)
    given = (data[:, 0], data[:, 1]) if of == "histogram2d" else (data,)
    result = tool(*given, **options)
    return result[0] if of.startswith("histogram") else result


def chosen(data: Any, *, of: str, **options: Any) -> Any:
    """The index that a mechanism of selection picks."""
    options.pop("accountant", None)
    return getattr(mechanisms, of)(utility=[float(each) for each in data], sensitivity=1.0, **options).randomise()


def found() -> Iterator[Seat]:
    """Every mechanism, tool and model of the package."""
    held = [
        name
        for name, each in vars(mechanisms).items()
        if inspect.isclass(each) and issubclass(each, mechanisms.DPMechanism) and not inspect.isabstract(each)
    ]
    selecting = ["Exponential", "PermuteAndFlip"]
    yield from without_recipe(held, [*MECHANISMS, *selecting])
    for name, several in MECHANISMS.items():
        for options, pairs in several:
            fixed = "epsilon" not in inspect.signature(getattr(mechanisms, name)).parameters
            for epsilon in (None,) if fixed else EPSILONS:
                if name == "Gaussian" and epsilon != 0.5:
                    continue  # the library refuses ε ≥ 1
                given = options if fixed else {"epsilon": epsilon, **options}
                yield Audited(shown(name, given), partial(mechanism, name, given), pairs, {"relation": "declared"})
    for name in selecting:
        for epsilon in EPSILONS:
            make = partial(release_of, chosen, relation="queries", claim=f"epsilon={epsilon}", of=name, epsilon=epsilon)
            yield Audited(shown(name, {"epsilon": epsilon}), make, [([1, 0, 0], [0, 1, 1])], {})
    yield from without_recipe((name for name, each in vars(tools).items() if inspect.isfunction(each)), TOOLS)
    for name, several in TOOLS.items():
        # it does not say what neighbours are: its noise is right for one record more or less in a histogram, and for
        # one that is replaced in a mean, so each is asked as it would be right
        relation = "add-remove" if name.startswith("histogram") else "replace"
        for place, (options, pairs) in enumerate(several):
            for epsilon in EPSILONS:
                given = {"epsilon": epsilon, **options}
                make = partial(release_of, counts, relation=relation, claim=f"epsilon={epsilon}", of=name, **given)
                title = shown(name, given) + (" with NaN" if place and pairs is _MISSING else "")
                yield Audited(title, make, pairs, {})
    yield from (Left(name, "no recipe") for name, each in vars(models).items() if inspect.isclass(each))

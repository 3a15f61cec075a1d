"""diffprivlib: mechanisms, tools and models; NaN, concentrated data, numbers beyond 2^53, bounds from the data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from case import Case
from diffprivlib import mechanisms, models, tools

from dpaudit.adapters.diffprivlib import mechanism_of, release_of

nan = float("nan")
array = np.array


def made(name: str, **options: Any) -> Any:
    """A mechanism of ε = 1, unless told otherwise."""
    given = {"epsilon": 1.0, **options}
    return mechanism_of(getattr(mechanisms, name)(**{key: value for key, value in given.items() if value is not None}))


def tool(name: str, pairs: list[Any], relation: str = "replace", claim: str | None = None, **options: Any) -> Any:
    """A tool between 0 and 1 with ε = 1, unless told otherwise."""
    given = {"epsilon": 1.0, "bounds": (0, 1), **options}
    given = {key: value for key, value in given.items() if value is not None}
    return release_of(getattr(tools, name), relation=relation, pairs=pairs, claim=claim, **given)


def counts(data: Any, *, weighted: bool = False, **options: Any) -> Any:
    """The counts of a histogram of two bins, without its edges; records may carry a weight."""
    values, weights = (data[:, 0], data[:, 1]) if weighted else (data, None)
    return tools.histogram(values, epsilon=1.0, bins=2, range=(0, 1), weights=weights, **options)[0]


def edges(data: Any, **options: Any) -> Any:
    """The edges of a histogram whose range is left to the library."""
    return tools.histogram(data, epsilon=1.0, bins=2, **options)[1]


def chosen(data: Any, random_state: Any, accountant: Any, *, of: str = "Exponential", **options: Any) -> Any:
    """The index that a mechanism of selection picks, for utilities of sensitivity 1."""
    given = {"epsilon": 1.0, "sensitivity": 1.0, "utility": [float(each) for each in data], **options}
    return getattr(mechanisms, of)(**given, random_state=random_state).randomise()


def selected(name: str, **options: Any) -> Any:
    """A mechanism of selection; it spends without an accountant."""
    return release_of(chosen, relation="queries", claim="epsilon=1", name=name, of=name, **options)


def logistic(data: Any, random_state: Any, accountant: Any) -> Any:
    """The coefficient of a logistic regression of one feature of norm 1."""
    model = models.LogisticRegression(
        epsilon=1.0, data_norm=1.0, fit_intercept=False, random_state=random_state, accountant=accountant
    )
    return model.fit(data[:, :1], data[:, 1]).coef_[0]


def naive_bayes(data: Any, random_state: Any, accountant: Any) -> Any:
    """The means and variances of a naive Bayes classifier."""
    model = models.GaussianNB(
        epsilon=1.0, bounds=(0, 1), priors=[0.5, 0.5], random_state=random_state, accountant=accountant
    ).fit(data[:, :1], data[:, 1])
    return [*model.theta_.ravel(), *model.var_.ravel()]


def linear(data: Any, random_state: Any, accountant: Any) -> Any:
    """The coefficient of a linear regression through the origin."""
    model = models.LinearRegression(
        epsilon=1.0,
        bounds_X=(0, 1),
        bounds_y=(0, 1),
        fit_intercept=False,
        random_state=random_state,
        accountant=accountant,
    )
    return model.fit(data[:, :1], data[:, 1]).coef_.ravel()


def scaled(data: Any, random_state: Any, accountant: Any) -> Any:
    """Mean and variance of a standard scaler."""
    model = models.StandardScaler(epsilon=1.0, bounds=(0, 1), random_state=random_state, accountant=accountant)
    model.fit(data)
    return [*model.mean_, *model.var_]


_PUBLIC_N = (
    "The number of records is public: sensitivity and the range of outputs are computed from array.size "
    "(tools/utils.py). The documentation names no relation."
)
_NAN_N = (
    "The sensitivity is divided by array.size, which counts the NaN that are left out (tools/utils.py, _mean and "
    "_var): with k numbers among n records the noise is n/k times too small."
)
_NAN_OUT = "A single NaN makes the output NaN, without noise (tools/utils.py, tools/quantiles.py)."
_PRIVACY_LEAK_WARNING = "yes: PrivacyLeakWarning"
_NO = "no"

_ZERO_ONE = [(0.0, 1.0)]
_MEANS = [(array([0.0, 0, 1]), array([1.0, 0, 1]))]

_GRID = (
    "value − scale · noise in doubles (mechanisms/laplace.py). The documentation says that four uniform variates are "
    "drawn against attacks on limited floating-point precision (Holohan & Braghin 2021); the grid of the sum is left."
)

CASES = [
    Case("Laplace", partial(made, "Laplace", sensitivity=1), _ZERO_ONE, grid=_GRID),
    Case("Laplace delta", partial(made, "Laplace", sensitivity=1, delta=0.1), _ZERO_ONE),
    Case("Laplace sensitivity 3", partial(made, "Laplace", sensitivity=3), [(0.0, 3.0)]),
    Case("LaplaceTruncated", partial(made, "LaplaceTruncated", sensitivity=1, lower=0, upper=3), _ZERO_ONE),
    Case("LaplaceFolded", partial(made, "LaplaceFolded", sensitivity=1, lower=0, upper=3), _ZERO_ONE),
    Case(
        "LaplaceBoundedDomain",
        partial(made, "LaplaceBoundedDomain", sensitivity=1, lower=0, upper=3),
        _ZERO_ONE,
        10_000,
    ),
    Case(
        "LaplaceBoundedDomain as wide as the sensitivity",
        partial(made, "LaplaceBoundedDomain", sensitivity=1, lower=0, upper=1),
        _ZERO_ONE,
        10_000,
    ),
    Case("LaplaceBoundedNoise", partial(made, "LaplaceBoundedNoise", sensitivity=1, delta=0.1), _ZERO_ONE, 10_000),
    Case("Geometric", partial(made, "Geometric"), [(0, 1)]),
    Case("GeometricTruncated", partial(made, "GeometricTruncated", lower=0, upper=5), [(0, 1)]),
    Case("GeometricFolded", partial(made, "GeometricFolded", lower=0, upper=5), [(0, 1)], 10_000),
    Case(
        "Geometric beyond 2^53",
        partial(made, "Geometric"),
        [(2**60 + 128, 2**60 + 129)],
        4_000,
        relation="declared",
        note="value + noise is computed in doubles (mechanisms/geometric.py, randomise): neighbouring integers above "
        "2^53 round to doubles that lie up to 256 apart, while the noise is made for 1.",
        documented=_NO,
    ),
    Case("Gaussian", partial(made, "Gaussian", sensitivity=1, delta=1e-2), _ZERO_ONE),
    Case("GaussianAnalytic", partial(made, "GaussianAnalytic", epsilon=2.0, sensitivity=1, delta=1e-2), _ZERO_ONE),
    Case("GaussianDiscrete", partial(made, "GaussianDiscrete", delta=1e-2), [(0, 1)]),
    Case("Staircase", partial(made, "Staircase", sensitivity=1), _ZERO_ONE),
    Case("Staircase small epsilon", partial(made, "Staircase", epsilon=0.1, sensitivity=1), _ZERO_ONE),
    Case("Snapping", partial(made, "Snapping", sensitivity=1, lower=0, upper=3), _ZERO_ONE),
    Case("Uniform", partial(made, "Uniform", epsilon=None, delta=0.2, sensitivity=1), _ZERO_ONE),
    Case("Binary", partial(made, "Binary", value0="a", value1="b"), [("a", "b")]),
    Case(
        "ExponentialCategorical",
        partial(made, "ExponentialCategorical", utility_list=[["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]),
        [("a", "c")],
    ),
    Case("Exponential", partial(selected, "Exponential"), [([1, 0], [0, 1])]),
    Case(
        "Exponential monotonic",
        partial(selected, "Exponential", monotonic=True),
        [([0, 0], [0, 1])],
        relation="queries(monotone)",
    ),
    Case("PermuteAndFlip", partial(selected, "PermuteAndFlip"), [([1, 0], [0, 1])]),
    Case("mean", partial(tool, "mean", _MEANS)),
    Case("sum", partial(tool, "sum", _MEANS)),
    Case("sum of integers", partial(tool, "sum", [(array([0, 0, 1]), array([1, 0, 1]))], dtype=int)),
    Case("count_nonzero", partial(tool, "count_nonzero", [(array([1, 1, 1]), array([1, 1, 0]))], bounds=None)),
    Case("var", partial(tool, "var", [(array([0.0, 0]), array([0.0, 1]))]), runs=10_000),
    Case("std", partial(tool, "std", [(array([0.0, 0]), array([0.0, 1]))]), runs=10_000),
    Case("median", partial(tool, "median", [(array([0.2, 0.2, 0.8]), array([0.2, 0.8, 0.8]))]), runs=10_000),
    Case(
        "quantile 0.9",
        partial(tool, "quantile", [(array([0.2, 0.2, 0.8]), array([0.2, 0.2, 0.2]))], quant=0.9),
        runs=10_000,
    ),
    Case(
        "mean of columns",
        partial(tool, "mean", [(array([[0.0, 0], [0, 0]]), array([[1.0, 1], [0, 0]]))], axis=0),
        runs=10_000,
    ),
    Case("histogram", lambda: release_of(counts, relation="add-remove", pairs=[(array([0.2, 0.7]), array([0.2]))])),
    Case(
        "histogram with NaN",
        lambda: release_of(counts, relation="add-remove", pairs=[(array([0.2, 0.7]), array([0.2, 0.7, nan]))]),
    ),
    Case("mean, a record removed", partial(tool, "mean", [(array([0.0, 0, 1]), array([0.0, 0]))], "add-remove")),
    Case("mean with infinity", partial(tool, "mean", [(array([0.0, 0, 1]), array([0.0, 0, np.inf]))]), runs=4_000),
    Case(
        "sum, a record removed",
        partial(tool, "sum", [(array([1.0, 1, 1]), array([1.0, 1]))], "add-remove"),
        note=_PUBLIC_N + " The output is cut at upper · n, which tells n.",
        documented="no relation is named",
    ),
    Case(
        "count_nonzero, a record removed",
        partial(tool, "count_nonzero", [(array([1, 1, 1]), array([1, 1]))], "add-remove", bounds=None),
        note=_PUBLIC_N + " The output is cut at n.",
        documented="no relation is named",
    ),
    Case(
        "histogram, a record replaced",
        lambda: release_of(counts, relation="replace", pairs=[(array([0.2, 0.7]), array([0.2, 0.3]))]),
        note="The noise is made for sensitivity 1 (tools/histograms.py); a record that moves between bins changes two "
        "counts, which costs 2ε. Of mean, sum and var the opposite relation is meant.",
        documented="no relation is named",
    ),
    Case(
        "mean, bounds from the data",
        partial(tool, "mean", [(array([0.0, 0, 1]), array([0.0, 0, 5]))], bounds=None),
        note="Bounds are the smallest and the largest value (tools/utils.py, _mean).",
        documented=_PRIVACY_LEAK_WARNING,
    ),
    Case(
        "histogram, range from the data",
        lambda: release_of(edges, relation="replace", pairs=[(array([0.2, 0.7]), array([0.2, 0.3]))]),
        runs=4_000,
        note="The edges are the smallest and the largest value (tools/histograms.py).",
        documented=_PRIVACY_LEAK_WARNING,
    ),
    Case(
        "histogram with weights",
        lambda: release_of(
            counts,
            relation="add-remove",
            pairs=[(array([[0.2, 1.0], [0.3, 5.0]]), array([[0.2, 1.0]]))],
            weighted=True,
        ),
        note="Weights count in full, and the noise is made for sensitivity 1 (tools/histograms.py): one record of "
        "weight 5 moves a count by 5. np.histogram's meaning of weights is documented, their privacy is not.",
        documented=_NO,
    ),
    Case(
        "mean with NaN",
        partial(tool, "mean", [(array([0.0, 0, 1]), array([0.0, 0, nan]))]),
        runs=4_000,
        note=_NAN_OUT,
        documented=_NO,
    ),
    Case(
        "median with NaN",
        partial(tool, "median", [(array([0.2, 0.2, 0.8]), array([0.2, 0.2, nan]))]),
        runs=4_000,
        note=_NAN_OUT,
        documented=_NO,
    ),
    Case(
        "nanmean",
        partial(tool, "nanmean", [(array([nan] * 9 + [0.0]), array([nan] * 9 + [1.0]))]),
        note=_NAN_N,
        documented=_NO,
    ),
    Case(
        "nanvar",
        partial(tool, "nanvar", [(array([nan] * 8 + [0.0, 0]), array([nan] * 8 + [0.0, 1]))]),
        runs=10_000,
        note=_NAN_N,
        documented=_NO,
    ),
    Case(
        "nanstd",
        partial(tool, "nanstd", [(array([nan] * 8 + [0.0, 0]), array([nan] * 8 + [0.0, 1]))]),
        runs=10_000,
        note=_NAN_N,
        documented=_NO,
    ),
    Case(
        "nansum of values above 0",
        partial(tool, "nansum", [(array([6.0, 6]), array([6.0, nan]))], bounds=(5, 6)),
        note="The sensitivity is upper − lower, as if every record were a number (tools/utils.py, _sum): a NaN takes "
        "a record out of the sum, which then moves by up to upper, and is cut at lower · n.",
        documented=_NO,
    ),
    Case(
        "sum of int8",
        partial(
            tool,
            "sum",
            [(array([100, 27], dtype=np.int8), array([100, 28], dtype=np.int8))],
            bounds=(0, 100),
            dtype=np.int8,
        ),
        runs=4_000,
        note="The sum is computed in the dtype that is asked for and wraps around before noise is added "
        "(tools/utils.py, _sum); NumPy's documentation of sum says so, diffprivlib's does not.",
        documented=_NO,
    ),
    Case(
        "median of 2982 equal values",
        lambda: tool(
            "median", [(array([0.0] * 2982), array([0.0] * 2981 + [100.0]))], bounds=(0, 100), claim="epsilon=1"
        ),
        runs=400,
        note="exp(ε/2 · utility) underflows to 0 for every interval of a length above 0, once n·ε is above some 2981; "
        "the probabilities are 0/0 and a RuntimeError is raised, without noise (mechanisms/exponential.py, "
        "_find_probabilities).",
        documented="no; the crash is reported by others, IBM/differential-privacy-library issue 107, open",
    ),
    Case(
        "LogisticRegression",
        lambda: release_of(logistic, relation="replace", pairs=_labelled([1.0, 1], [1.0, 0])),
        runs=4_000,
    ),
    Case(
        "LinearRegression",
        lambda: release_of(linear, relation="replace", pairs=_labelled([1.0, 1], [1.0, 0])),
        runs=4_000,
    ),
    Case(
        "GaussianNB",
        lambda: release_of(naive_bayes, relation="replace", pairs=_labelled([0.0, 1], [1.0, 1])),
        runs=4_000,
    ),
    Case(
        "StandardScaler",
        lambda: release_of(scaled, relation="replace", pairs=[(array([[0.0], [0]]), array([[1.0], [0]]))]),
        runs=4_000,
    ),
]


def _labelled(record0: list[float], record1: list[float]) -> list[Any]:
    """Two sets of four records, feature and label, that differ in one."""
    others = [[0.5, 0], [0.5, 1], [0.2, 0]]
    return [(array([record0, *others]), array([record1, *others]))]

"""How is a training that takes a second audited, by many runs? As a mechanism: data in, the final parameters out.

    @dpaudit.trains
    def train(data): ...  # returns a model, or its parameters

    dpaudit.audit(train, pairs=[(with_it, without_it)], claim="epsilon=2, delta=1e-5", runs=4000)

Nothing is assumed of the loop; what is shown is what its last parameters tell. The audit's own generator seeds those of
Python, NumPy, PyTorch and the function, so that runs are independent draws, and the same on any number of workers.
"""

from __future__ import annotations

import functools
import inspect
import random
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.request import known_keywords
from dpaudit.targets.signature import title_of

_SEED = 2**32  # of NumPy's global generator, the narrowest


@known_keywords
def trains(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function that trains into one that an audit can run: seeded, and with parameters as a list of numbers.

    Args:
        function: takes data, and perhaps ``rng`` and parameters; returns a model of PyTorch, parameters in arrays, or
            dicts and lists of these.

    Returns:
        A function of data, ``rng`` and the same parameters, for `dpaudit.audit`, `dpaudit.plan` and gates.

    Raises:
        UsageError: where the function takes no data, and, in a run, where it returns no parameters.
    """
    if not callable(function):
        raise UsageError(f"trains is for a function that trains a model, not {function!r:.60}")
    try:
        asked = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        asked = []
    if not asked or asked[0] == "rng":
        raise UsageError(
            f"{title_of(function)} takes no data: write train(data), which trains on the data that it is given and "
            "returns the model"
        )

    @functools.wraps(function)
    def train(data: Any, *, rng: np.random.Generator, **parameters: Any) -> Floats:
        given = {**parameters, "rng": rng} if "rng" in asked else parameters
        seed = int(rng.integers(_SEED))
        known = "torch" in sys.modules
        made = _seeded(function, seed, data, given)
        if not known and "torch" in sys.modules:  # it was imported in this run, after its generator should be seeded
            made = _seeded(function, seed, data, given)
        found = list(_numbers(made, title_of(function)))
        if not found:
            raise UsageError(f"{title_of(function)} returned no parameters: return the model that it trained")
        return np.concatenate(found)

    return train


def _seeded(function: Callable[..., Any], seed: int, data: Any, given: Mapping[str, Any]) -> Any:
    """Run a training whose global generators begin with a seed."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 — what somebody else's loop may draw from
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    with warnings.catch_warnings(action="ignore"):  # the same ones in every run
        return function(data, **given)


def _numbers(made: Any, title: str) -> Any:
    """Yield the numbers of a model, of arrays, or of what holds them, each (n,)."""
    if hasattr(made, "state_dict"):
        made = made.state_dict()
    if isinstance(made, Mapping):
        made = [made[key] for key in sorted(made, key=str)]
    if hasattr(made, "detach"):
        made = made.detach().cpu().numpy()
    if isinstance(made, Sequence) and not isinstance(made, str | bytes):
        for each in made:
            yield from _numbers(each, title)
        return
    try:
        if made is None:
            raise TypeError
        yield np.asarray(made, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise UsageError(
            f"{title} returned {type(made).__name__}: return the model that it trained, or its parameters as arrays"
        ) from None

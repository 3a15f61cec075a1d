"""pure-ldp: every client of its frequency oracles, at small, usual and large ε."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pure_ldp.frequency_oracles as oracles
import xxhash
from seat import Audited, Seat, shown, without_recipe

import dpaudit as dp

D = 4  # categories


def _hashes(size: int, many: int = 2) -> list[Any]:
    return [partial(lambda text, seed: xxhash.xxh32(str(text), seed=seed).intdigest() % size, seed=seed)
            for seed in range(many)]  # fmt: skip


RECIPES: dict[str, list[dict[str, Any]]] = {
    "CMSClient": [
        {"hash_funcs": _hashes(8), "m": 8},
        {"hash_funcs": _hashes(8), "m": 8, "is_hadamard": True},
    ],
    "DEClient": [{"d": 2}, {"d": D}, {"d": 100}],
    "FastLHClient": [{"d": D, "k": 10}, {"d": D, "k": 10, "use_olh": True}],
    "HEClient": [{"d": D}],
    "HadamardMechClient": [{"d": D, "t": 1}, {"d": D, "t": 2}, {"d": D, "t": 1, "use_optimal_t": True}],
    "LHClient": [{"d": D}, {"d": D, "use_olh": True}],
    "UEClient": [{"d": D}, {"d": D, "use_oue": True}],
}
EPSILONS = (0.5, 1.0, 4.0)


def made(name: str, epsilon: float, options: dict[str, Any]) -> Any:
    """A client's report of one value."""
    client = getattr(oracles, name)(epsilon, **options)

    def report(value: Any) -> Any:
        told = client.privatise(value)
        if name == "LHClient":  # every report has a seed of its own; what it says of each value is what can be counted
            hashed, seed = told
            return [
                xxhash.xxh32(str(client.index_mapper(one)), seed=seed).intdigest() % client.g == hashed
                for one in range(1, D + 1)
            ]
        told = list(told) if isinstance(told, zip) else told
        return [np.asarray(part).ravel().tolist() for part in told] if isinstance(told, tuple) else told

    return dp.mechanism(claim=f"epsilon={epsilon}", relation="declared", name=name)(report)


def found() -> Iterator[Seat]:
    """Every client."""
    held = [name for name, each in vars(oracles).items() if inspect.isclass(each) and name.endswith("Client")]
    yield from without_recipe(held, RECIPES)
    for name, several in RECIPES.items():
        for options in several:
            for epsilon in EPSILONS:
                said = {key: value for key, value in options.items() if key != "hash_funcs"}
                yield Audited(
                    shown(name, {"epsilon": epsilon, **said}), partial(made, name, epsilon, options), [(1, 2)], {}
                )

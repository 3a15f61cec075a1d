"""Opacus: every accountant of its registry, asked about runs of Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterator

from opacus.accountants import IAccountant, create_accountant
from seat import Seat, gaussian_runs, without_recipe

RECIPES = {"RDPAccountant": "rdp", "GaussianAccountant": "gdp", "PRVAccountant": "prv"}


def found() -> Iterator[Seat]:
    """Every accountant, about every list of releases."""
    yield from without_recipe((each.__name__ for each in IAccountant.__subclasses__()), RECIPES)
    for name, word in RECIPES.items():

        def said(noise: float, rate: float, steps: int, delta: float, word: str = word) -> float:
            accountant = create_accountant(word)
            accountant.history = [(noise, rate, steps)]
            return float(accountant.get_epsilon(delta=delta))

        yield from gaussian_runs(name, said)

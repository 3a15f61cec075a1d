"""dp-accounting: every privacy accountant, asked about runs of Gaussian and of Laplace noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import dp_accounting
from dp_accounting import pld, rdp
from seat import Accounted, Left, Seat, gaussian_runs, shown, without_recipe

import dpaudit as dp

RECIPES = {"RdpAccountant": rdp.RdpAccountant, "PLDAccountant": pld.PLDAccountant}


def registry() -> list[str]:
    """The names of all accountants that are imported with the package."""
    return [each.__name__ for each in dp_accounting.PrivacyAccountant.__subclasses__()]


def asked(make: Callable[[], Any], event: Any, delta: float) -> float:
    """The ε of an accountant that composed one event."""
    return float(make().compose(event).get_epsilon(delta))


def found() -> Iterator[Seat]:
    """Every accountant, about every list of releases."""
    yield from without_recipe(registry(), RECIPES)
    for name, make in RECIPES.items():

        def of_gaussian(noise: float, rate: float, steps: int, delta: float, make: Any = make) -> float:
            event = dp_accounting.GaussianDpEvent(noise)
            if rate < 1:
                event = dp_accounting.PoissonSampledDpEvent(rate, event)
            return asked(make, dp_accounting.SelfComposedDpEvent(event, steps), delta)

        yield from gaussian_runs(name, of_gaussian)
        for scale, steps in ((0.5, 1), (2.0, 1), (2.0, 10), (20.0, 100)):
            event = dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(scale), steps)
            yield Accounted(
                shown(name, {"laplace": scale, "steps": steps}),
                lambda make=make, event=event: asked(make, event, 1e-5),
                lambda scale=scale, steps=steps: dp.accounting.Laplace(str(scale)).times(steps),
                1e-5,
            )
    yield from (
        Left(name, "an event, which accountants are asked about above or nobody has a certified interval for")
        for name in dir(dp_accounting)
        if name.endswith("DpEvent") and name not in ("DpEvent", "GaussianDpEvent", "LaplaceDpEvent")
    )

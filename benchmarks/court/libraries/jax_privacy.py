"""JAX Privacy: every training accountant, asked about runs of Gaussian noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax_privacy import accounting
from seat import Seat, gaussian_runs, without_recipe

RECIPES = ("DpsgdTrainingAccountant", "SingleReleaseTrainingAccountant")
CONFIGS = {"RDP": accounting.RdpAccountantConfig, "PLD": accounting.PldAccountantConfig}
RECORDS = 10_000


def found() -> Iterator[Seat]:
    """Every training accountant with every kind of accounting, about every list of releases."""
    yield from without_recipe((name for name in dir(accounting) if name.endswith("TrainingAccountant")), RECIPES)
    for kind, config in CONFIGS.items():

        def said(noise: float, rate: float, steps: int, delta: float, config: Any = config) -> float:
            accountant = accounting.DpsgdTrainingAccountant(dp_accountant_config=config())
            params = accounting.DpParams(
                noise_multipliers=noise, num_samples=RECORDS, delta=delta, batch_size=round(rate * RECORDS)
            )
            return float(accountant.compute_epsilon(steps, params))

        yield from gaussian_runs(f"DpsgdTrainingAccountant {kind}", said)

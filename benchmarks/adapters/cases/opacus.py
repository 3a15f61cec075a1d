"""Opacus: a linear model trained by DP-SGD on four records and one more, whose gradient is clipped."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import torch
from case import Case
from opacus import PrivacyEngine

from dpaudit.adapters.opacus import mechanism_of

torch.set_num_threads(1)
DELTA = 1e-2
OTHERS = [[0.0, 0.0]] * 4


def trained(data: Any, *, sampled: bool, accountant: str) -> tuple[Any, Any]:
    """The weight after two steps at most, and the engine; records are feature and label."""
    values = torch.tensor(data, dtype=torch.float32)
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    batches = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(values[:, :1], values[:, 1:]),
        batch_size=len(OTHERS) // (2 if sampled else 1) + 1,
    )
    engine = PrivacyEngine(accountant=accountant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, batches = engine.make_private(
            module=model,
            optimizer=optimizer,
            data_loader=batches,
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            loss_reduction="sum",
            poisson_sampling=sampled,
        )
        for features, labels in batches:
            optimizer.zero_grad()
            ((model(features) - labels) ** 2).sum().backward()
            optimizer.step()
    return float(next(iter(model.parameters())).detach()), engine


def made(pairs: Any, *, sampled: bool = True, accountant: str = "rdp") -> Any:
    """The mechanism of a training run."""
    train = partial(trained, sampled=sampled, accountant=accountant)
    return mechanism_of(train, delta=DELTA, pairs=pairs, name="trained")


def _with(feature: float, label: float) -> list[Any]:
    return [([*OTHERS, [feature, label]], OTHERS)]


_NAN = (
    "The clip factor of a record whose gradient is NaN or infinite is NaN or 0, and NaN · gradient or 0 · ∞ is NaN "
    "(optimizers/optimizer.py, clip_and_accumulate): the weights are NaN, without noise, whenever the record is in a "
    "batch."
)

_GRID = "Noise is added in float32; Opacus offers secure_mode=True against this, which was not switched on."

CASES = [
    Case("poisson sampling, rdp", lambda: made(_with(1.0, 100.0)), runs=2_000),
    Case("poisson sampling, prv", lambda: made(_with(1.0, 100.0), accountant="prv"), runs=500),
    Case("one full batch", lambda: made(_with(1.0, 100.0), sampled=False), runs=2_000, grid=_GRID),
    Case("a record with NaN", lambda: made(_with(math.nan, 1.0)), runs=1_000, note=_NAN, documented="no"),
    Case("a record with infinity", lambda: made(_with(math.inf, 1.0)), runs=1_000, note=_NAN, documented="no"),
]

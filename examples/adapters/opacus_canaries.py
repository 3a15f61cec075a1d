"""Does a model trained with Opacus keep what its accountant states? Two audits of a tiny one.

    python examples/adapters/opacus_canaries.py
    dpaudit audit examples/adapters/opacus_canaries.py:release --runs 2e3

Needs Opacus: pip install 'opacus>=1.5,<1.7'. The first audit trains the model anew for every run, with one record more
or less. The second trains it once, with canaries that a fair coin of its own put into the training data or left out:
a score of each then shows how much the model remembers (Steinke, Nasr & Jagielski 2023). That one suits large models.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import torch
from opacus import PrivacyEngine

import dpaudit as dp
from dpaudit.adapters.opacus import claim_of, mechanism_of

logging.getLogger("opacus").setLevel(logging.ERROR)  # it warns of every empty batch

DELTA = 1e-2
CANARIES = 1_000


def trained(features: Any, *, sample_rate: float = 0.5, steps: int = 2) -> tuple[np.ndarray, PrivacyEngine]:
    """Return the weights of a linear model, and the engine; each record pulls them along its features: (n, d)."""
    values = torch.as_tensor(np.asarray(features), dtype=torch.float32)
    model = torch.nn.Linear(values.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    batches = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(values), batch_size=max(1, round(sample_rate * len(values)))
    )
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, batches = engine.make_private(
        module=model,
        optimizer=optimizer,
        data_loader=batches,
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        loss_reduction="sum",
    )
    for _, (batch,) in zip(range(steps), batches, strict=False):
        optimizer.zero_grad()
        (-model(batch)).sum().backward()  # the gradient of a record is the record: clipped, it has norm 1 at most
        optimizer.step()
    return next(iter(model.parameters())).detach().numpy().ravel(), engine


OTHERS = [[0.0], [0.0], [0.0], [0.0]]
release = mechanism_of(trained, delta=DELTA, pairs=[([*OTHERS, [5.0]], OTHERS)], name="training")


def canaries() -> Any:
    """Audit one model: canaries along axes of their own, the half that its coins put in, and all of their scores."""
    coins = np.random.default_rng(0).random(CANARIES) < 0.5
    directions = np.eye(CANARIES)
    weights, engine = trained(directions[coins])
    return dp.tools.audit_scores(weights[coins], weights[~coins], claim=claim_of(engine, DELTA), design="one-run")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, evidence in (("anew for every run", dp.audit(release, runs=1_000)), ("one model", canaries())):
        print(f"{name}: claim {evidence.claim}, {evidence.verdict}, epsilon is at least {evidence.lower.value:.3f}")

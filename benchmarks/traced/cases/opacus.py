"""Uses of Opacus."""

from __future__ import annotations

import torch
from case import Case
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

DISTRIBUTION = "opacus"
ROWS = ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])


def step(noise, clip, steps=1):
    def release(data):
        torch.manual_seed(7)  # of the weights alone
        model = GradSampleModule(torch.nn.Linear(2, 1), loss_reduction="sum")
        torch.seed()
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = DPOptimizer(inner, noise_multiplier=noise, max_grad_norm=clip, expected_batch_size=2)
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.tensor(data)).sum().backward()
            optimizer.step()
        return [each.detach().numpy().tolist() for each in model.parameters()]

    return release


CASES = [
    Case("three steps, as if they were one", step(1.0, 1.0, 3), ROWS, "mu=1", "two steps too many", "add-remove"),
    Case("one step", step(1.0, 1.0), ROWS, "mu=1", relation="add-remove"),
    Case("four steps", step(2.0, 1.0, 4), ROWS, "mu=1", relation="add-remove"),
]  # fmt: skip

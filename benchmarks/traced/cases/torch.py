"""Noise of PyTorch, in small programs."""

from __future__ import annotations

import torch
from case import Case

DISTRIBUTION = "torch"
MORE = ([1.0, 2.0], [1.0, 2.0, 1.0])
ROWS = ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])


def gradient(clip):
    def release(data):
        rows = torch.tensor(data)
        if clip:
            rows = rows / torch.clamp(rows.norm(dim=1, keepdim=True), min=1.0)
        return (rows.sum(0) + torch.normal(0.0, 1.0, size=(2,))) / 10

    return release


def laplace(scale):
    return lambda data: torch.distributions.Laplace(torch.tensor(sum(data)), scale).sample().item()


def largest(data):
    return int(torch.argmax(torch.tensor(data) + 2 * torch.distributions.Laplace(0.0, 1.0).sample((2,))))


CASES = [
    Case("a gradient that is not clipped", gradient(False), ROWS, "mu=1", "no clipping", "add-remove"),
    Case("Laplace, a scale too small", laplace(0.5), MORE, mistake="a scale too small", relation="add-remove"),
    Case("a clipped gradient", gradient(True), ROWS, "mu=1.0001", relation="add-remove"),
    Case("Laplace", laplace(1.0), MORE, relation="add-remove"),
    Case("randn", lambda data: len(data) + 3 * torch.randn(2), MORE, "mu=0.5", relation="add-remove"),
    Case("noisy maximum", largest, ([1.0, 2.0], [2.0, 1.0]), relation="declared"),
]  # fmt: skip

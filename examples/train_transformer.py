"""Train a small transformer on generated text with differential privacy, in a loop of PyTorch alone, and audit it.

    pip install 'dpaudit[torch]'
    dpaudit train examples/train_transformer.py:train --claim "epsilon=6, delta=1e-5"

The loop clips gradients that ``torch.func`` computes for single sequences, and adds its noise by hand. So it says its
noise and its clip norm to the watch, and which function makes the clipped sum: clipping is replayed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.data import DataLoader, Sampler, TensorDataset

LETTERS, LENGTH, SEQUENCES = 12, 16, 600
RATE, SIGMA, CLIP, STEPS = 0.05, 1.0, 0.5, 60


class Poisson(Sampler[list[int]]):
    """Batches that every record joins by a coin of its own."""

    sample_rate = RATE

    def __len__(self) -> int:
        return round(1 / RATE)

    def __iter__(self) -> Any:
        for _ in range(len(self)):
            yield (torch.rand(SEQUENCES) < RATE).nonzero().flatten().tolist()


class Transformer(nn.Module):
    """Two layers of attention that guess the next letter."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, width), nn.Embedding(LENGTH, width)
        self.queries = nn.ModuleList(nn.Linear(width, 3 * width) for _ in range(2))
        self.mixers = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.out = nn.Linear(width, LETTERS)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next letter, (sequences, length, letters)."""
        x = self.letters(text) + self.places.weight[: text.shape[1]]
        hidden = torch.ones(text.shape[1], text.shape[1]).triu(1) * -1e9
        for query, mixer in zip(self.queries, self.mixers, strict=True):
            q, k, v = query(x).chunk(3, dim=-1)
            x = x + torch.tanh(mixer((q @ k.transpose(-1, -2) / 4 + hidden).softmax(-1) @ v))
        return self.out(x)


def texts(seed: int = 0) -> torch.Tensor:
    """Return generated texts: letters that go up by one or two."""
    made = torch.Generator().manual_seed(seed)
    steps = torch.randint(1, 3, (SEQUENCES, LENGTH), generator=made)
    return (steps.cumsum(1) + torch.randint(LETTERS, (SEQUENCES, 1), generator=made)) % LETTERS


def clipped_sum(model: nn.Module) -> Callable[[Any], list[torch.Tensor]]:
    """Return the function that makes the clipped sum of a batch, a tensor for each parameter."""

    def loss(weights: Any, text: torch.Tensor) -> torch.Tensor:
        scores = functional_call(model, weights, (text[None, :-1],))[0]
        return nn.functional.cross_entropy(scores, text[1:])

    each = vmap(grad(loss), in_dims=(None, 0))

    def of(batch: Any) -> list[torch.Tensor]:
        rows = list(each({name: p.detach() for name, p in model.named_parameters()}, batch[0]).values())
        norms = torch.stack([row.flatten(1).norm(dim=1) for row in rows]).norm(dim=0)
        factors = (CLIP / (norms + 1e-6)).clamp(max=1)
        return [torch.einsum("i,i...", factors, row) for row in rows]

    return of


def train(watch: Any) -> None:
    """Train within ``watch``, which `dpaudit train` gives."""
    torch.manual_seed(0)
    model = Transformer()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(texts()), batch_sampler=Poisson())
    summed = clipped_sum(model)
    with watch(model, optimizer, loader, sigma=SIGMA, clip=CLIP, gradient=summed):
        done = 0
        while done < STEPS:
            for batch in loader:
                for p, total in zip(model.parameters(), summed(batch), strict=True):
                    p.grad = (total + SIGMA * CLIP * torch.randn_like(p)) / (RATE * SEQUENCES)
                optimizer.step()
                done += 1
                if done == STEPS:
                    break


if __name__ == "__main__":
    import dpaudit as dp

    train(lambda *loop, **more: dp.watch_training(*loop, claim="epsilon=6, delta=1e-5", **more))

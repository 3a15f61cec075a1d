"""Train a classifier of digits with Opacus, and audit the training run.

    pip install 'dpaudit[torch]' scikit-learn
    dpaudit train examples/train_digits.py:train --claim "epsilon=8, delta=1e-5"

or, from Python, with the one line that watches: python examples/train_digits.py
"""

from __future__ import annotations

from typing import Any

import torch
from opacus import PrivacyEngine
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH, EPOCHS = 90, 5


def made_private(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return a network, an optimizer and a loader, all of Opacus: σ = 1, clip norm 1, Poisson batches of about 90."""
    torch.manual_seed(seed)
    x, y = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y))
    model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 10))
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=DataLoader(data, batch_size=BATCH),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    optimizer.expected_batch_size = BATCH  # a public number; by default it is computed from the number of records
    return model, optimizer, loader


def fit(model: Any, optimizer: Any, loader: Any) -> None:
    """Train for a few epochs: the loop that is watched."""
    loss = nn.CrossEntropyLoss()
    for _ in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()


def train() -> None:
    """What somebody's own script does."""
    fit(*made_private())


def main() -> None:
    """Watch the loop from Python."""
    import dpaudit as dp

    model, optimizer, loader = made_private()
    with dp.watch_training(model, optimizer, loader, claim="epsilon=8, delta=1e-5", name="digits") as watch:
        fit(model, optimizer, loader)
    evidence = watch.evidence
    print(evidence.verdict, evidence.reason, sep=": ")
    evidence.save("digits.json")
    evidence.to_html("digits.html")


if __name__ == "__main__":
    main()

"""Which loops are watched? Right ones, and one mistake planted in each of the others, on scikit-learn's digits.

Every loop is a function of (mistake, seed, updates) that returns a model, an optimizer, a loader, the options of the
watch and the training itself. The same mistakes are planted with Opacus' hooks, with ghost clipping, and in a plain
loop, as far as they can be made there.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from opacus import PrivacyEngine
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from sklearn.datasets import load_digits
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

X, Y = load_digits(return_X_y=True)
DIGITS = TensorDataset(torch.tensor(X / 16, dtype=torch.float32), torch.tensor(Y))
BATCH = 90
RATE = BATCH / len(DIGITS)
EPOCH = 20


@dataclass
class Loop:
    """A loop, ready to be trained and watched."""

    model: Any
    optimizer: Any
    loader: Any
    train: Callable[[], None]
    options: dict[str, Any] = field(default_factory=dict)


def network(wide: int = 128) -> nn.Module:
    """A network of one hidden layer: of 9,610 weights, or more."""
    return nn.Sequential(nn.Linear(64, wide), nn.Tanh(), nn.Linear(wide, 10))


RIGHT = ("right", "adam", "memory manager", "workers")
NOT_MADE = {("ghost", "mean of microbatches"), ("plain", "steps not counted"), ("plain", "memory manager")}
"""What cannot be done in a loop: no gradients to average with ghost clipping, no counter in a plain loop."""

MISTAKES: dict[str, tuple[str, tuple[str, ...]]] = {
    # mistake: (the fact that is wrong, names that are right)
    "noise halved": ("noise", ("too little noise",)),
    "no clipping": ("clipping", ("not clipped",)),
    "clipped per batch": ("clipping", ("clipped per batch",)),
    "shuffled": ("batches", ("shuffled batches",)),
    "fixed size": ("batches", ("batches of one size, drawn anew each time",)),
    "whole part of N·q": ("divisor", ("whole part of N·q",)),
    "divisor is the batch": ("divisor", ("divided by the batch size",)),
    "uncounted accumulation": ("steps", ("uncounted accumulation", "accumulated batches")),
    "noise repeated": ("repetition", ("noise repeated",)),
    "one noise for all": ("repetition", ("noise repeated",)),
    "another sensitivity": ("clipping", ("another norm",)),
    "frozen layer without noise": ("parameters", ("never moved", "moved without noise", "no noise was seen in it")),
    "steps not counted": ("steps", ("steps that are not accounted for",)),
    "mean of microbatches": ("clipping", ("no such sum", "a mean", "hangs on others")),
}


# --- Opacus --------------------------------------------------------------------------------------------------


def opacus(
    mistake: str = "right",
    seed: int = 0,
    updates: int = EPOCH,
    *,
    ghost: bool = False,
    sigma: float = 1.0,
    wide: int = 128,
) -> Loop:
    """A loop with Opacus."""
    torch.manual_seed(seed)
    model = network(wide)
    clip = 1e-4 if mistake == "another sensitivity" else 1.0
    kind = torch.optim.Adam if mistake == "adam" else torch.optim.SGD
    plain = kind(model.parameters(), lr=0.002 if mistake == "adam" else 0.5)
    shuffled = mistake in ("shuffled", "fixed size")
    loader = DataLoader(DIGITS, batch_size=BATCH, shuffle=shuffled, num_workers=2 if mistake == "workers" else 0)
    if mistake == "fixed size":
        loader = DataLoader(DIGITS, batch_sampler=_FixedSize(len(DIGITS), BATCH))
        loader.batch_sampler.batch_size = BATCH
    engine, loss_of = PrivacyEngine(accountant="prv"), nn.CrossEntropyLoss()
    made = engine.make_private(
        module=model,
        optimizer=plain,
        data_loader=loader,
        noise_multiplier=sigma,
        max_grad_norm=clip,
        poisson_sampling=not shuffled,
        grad_sample_mode="ghost" if ghost else "hooks",
        **({"criterion": loss_of} if ghost else {}),
    )
    private, optimizer, loader = made[0], made[1], made[-1]
    if ghost:
        loss_of = made[2]
    if mistake != "whole part of N·q":
        optimizer.expected_batch_size = BATCH  # a public number; by default int(N / len(loader))
    if mistake == "frozen layer without noise":
        _train_outside(optimizer, model)
    _plant(mistake, private, optimizer, engine, sigma)

    def train() -> None:
        manager = (
            BatchMemoryManager(data_loader=loader, max_physical_batch_size=32, optimizer=optimizer)
            if mistake == "memory manager"
            else None
        )
        source = manager.__enter__() if manager else loader
        done = 0
        while done < updates:
            for number, (x, y) in enumerate(source):
                if mistake == "uncounted accumulation":
                    optimizer.signal_skip_step(do_skip=number % 2 == 0)
                optimizer.zero_grad()
                loss_of(private(x), y).backward()
                optimizer.step()
                done += not optimizer._is_last_step_skipped
                if done >= updates:
                    break

    return Loop(private, optimizer, loader, train)


class _FixedSize:
    """Batches of one size, drawn anew each time."""

    def __init__(self, records: int, size: int) -> None:
        self.records, self.size = records, size

    def __len__(self) -> int:
        return self.records // self.size + 1

    def __iter__(self) -> Any:
        for _ in range(len(self)):
            yield torch.randperm(self.records)[: self.size].tolist()


def _train_outside(optimizer: Any, model: nn.Module) -> None:
    """The last bias is moved by hand, from the sum of its gradients, without noise."""
    bias = model[2].bias
    inner = optimizer.add_noise

    def add_noise() -> None:
        inner()
        bias.grad = bias.summed_grad.clone()

    optimizer.add_noise = add_noise


def _plant(mistake: str, model: Any, optimizer: Any, engine: Any, sigma: float) -> None:
    ghost = hasattr(optimizer, "accumulate")
    name = "accumulate" if ghost else "clip_and_accumulate"
    if mistake == "noise halved":
        inner = optimizer.add_noise

        def halved() -> None:
            optimizer.noise_multiplier = sigma / 2
            inner()
            optimizer.noise_multiplier = sigma

        optimizer.add_noise = halved
    if mistake in ("no clipping", "clipped per batch", "mean of microbatches", "another sensitivity"):
        if ghost:
            _plant_ghost(mistake, model, optimizer)
        else:
            setattr(optimizer, name, lambda: _wrong_sum(mistake, optimizer))
    if mistake == "noise repeated":
        optimizer.generator, again = torch.Generator(), optimizer.add_noise

        def repeated() -> None:
            optimizer.generator.manual_seed(1)
            again()

        optimizer.add_noise = repeated
    if mistake == "one noise for all":

        def shared() -> None:
            noise = torch.randn(max(p.numel() for p in optimizer.params)) * sigma * float(optimizer.max_grad_norm)
            for p in optimizer.params:
                p.grad = (p.summed_grad + noise[: p.numel()].view_as(p.summed_grad)).view_as(p)

        optimizer.add_noise = shared
    if mistake == "divisor is the batch":
        scale = optimizer.scale_grad
        inner_sum = getattr(optimizer, name)
        rows = [1]

        def counting() -> None:
            rows[0] = (
                len(model.per_sample_gradient_norms)
                if ghost
                else len(optimizer._get_flat_grad_sample(optimizer.params[0]))
            )
            inner_sum()

        def by_rows() -> None:
            optimizer.expected_batch_size = max(1, rows[0])
            scale()

        setattr(optimizer, name, counting)
        optimizer.scale_grad = by_rows
    if mistake == "steps not counted":
        hook, count = optimizer.step_hook, [0]

        def every_other(each: Any) -> None:
            count[0] += 1
            if count[0] % 2:
                hook(each)

        every_other.__dict__["history"] = None
        optimizer.attach_step_hook(every_other)


def _wrong_sum(mistake: str, optimizer: Any) -> None:
    rows = [optimizer._get_flat_grad_sample(p) for p in optimizer.params]
    size = max(1, len(rows[0]))
    norms = torch.stack([row.reshape(len(row), -1).norm(dim=1) for row in rows], 1).norm(dim=1)
    factors = (1.0 / (norms + 1e-6)).clamp(max=1) if mistake == "another sensitivity" else torch.ones(len(rows[0]))
    if mistake == "mean of microbatches":
        groups = [row[: size // 2 * 2].reshape(-1, 2, *row.shape[1:]).mean(1) for row in rows]
        group_norms = torch.stack([g.reshape(len(g), -1).norm(dim=1) for g in groups], 1).norm(dim=1)
        rows, factors = groups, (1.0 / (group_norms + 1e-6)).clamp(max=1)
    sums = [torch.einsum("i,i...", factors, row) for row in rows]
    if mistake == "clipped per batch":
        norm = torch.stack([total.norm() for total in sums]).norm()
        sums = [total * (1.0 / (norm + 1e-6)).clamp(max=1) for total in sums]
    for p, total in zip(optimizer.params, sums, strict=True):
        p.summed_grad = total if p.summed_grad is None else p.summed_grad + total


def _plant_ghost(mistake: str, model: Any, optimizer: Any) -> None:
    inner = model.get_clipping_coef

    def coefficients() -> Any:
        found = inner()
        if mistake == "another sensitivity":
            return (1.0 / (model.per_sample_gradient_norms + 1e-6)).clamp(max=1.0)
        return torch.ones_like(found)

    model.get_clipping_coef = coefficients
    if mistake in ("clipped per batch", "mean of microbatches"):
        accumulate = optimizer.accumulate

        def wrong() -> None:
            norm = torch.stack([p.grad.norm() for p in optimizer.params]).norm()
            for p in optimizer.params:
                p.grad = p.grad * (1.0 / norm).clamp(max=1)
            accumulate()

        optimizer.accumulate = wrong


# --- no library ----------------------------------------------------------------------------------------------


def plain(
    mistake: str = "right",
    seed: int = 0,
    updates: int = EPOCH,
    *,
    gradient: bool = True,
    sigma: float = 1.0,
    wide: int = 128,
) -> Loop:
    """A loop of PyTorch alone: vmap'ed gradients, noise by hand."""
    torch.manual_seed(seed)
    model = network(wide)
    kind = torch.optim.Adam if mistake == "adam" else torch.optim.SGD
    optimizer = kind(model.parameters(), lr=0.002 if mistake == "adam" else 0.5)
    if mistake == "shuffled":
        loader = DataLoader(DIGITS, batch_size=BATCH, shuffle=True)
    elif mistake == "fixed size":
        loader = DataLoader(DIGITS, batch_sampler=_FixedSize(len(DIGITS), BATCH))
    else:
        rate = 0.0505 if mistake == "whole part of N·q" else RATE
        sampler = UniformWithReplacementSampler(num_samples=len(DIGITS), sample_rate=rate)
        loader = DataLoader(DIGITS, batch_sampler=sampler, num_workers=2 if mistake == "workers" else 0)

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return nn.functional.cross_entropy(functional_call(model, weights, (x[None],)), y[None])

    single = vmap(grad(loss), in_dims=(None, 0, 0))
    clip = 1e-4 if mistake == "another sensitivity" else 1.0

    def clipped(batch: Any) -> list[Any]:
        x, y = batch
        rows = list(single({name: p.detach() for name, p in model.named_parameters()}, x, y).values())
        if mistake == "mean of microbatches":
            rows = [
                row[: max(2, len(row) // 2 * 2)].reshape(-1, min(2, len(row)), *row.shape[1:]).mean(1) for row in rows
            ]
        norms = torch.stack([row.flatten(1).norm(dim=1) for row in rows]).norm(dim=0)
        factors = (1.0 / (norms + 1e-6)).clamp(max=1)
        if mistake in ("no clipping", "clipped per batch"):
            factors = torch.ones_like(factors)
        sums = [torch.einsum("i,i...", factors, row) for row in rows]
        if mistake == "clipped per batch":
            whole = torch.stack([total.norm() for total in sums]).norm()
            sums = [total * (1.0 / (whole + 1e-6)).clamp(max=1) for total in sums]
        return sums

    def train() -> None:
        done = 0
        divisor = float(BATCH)
        held: list[Any] = []
        while done < updates:
            for number, (x, y) in enumerate(loader):
                sums = clipped((x, y))
                if mistake == "uncounted accumulation":
                    held = [a + b for a, b in zip(held, sums, strict=True)] if held else sums
                    if number % 2 == 0:
                        continue
                    sums, held = held, []
                if mistake == "noise repeated":
                    torch.manual_seed(3)
                shared = torch.randn(max(p.numel() for p in model.parameters()))
                for place, (p, total) in enumerate(zip(model.parameters(), sums, strict=True)):
                    noise = torch.randn_like(p) * sigma * clip * (0.5 if mistake == "noise halved" else 1)
                    if mistake == "one noise for all":
                        noise = shared[: p.numel()].view_as(p) * sigma * clip
                    if mistake == "frozen layer without noise" and place == 3:
                        p.grad = total / divisor
                        continue
                    p.grad = (total + noise) / (len(x) if mistake == "divisor is the batch" else divisor)
                optimizer.step()
                done += 1
                if done >= updates:
                    break

    options: dict[str, Any] = {"sigma": sigma, "clip": clip}
    return Loop(model, optimizer, loader, train, {**options, **({"gradient": clipped} if gradient else {})})

"""Right and wrong loops whose rate of learning changes: by the number of updates, by public records, by the loss."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from as_written import add, around, training, written
from loops import Loop
from torch.optim import lr_scheduler

Each = Callable[[Any, Any, float, int], None]
CHANGED, FOLLOWED = ("altered", "steps changed by the loop"), ("altered", "the rate follows the loss")


def scheduled(seed: int, plan_of: Callable[[Any], Any], each: Each) -> Loop:
    """Two epochs; after every update ``each(schedule, optimizer, loss, number of the update)``."""

    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        base, number = optimizer.original_optimizer, 0
        plan = plan_of(base)
        for _ in range(2):
            for x, y in loader:
                optimizer.zero_grad()
                measured = loss(model(x), y)
                measured.backward()
                optimizer.step()
                number += 1
                each(plan, base, measured.item(), number)

    return around(seed, body)


def after_each(
    what: str, *named: tuple[str, str], plan: Callable[[Any], Any] = lambda base: None
) -> Callable[[Each], Each]:
    """Add a loop by what is done after every update."""
    return lambda each: add(what, lambda seed: scheduled(seed, plan, each), *named) or each


def warmed(update: int, *, warm: int, total: int) -> float:
    return min(1.0, (update + 1) / warm) * max(0.0, 1 - update / total)


RULE = functools.partial(warmed, warm=4, total=60)


def warm_then_cosine(base: Any) -> Any:
    warm = lr_scheduler.LinearLR(base, 0.2, total_iters=5)
    return lr_scheduler.SequentialLR(base, [warm, lr_scheduler.CosineAnnealingLR(base, 40)], [5])


@after_each("warmed up, then cosine, by SequentialLR", plan=warm_then_cosine)
@after_each(
    "a schedule of a function with its numbers, as transformers make it",
    plan=lambda base: lr_scheduler.LambdaLR(base, RULE),
)
def counting(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    plan.step()


@after_each("a schedule that steps after every tenth update", plan=lambda base: lr_scheduler.ExponentialLR(base, 0.8))
def seldom(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    if number % 10 == 0:
        plan.step()


def held_out() -> tuple[Any, Any]:
    """Public records: as many as are in a batch."""
    generator = torch.Generator().manual_seed(5)
    return torch.rand(64, 64, generator=generator), torch.randint(10, (64,), generator=generator)


@training("ReduceLROnPlateau by the loss of public records")
def on_public_plateau(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    public, answers = held_out()
    plan = lr_scheduler.ReduceLROnPlateau(optimizer.original_optimizer, patience=0)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                plan.step(loss(model(public), answers))
            model.train()


@training("the rate of learning follows the loss of public records, of which a gradient is looked at")
def follows_public(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    other, (public, answers) = torch.nn.Linear(64, 10), held_out()
    for number, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        measured = torch.nn.functional.cross_entropy(number * other(public), answers)
        measured.backward()
        optimizer.original_optimizer.param_groups[0]["lr"] = 0.1 * measured.item()
        optimizer.step()


@after_each("the rate of learning is set by the number of updates, in the loop")
def counted_by_hand(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    optimizer.param_groups[0]["lr"] = 0.2 * 0.99**number


@after_each("the rate of learning follows a noisy loss")
def follows_noisy(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    optimizer.param_groups[0]["lr"] = max(0.01, 0.1 * (loss + random.gauss(0, 2.0)))


@training("the rate of learning follows the loss of the batch", FOLLOWED)
def plateau(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for x, y in loader:
        optimizer.zero_grad()
        found = loss(model(x), y)
        found.backward()
        for group in optimizer.original_optimizer.param_groups:
            group["lr"] = 0.2 * found.item()
        optimizer.step()


@written("a schedule that reads the losses so far", FOLLOWED)
def reads_losses(seed: int) -> Loop:
    losses = [1.0]

    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        losses.append(loss)
        plan.step()

    return scheduled(seed, lambda base: lr_scheduler.LambdaLR(base, lambda _: losses[-1]), each)


@after_each(
    "a schedule, and a rate set by the loss beside it", CHANGED, plan=lambda base: lr_scheduler.StepLR(base, 100)
)
def beside_it(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    optimizer.param_groups[0]["lr"] *= 0.9 if loss > 1 else 1.05
    plan.step()


def slowly(base: Any) -> Any:
    return lr_scheduler.ExponentialLR(base, 0.9)


@after_each("a schedule that steps where the loss is small", CHANGED, plan=slowly)
def where_small(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    if loss < 2.0:
        plan.step()


@after_each("a schedule whose factor follows the loss", CHANGED, plan=slowly)
def its_factor(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    plan.gamma = 0.9 if loss < 2 else 1.05
    plan.step()


def on_plateau_of(base: Any) -> Any:
    return lr_scheduler.ReduceLROnPlateau(base, patience=0)


@after_each("ReduceLROnPlateau", FOLLOWED, plan=on_plateau_of)
def on_plateau(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    plan.step(loss)


@written("ReduceLROnPlateau by the mean loss of an epoch, by NumPy", FOLLOWED)
def on_mean(seed: int) -> Loop:
    losses: list[float] = []

    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        losses.append(loss)
        if number % 20 == 0:
            plan.step(np.mean(losses[-20:]))

    return scheduled(seed, on_plateau_of, each)

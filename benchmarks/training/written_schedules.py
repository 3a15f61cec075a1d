"""Right and wrong loops whose rate of learning changes: by the number of updates, by public records, by the loss."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from as_written import right, wrong
from loops import Loop
from written_since import around


def scheduled(seed: int, plan_of: Callable[[Any], Any], each: Callable[[Any, Any, float, int], None]) -> Loop:
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


def counting(plan: Any, optimizer: Any, loss: float, number: int) -> None:
    plan.step()


def warmed(update: int, *, warm: int, total: int) -> float:
    return min(1.0, (update + 1) / warm) * max(0.0, 1 - update / total)


@right("a schedule of a function with its numbers, as transformers make it")
def partial(seed: int) -> Loop:
    rule = functools.partial(warmed, warm=4, total=60)
    return scheduled(seed, lambda base: torch.optim.lr_scheduler.LambdaLR(base, rule), counting)


@right("warmed up, then cosine, by SequentialLR")
def sequential(seed: int) -> Loop:
    def plan(base: Any) -> Any:
        warm = torch.optim.lr_scheduler.LinearLR(base, 0.2, total_iters=5)
        return torch.optim.lr_scheduler.SequentialLR(
            base, [warm, torch.optim.lr_scheduler.CosineAnnealingLR(base, 40)], [5]
        )

    return scheduled(seed, plan, counting)


@right("a schedule that steps after every tenth update")
def seldom(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        if number % 10 == 0:
            plan.step()

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.ExponentialLR(base, 0.8), each)


def held_out(seed: int) -> tuple[Any, Any]:
    """Public records: as many as are in a batch."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(64, 64, generator=generator), torch.randint(10, (64,), generator=generator)


@right("ReduceLROnPlateau by the loss of public records")
def on_public_plateau(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        base, (public, answers) = optimizer.original_optimizer, held_out(seed)
        plan = torch.optim.lr_scheduler.ReduceLROnPlateau(base, patience=0)
        for _ in range(2):
            for x, y in loader:
                optimizer.zero_grad()
                loss(model(x), y).backward()
                optimizer.step()
                model.eval()
                with torch.no_grad():
                    plan.step(loss(model(public), answers))
                model.train()

    return around(seed, body)


@right("the rate of learning follows the loss of public records, of which a gradient is looked at")
def follows_public(seed: int) -> Loop:
    other = torch.nn.Linear(64, 10)

    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        public, answers = held_out(seed)
        for number, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            measured = torch.nn.functional.cross_entropy(number * other(public), answers)
            measured.backward()
            optimizer.original_optimizer.param_groups[0]["lr"] = 0.1 * measured.item()
            optimizer.step()

    return around(seed, body)


@right("the rate of learning is set by the number of updates, in the loop")
def counted_by_hand(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        optimizer.param_groups[0]["lr"] = 0.2 * 0.99**number

    return scheduled(seed, lambda base: None, each)


@right("the rate of learning follows a noisy loss")
def follows_noisy(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        optimizer.param_groups[0]["lr"] = max(0.01, 0.1 * (loss + random.gauss(0, 2.0)))

    return scheduled(seed, lambda base: None, each)


CHANGED, FOLLOWED = ("altered", "steps changed by the loop"), ("altered", "the rate follows the loss")


@wrong("the rate of learning follows the loss of the batch", FOLLOWED)
def plateau(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        for x, y in loader:
            optimizer.zero_grad()
            found = loss(model(x), y)
            found.backward()
            for group in optimizer.original_optimizer.param_groups:
                group["lr"] = 0.2 * found.item()
            optimizer.step()

    return around(seed, body)


@wrong("a schedule that reads the losses so far", FOLLOWED)
def reads_losses(seed: int) -> Loop:
    losses = [1.0]

    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        losses.append(loss)
        plan.step()

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.LambdaLR(base, lambda _: losses[-1]), each)


@wrong("a schedule, and a rate set by the loss beside it", CHANGED)
def beside_it(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        optimizer.param_groups[0]["lr"] *= 0.9 if loss > 1 else 1.05
        plan.step()

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.StepLR(base, 100), each)


@wrong("a schedule that steps where the loss is small", CHANGED)
def where_small(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        if loss < 2.0:
            plan.step()

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.ExponentialLR(base, 0.9), each)


@wrong("a schedule whose factor follows the loss", CHANGED)
def its_factor(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        plan.gamma = 0.9 if loss < 2 else 1.05
        plan.step()

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.ExponentialLR(base, 0.9), each)


@wrong("ReduceLROnPlateau", FOLLOWED)
def on_plateau(seed: int) -> Loop:
    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        plan.step(loss)

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.ReduceLROnPlateau(base, patience=0), each)


@wrong("ReduceLROnPlateau by the mean loss of an epoch, by NumPy", FOLLOWED)
def on_mean(seed: int) -> Loop:
    losses: list[float] = []

    def each(plan: Any, optimizer: Any, loss: float, number: int) -> None:
        losses.append(loss)
        if number % 20 == 0:
            plan.step(np.mean(losses[-20:]))

    return scheduled(seed, lambda base: torch.optim.lr_scheduler.ReduceLROnPlateau(base, patience=0), each)

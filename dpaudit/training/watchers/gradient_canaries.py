"""How do canaries of gradients come into a loop of Opacus? In place of records that it draws, in a block of their own.

The block is one more parameter of the optimizer, with a coordinate for each canary. Where the loop draws a record that
gives its place, its gradient becomes zero; where the coin of its canary says "in", it lies along the canary's
coordinate instead, longer than the clip norm. Sampler, clipping, sum and noise are the loop's own. The block has no
gradient when parameters move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dpaudit.arrays import Integers
from dpaudit.errors import UsageError
from dpaudit.training.canaries import Canaries, evidence_for_in
from dpaudit.training.watchers.opacus import given_back, is_ghost, is_opacus, norm_of
from dpaudit.training.watchers.recorder import Recorder, Undo

LENGTH = 10.0
"""Of the gradient of a canary, in clip norms: so clipping has to shorten it."""
_INSTEAD = "list records as canaries instead (canaries=[…] with canary_scores=)"


def refuse_others(optimizer: Any, loader: Any, rate: float | None) -> None:
    """Raise `UsageError` for loops that gradients cannot be put into."""
    if not is_opacus(optimizer) or is_ghost(optimizer):
        raise UsageError(
            "a number of canaries puts gradients in place of records, which takes gradients of single records: a loop "
            f"of Opacus with hooks. Here, {_INSTEAD}"
        )
    if hasattr(optimizer, "target_unclipped_quantile") or hasattr(optimizer, "max_grad_norms"):
        raise UsageError(
            "the clip norm of this loop hangs on the gradients of records, or is one for each layer: canaries of "
            f"gradients would change how the others are clipped; {_INSTEAD}"
        )
    if getattr(loader, "num_workers", 0):
        raise UsageError(
            "the workers of this loader draw batches ahead, so that the place of a canary is not known: set "
            f"num_workers=0, or {_INSTEAD}"
        )
    if rate is None:
        raise UsageError("canaries of gradients need the rate at which records are drawn: give rate=")


class GradientCanaries:
    """Puts canaries into one loop, and scores them.

    Args:
        optimizer: of Opacus, with hooks.
        recorder: sees the batches that are drawn.
        canaries: with their places and coins.
        rate: at which records are drawn.
        sigma: the noise multiplier that is claimed.
    """

    def __init__(self, optimizer: Any, recorder: Recorder, canaries: Canaries, rate: float, sigma: float) -> None:
        self.optimizer, self.canaries, self.rate, self.sigma = optimizer, canaries, rate, sigma
        first = optimizer.params[0]
        self.block = torch.nn.Parameter(torch.zeros(len(canaries.places), dtype=first.dtype, device=first.device))
        self.number = {int(place): number for number, place in enumerate(canaries.places)}
        self.waiting: list[Integers] = []
        self.scores = canaries.scores = np.zeros(len(canaries.places))
        recorder.at_batch = self.waiting.append

    def watch(self, undo: Undo) -> None:
        """Add the block, and wrap two methods of the optimizer."""
        held = self.optimizer.param_groups[0]["params"]
        held.append(self.block)
        self.block.grad_sample, self.block.summed_grad = None, None
        undo.append(self._take_back(held))
        for name in ("pre_step", "add_noise"):
            own = self.optimizer.__dict__.get(name)
            setattr(self.optimizer, name, getattr(self, name)(getattr(self.optimizer, name)))
            undo.append(given_back(self.optimizer, name, own))
        undo.append(self.optimizer.original_optimizer.register_step_pre_hook(self._at_step).remove)

    def _take_back(self, held: list[Any]) -> Callable[[], None]:
        def back() -> None:
            held[:] = [p for p in held if p is not self.block]
            self.optimizer.state.pop(self.block, None)

        return back

    def pre_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap what comes before a step: canaries are there before gradients are clipped."""

        def pre_step(*args: Any, **named: Any) -> Any:
            self._insert()
            return original(*args, **named)

        return pre_step

    def _insert(self) -> None:
        """Give the block gradients of single records, and take those of the records whose place it is."""
        others = [p for p in self.optimizer.params if p is not self.block]
        like = getattr(others[0], "grad_sample", None)
        if like is None:
            return  # without gradients of single records the loop itself ends, and says so
        sizes = [len(each) for each in like] if isinstance(like, list) else [len(like)]
        places, clip, start, made = self._drawn(sum(sizes)), norm_of(self.optimizer), 0, []
        for part, size in enumerate(sizes):
            rows = self.block.new_zeros((size, len(self.block)))
            for row, place in enumerate(places[start : start + size]):
                number = self.number.get(int(place))
                if number is None:
                    continue
                for p in others:
                    (p.grad_sample[part] if isinstance(p.grad_sample, list) else p.grad_sample)[row] = 0
                if self.canaries.coins[number]:
                    rows[row, number] = LENGTH * clip
            made.append(rows)
            start += size
        self.block.grad_sample = made if isinstance(like, list) else made[0]

    def _drawn(self, rows: int) -> Integers:
        """Return the numbers of the records whose gradients these are; none where that is not certain.

        They are those of the last batches that were drawn, or the next of a batch that is taken in parts.
        """
        total = 0
        for back, batch in enumerate(reversed(self.waiting), start=1):
            total += len(batch)
            if total == rows and rows:
                found = np.concatenate(self.waiting[-back:])
                self.waiting.clear()
                return found
            if total > rows:
                break
        if not rows or not self.waiting or rows > len(self.waiting[-1]):
            return np.full(rows, -1)
        found, rest = self.waiting[-1][:rows], self.waiting[-1][rows:]
        self.waiting[:] = [rest]
        return found

    def add_noise(self, original: Callable[[], None]) -> Callable[[], None]:
        """Wrap the noise: what it makes of the block is what an attacker sees."""

        def add_noise() -> None:
            original()
            if self.block.grad is not None:
                values = self.block.grad.detach().cpu().double().numpy() / norm_of(self.optimizer)
                self.scores += evidence_for_in(values, self.rate, self.sigma)

        return add_noise

    def _at_step(self, *_: Any) -> None:
        self.block.grad = self.block.summed_grad = None  # the block itself never moves

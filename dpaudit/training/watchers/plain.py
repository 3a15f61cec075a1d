"""What does a loop without a library do? Noise is followed from its draw, clipping replayed by the loop's function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError
from dpaudit.training.seen import Update
from dpaudit.training.watchers.noise_flow import Lost, Noise, NoiseFlow, Noisy
from dpaudit.training.watchers.opacus import values
from dpaudit.training.watchers.recorder import Recorder, Undo, length

NOISE_LOST = (
    "The noise could not be followed from its draw to the gradient: an operation on the way is not known, or it was "
    "drawn outside of PyTorch or before the watch began."
)
NO_GRADIENT = (
    "Gradients of single records of a plain loop are not seen without gradient=, a function that returns the clipped "
    "sum of a batch."
)
OF_OTHERS = "A sum may hold what other processes added, so that it was not compared with those of single records."
_COORDINATES = 1024  # of a sum that is replayed
_MOST_RECORDS = 100_000  # of a batch whose sum is replayed
_ALONE = 8  # records of a batch that are replayed alone


class PlainWatcher:
    """Sees the updates of one optimizer.

    Args:
        recorder: writes down what is seen.
        flow: follows noise.
        names: of the parameters that are trained.
        sigma, clip: as they are claimed.
        gradient: returns the clipped sum of a batch, a tensor for each parameter in their order; or None.
        reached: returns how many batches had reached the loop.
    """

    def __init__(
        self,
        recorder: Recorder,
        flow: NoiseFlow,
        names: Mapping[Any, str],
        sigma: float,
        clip: float,
        gradient: Callable[[Any], Any] | None,
        reached: Callable[[], int],
    ) -> None:
        self.recorder, self.flow, self.names, self.gradient = recorder, flow, names, gradient
        self.sigma, self.clip, self.reached = sigma, clip, reached
        self.batches: list[Any] = []
        self.lost = self.found = 0

    def watch(self, optimizer: Any, undo: Undo) -> None:
        """Look at every step of an optimizer, before it changes parameters."""
        handle = optimizer.register_step_pre_hook(self.at_step)
        undo.append(handle.remove)
        self.flow.__enter__()
        undo.append(lambda: self.flow.__exit__(None, None, None))

    def reach(self, batch: Any) -> None:
        """Remember a batch that reached the loop, until the next update."""
        self.batches.append(batch)
        with torch._C.DisableTorchFunction():
            records = _records(batch)
        if records or self.recorder.rows is not None or not self.recorder.seen.updates:
            self.recorder.clipped(records)

    def at_step(self, *_: Any) -> None:
        """Look at the gradients of a step."""
        self.flow.active = False
        try:
            with torch.no_grad():
                self._at_step()
        finally:
            self.flow.active = True
            self.batches = []

    def _at_step(self) -> None:
        with torch._C.DisableTorchFunction():
            noisy = self._noisy()
        self._replay(noisy)
        unit, divisors = self.sigma * self.clip, {round(tag.divisor, 9) for tag in noisy.values()}
        kept, seen, altered = None, 0, 0.0
        with torch._C.DisableTorchFunction():
            parts = {self.names[p]: values(tag.noise) for p, tag in noisy.items()}
            if self.recorder.looks():
                each = zip(noisy.items(), parts.values(), strict=True)
                altered = max((_apart(p.grad, tag, part) for (p, tag), part in each), default=0.0)
        if parts and unit > 0:
            kept, seen = self.recorder.noise(parts, unit)
        divisor = next(iter(divisors)) if len(divisors) == 1 else None
        self.recorder.update(Update(self.reached(), None, self.sigma, self.clip, None, divisor, altered, kept, seen))

    def _noisy(self) -> dict[Any, Noisy]:
        """The gradients that noise was followed to."""
        noisy: dict[Any, Noisy] = {}
        for p, name in self.names.items():
            if p.grad is None:
                continue
            tag = self.flow.tag(p.grad)
            if isinstance(tag, Noisy):
                noisy[p] = tag
            elif isinstance(tag, Lost | Noise):
                self.lost += 1
            elif p.grad.any():
                self.recorder.seen.parameters[name].unknown += 1
        self.found += len(noisy)
        return noisy

    def _replay(self, noisy: Mapping[Any, Noisy]) -> None:
        """Compare the sum of an update with those of its records, some alone and the others in two groups.

        A sum of clipped records is the sum over any groups of them; one that is clipped or averaged otherwise is not.
        """
        records = sum(map(_records, self.batches))
        if self.gradient is None or not noisy or not 0 < records <= _MOST_RECORDS or not self.recorder.replays():
            return
        groups = self._groups(records)
        with torch.enable_grad(), self.flow.aside():
            rows = np.stack([self._sum_of(group) for group in groups])
        divisor = next(iter(noisy.values())).divisor
        total = np.concatenate(
            [_flat(noisy[p].total) if p in noisy else _flat(p.grad) * divisor for p in self.names if p.grad is not None]
        )
        if len(total) != rows.shape[1]:
            return
        at = self.recorder.coordinates(len(total), _COORDINATES)
        alone = np.array([len(group) == 1 for group in groups])  # several records have no norm in common
        norms, whole = np.where(alone, np.linalg.norm(rows, axis=1), 0.0), float(np.linalg.norm(total))
        self.recorder.replay(rows[:, at], norms, total[at], self.clip, whole=whole, before=False)

    def _groups(self, records: int) -> list[Integers]:
        """Some records alone, drawn at random, and the others in two groups."""
        order = self.recorder.rng.permutation(records)
        some = min(_ALONE, records)
        rest = [np.sort(group) for group in np.array_split(order[some:], 2) if len(group)]
        return [*order[:some, None], *rest]

    def _sum_of(self, group: Integers) -> Floats:
        """The clipped sum of some records of the batches since the update before."""
        total, start = np.zeros(sum(p.numel() for p in self.names)), 0
        for batch in self.batches:
            size = _records(batch)
            own = group[(group >= start) & (group < start + size)] - start
            if len(own):
                total += self._sum(_some(batch, own))
            start += size
        return total

    def _sum(self, batch: Any) -> Floats:
        assert self.gradient is not None
        found = self.gradient(batch)
        if isinstance(found, Mapping):
            found = list(found.values())
        if isinstance(found, torch.Tensor):
            found = [found]
        if not isinstance(found, Sequence) or not all(isinstance(each, torch.Tensor) for each in found):
            raise UsageError("gradient returns the clipped sum of a batch: a tensor for each parameter, in their order")
        flat = np.concatenate([_flat(each) for each in found])
        if len(flat) != sum(p.numel() for p in self.names):
            raise UsageError(
                f"gradient returned {len(flat):,} numbers, and the parameters that are trained have "
                f"{sum(p.numel() for p in self.names):,}: return a tensor for each of them, in their order"
            )
        return flat

    def conclude(self) -> None:
        """Say what was not seen, and why."""
        seen = self.recorder.seen
        if not self.found or self.lost:
            seen.silent |= dict.fromkeys(("noise", "divisor", "parameters"), NOISE_LOST)
        if self.gradient is None:
            seen.silent["clipping"] = NO_GRADIENT
        elif (seen.processes or 1) > 1:
            seen.replays.clear()
            seen.silent["clipping"] = OF_OTHERS
        if not self.found:  # noise may come from elsewhere
            for each in seen.parameters.values():
                each.unknown = 0


def _apart(gradient: Any, tag: Noisy, noise: np.ndarray[Any, Any]) -> float:
    """How far a gradient is from the noisy sum that it was followed from, relative: something may have changed it."""
    whole = values(tag.total) + noise
    apart, size = length(values(gradient) * tag.divisor - whole), length(whole)
    return apart / size if size else apart


def _records(batch: Any) -> int:
    """How many records a batch holds; 0 where that is not known."""
    if isinstance(batch, torch.Tensor):
        return len(batch) if batch.ndim else 0
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, list | tuple) and batch:
        sizes = {_records(each) for each in batch}
        return sizes.pop() if len(sizes) == 1 else 0
    return 0


def _some(batch: Any, at: Integers) -> Any:
    """Some records of a batch, as a batch."""
    if isinstance(batch, torch.Tensor):
        return batch[torch.as_tensor(at)]
    if isinstance(batch, Mapping):
        return {key: _some(value, at) for key, value in batch.items()}
    return type(batch)(_some(each, at) for each in batch)


def _flat(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().double().numpy()).reshape(-1)

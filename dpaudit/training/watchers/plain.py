"""What does a loop without a library do? Noise is followed from its draw, clipping replayed by the loop's function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError
from dpaudit.training.clipping import TOLERANCE, replayed
from dpaudit.training.seen import Replay, Update
from dpaudit.training.watchers.loader import Given, rows_of
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
PRESUMED = (
    "The model was not called with rows of a batch, and no sum was compared: which batches the updates hold was not "
    "seen."
)
CHANGED = (
    "The model was given what the loop makes of a batch, and not the batch: its sums could not be compared with those "
    "of gradient=. Let the loader, or the function, do what the loop does."
)
OF_THE_LOSS = "The sums of parameters that are not the model's were not compared with those of single records."
MOVED = (
    "Weights were changed between the gradient and the step, or after the step before: at which weights a sum was made "
    "was not seen, so that it could not be compared with that of single records."
)
OF_OTHERS = "A sum may hold what other processes added, so that it was not compared with those of single records."
_COORDINATES = 1024  # of a sum that is replayed
_MOST_RECORDS = 100_000  # of a batch whose sum is replayed
_MOST_ASKED = 8  # updates that are replayed since it is not certain what they hold
_ALONE = 8  # records of a batch that are replayed alone


class PlainWatcher:
    """Sees the updates of one optimizer.

    Args:
        recorder: writes down what is seen.
        flow: follows noise.
        names: of the parameters that are trained.
        sigma, clip: as they are claimed.
        gradient: returns the clipped sum of a batch, a tensor for each parameter in their order; or None.
        others: those of the parameters that are not the model's: no function returns their sums.
    """

    def __init__(
        self,
        recorder: Recorder,
        flow: NoiseFlow,
        names: Mapping[Any, str],
        sigma: float,
        clip: float,
        gradient: Callable[[Any], Any] | None,
        others: Collection[Any] = (),
    ) -> None:
        self.recorder, self.flow, self.names, self.gradient = recorder, flow, names, gradient
        self.sigma, self.clip = sigma, clip
        self.others = others
        self.own = [p for p in names if p not in others]
        self.batches: dict[int, Any] = {}
        self.passes: list[tuple[Given, bool]] = []
        self.lost = self.found = self.asked = 0
        self.presumed, self.all_of_them = False, True
        self.moved: Callable[[], Sequence[str]] = tuple

    def watch(self, optimizer: Any, undo: Undo) -> None:
        """Look at every step of an optimizer, before it changes parameters."""
        undo.append(optimizer.register_step_pre_hook(self.at_step).remove)
        undo.append(optimizer.register_step_post_hook(self._after_step).remove)
        self.flow.__enter__()
        undo.append(lambda: self.flow.__exit__(None, None, None))

    def reach(self, batch: Any, number: int) -> None:
        """Remember a batch that reached the loop, until the next update."""
        self.batches[number] = batch

    def gave(self, given: Given, training: bool) -> None:
        """Remember which rows the model was given, for a gradient or for another purpose."""
        self.passes.append((given, training))

    def at_step(self, *_: Any) -> None:
        """Look at the gradients of a step, which itself is not followed: weights that have got noise are no noise."""
        self.flow.active = False
        try:
            with torch.no_grad():
                self._at_step()
        finally:
            self.batches, self.passes = {}, []

    def _after_step(self, *_: Any) -> None:
        self.flow.active = True

    def _at_step(self) -> None:
        with torch._C.DisableTorchFunction():
            noisy = self._noisy()
        self._took(noisy)
        sigma = self.recorder.sigma(self.sigma)
        unit, divisors = sigma * self.clip, {round(tag.divisor, 9) for tag in noisy.values()}
        kept, seen, altered = None, 0, 0.0
        with torch._C.DisableTorchFunction():
            parts = {self.names[p]: values(tag.noise) for p, tag in noisy.items()}
            if self.recorder.looks():
                each = zip(noisy.items(), parts.values(), strict=True)
                altered = max((_apart(p.grad, tag, part) for (p, tag), part in each), default=0.0)
        if parts and unit > 0:
            kept, seen = self.recorder.noise(parts, unit)
        divisor = next(iter(divisors)) if len(divisors) == 1 else None
        self.recorder.update(Update(0, None, sigma, self.clip, None, divisor, altered, kept, seen))

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

    # --- which rows, and how they were clipped ---

    def _took(self, noisy: Mapping[Any, Noisy]) -> None:
        """Write down which rows the update holds, and compare its sum with those of its records.

        What the model was given is what a gradient may have been made of; a sum that was compared says of what it was.
        Of several batches without such a sum, nobody knows: one of them may have been looked at only.
        """
        recorder, numbers = self.recorder, list(self.batches)
        given = [each for each, training in self.passes if training] or [each for each, _ in self.passes]
        shown = _union([each for each in given if each.number is not None])
        ways = [shown] if shown else []
        if len(shown) != 1 and numbers:
            ways += [{number: np.arange(rows_of(self.batches[number]) or 0) for number in own}
                     for own in ([numbers[-1]], numbers)]  # fmt: skip
        ambiguous = len(shown) > 1 or (not shown and len(numbers) > 1)
        sure, asks = None, recorder.replays() or (ambiguous and self.asked < _MOST_ASKED)
        if asks:
            sure = self._replay(noisy, ways, ambiguous, bool(given) and not shown)
            self.asked += ambiguous
            self.all_of_them &= not ambiguous or sure is shown
        if sure is None and shown and (not ambiguous or (not asks and self.all_of_them)):
            sure = shown
        if sure is not None:
            for number, rows in sure.items():
                for first, last in _runs(rows):
                    recorder.took(last - first, number, first)
        elif given and len(numbers) == 1 and not shown:
            own = recorder.seen.deliveries[numbers[0]].rows
            sizes = sum(each.rows for each in given), max(each.rows for each in given)
            recorder.took(own if own in sizes else max(sizes))
        elif len(numbers) == 1 and not given:
            recorder.took(recorder.seen.deliveries[numbers[0]].rows)
            self.presumed = True
        else:
            recorder.unknown()

    def _replay(
        self, noisy: Mapping[Any, Noisy], ways: Sequence[Mapping[int, Integers]], ambiguous: bool, changed: bool
    ) -> Mapping[int, Integers] | None:
        """Compare the sum of an update with those of records; return of which it is, if it is.

        A sum of clipped records is the sum over any groups of them: some alone and the others in two groups. One that
        is clipped or averaged otherwise is not.
        """
        if self.gradient is None or not noisy:
            return None
        divisor = next(iter(noisy.values())).divisor
        total = np.concatenate(
            [_flat(noisy[p].total) if p in noisy else _flat(p.grad) * divisor for p in self.own if p.grad is not None]
        )
        found: list[tuple[Replay, Mapping[int, Integers]]] = []
        for way in ways:
            if not all(number in self.batches for number in way):
                continue
            if not 0 < sum(map(len, way.values())) <= _MOST_RECORDS:
                continue
            replay = self._compared(way, total)
            if replay is not None:
                found.append((replay, way))
                if replay.fits:
                    break
        if not found:
            return None
        replay, way = found[-1] if found[-1][0].fits else found[0]
        if changed and not replay.fits:
            self.recorder.seen.silent["clipping"] = CHANGED
            return None
        if not replay.fits and self.moved():
            self.recorder.seen.silent["clipping"] = MOVED
            return None
        self.recorder.seen.replays.append(replay)
        return way if replay.fits or not ambiguous else None

    def _compared(self, way: Mapping[int, Integers], total: Floats) -> Replay | None:
        """Compare a sum with that of some rows of some batches."""
        groups = self._groups(sum(map(len, way.values())))
        with torch.enable_grad(), self.flow.aside():
            rows = np.stack([self._sum_of(group, way) for group in groups])
        if len(total) != rows.shape[1]:
            return None
        at = self.recorder.coordinates(len(total), _COORDINATES)
        alone = np.array([len(group) == 1 for group in groups])  # several records have no norm in common
        norms, whole = np.where(alone, np.linalg.norm(rows, axis=1), 0.0), float(np.linalg.norm(total))
        found = replayed(
            rows[:, at], norms, total[at], self.clip, whole=whole, before=False, cast=self.recorder.seen.cast
        )
        if found.looks == "no such sum":
            with torch.enable_grad(), self.flow.aside():
                together = self._sum_of(np.arange(sum(map(len, way.values()))), way)
            if float(np.linalg.norm(together - total)) <= TOLERANCE * whole:
                return replace(found, looks="hangs on others")
        self.recorder.seen.alone += found.fits and len(groups) > 1
        return found

    def _groups(self, records: int) -> list[Integers]:
        """Some records alone, drawn at random, and the others in two groups."""
        order = self.recorder.rng.permutation(records)
        some = min(_ALONE, records)
        rest = [np.sort(group) for group in np.array_split(order[some:], 2) if len(group)]
        return [*order[:some, None], *rest]

    def _sum_of(self, group: Integers, way: Mapping[int, Integers]) -> Floats:
        """The clipped sum of some of the rows of some batches."""
        total, start = np.zeros(sum(p.numel() for p in self.own)), 0
        for number, rows in way.items():
            own = rows[group[(group >= start) & (group < start + len(rows))] - start]
            if len(own):
                total += self._sum(_some(self.batches[number], own))
            start += len(rows)
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
        if len(flat) != sum(p.numel() for p in self.own):
            raise UsageError(
                f"gradient returned {len(flat):,} numbers, and the parameters that are trained have "
                f"{sum(p.numel() for p in self.own):,}: return a tensor for each of them, in their order"
            )
        return flat

    def conclude(self) -> None:
        """Say what was not seen, and why."""
        seen = self.recorder.seen
        if not self.found or self.lost:
            seen.silent |= dict.fromkeys(("noise", "divisor", "parameters"), NOISE_LOST)
        if self.presumed and (self.gradient is None or not seen.replays):
            seen.silent["steps"] = PRESUMED
        if self.gradient is None:
            seen.silent["clipping"] = NO_GRADIENT
        elif self.others:
            seen.silent["clipping"] = OF_THE_LOSS
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


def _union(given: Sequence[Given]) -> dict[int, Integers]:
    """The rows of each delivery that a model was given, however often."""
    found: dict[int, list[Integers]] = {}
    for each in given:
        assert each.number is not None
        found.setdefault(each.number, []).append(np.arange(each.first, each.first + each.rows))
    return {number: np.unique(np.concatenate(rows)) for number, rows in sorted(found.items())}


def _runs(rows: Integers) -> list[tuple[int, int]]:
    """Cut ascending numbers into runs: (first, past the last) of each."""
    if not len(rows):
        return [(0, 0)]
    ends = np.flatnonzero(np.diff(rows) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(rows, ends)]


def _some(batch: Any, at: Integers) -> Any:
    """Some records of a batch, as a batch."""
    if isinstance(batch, torch.Tensor):
        return batch[torch.as_tensor(at)]
    if isinstance(batch, Mapping):
        return {key: _some(value, at) for key, value in batch.items()}
    return type(batch)(_some(each, at) for each in batch)


def _flat(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().double().numpy()).reshape(-1)

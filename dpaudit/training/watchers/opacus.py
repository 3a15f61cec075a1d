"""What does a loop with Opacus do? Gradients of single records, their sum, its noise and its divisor, step by step.

The methods of one optimizer are wrapped, and given back. With ghost clipping there are no gradients of single records,
so some batches are differentiated once more, record by record, before their own backward pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from dpaudit.arrays import Floats
from dpaudit.training.clipping import TOLERANCE
from dpaudit.training.seen import GradientReplay, Update
from dpaudit.training.watchers.loader import GivenRows
from dpaudit.training.watchers.recorder import TrainingRecorder, Undo

SUM_CHANGED = "Something changed a sum of clipped gradients before it got its noise."
_COARSE = 2.0**-8  # relative, of numbers that are rounded to bfloat16
_DEEPEST = 4  # functions that wrap a hook
_AT_ONCE = 32  # records that are differentiated together, of ghost clipping: 8 to 45 take about as long


def is_opacus(optimizer: Any) -> bool:
    """Whether an optimizer is one of Opacus, by what it can do."""
    return all(hasattr(optimizer, name) for name in ("add_noise", "scale_grad", "original_optimizer", "max_grad_norm"))


def is_ghost(optimizer: Any) -> bool:
    """Whether gradients are clipped without being kept for single records."""
    return hasattr(optimizer, "accumulate")


def accountant_of(optimizer: Any) -> Any:
    """Return the accountant that an optimizer reports its steps to, or None."""
    return _counting(getattr(optimizer, "step_hook", None), _DEEPEST)


def _counting(value: Any, depth: int) -> Any:
    """Find what has a history in a function: a hook may be wrapped in others."""
    if hasattr(value, "history") and hasattr(value, "step"):
        return value
    if not callable(value) or not depth:
        return None
    held = [getattr(value, "__self__", None), getattr(value, "__wrapped__", None), getattr(value, "func", None)]
    for cell in getattr(value, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # of a cell that is still empty
            continue
    counts = (_counting(each, depth - 1) for each in held if each is not None)
    return next((each for each in counts if each is not None), None)


def norm_of(optimizer: Any) -> float:
    """Return the clip norm, whatever number it is held as."""
    return float(optimizer.max_grad_norm)


def watch_opacus(
    optimizer: Any,
    recorder: TrainingRecorder,
    names: dict[Any, str],
    accountant: Any,
    sigma: float | None,
    undo: Undo,
    at_loss: Callable[[Any], object] = lambda loss: None,
) -> Callable[[GivenRows, bool], None]:
    """Wrap what one optimizer of Opacus does; return what is to be told of the rows that the model is given."""
    watcher = _Opacus(optimizer, recorder, names, accountant, sigma)
    for name in ("accumulate" if is_ghost(optimizer) else "clip_and_accumulate", "add_noise", "scale_grad"):
        held = optimizer.__dict__.get(name)
        setattr(optimizer, name, getattr(watcher, name)(getattr(optimizer, name)))
        undo.append(given_back(optimizer, name, held))
    if is_ghost(optimizer):
        watcher.watch_ghost(undo, at_loss)
    handle = optimizer.original_optimizer.register_step_pre_hook(watcher.at_step)
    undo.append(handle.remove)
    return watcher.gave


def given_back(optimizer: Any, name: str, held: Any) -> Callable[[], None]:
    """Return what gives an optimizer its method back; ``held`` is one that the instance itself had, or None."""

    def back() -> None:
        if held is None:
            delattr(optimizer, name)
        else:
            setattr(optimizer, name, held)

    return back


class _Opacus:
    """What is seen between two updates."""

    def __init__(
        self,
        optimizer: Any,
        recorder: TrainingRecorder,
        names: dict[Any, str],
        accountant: Any,
        sigma: float | None,
    ) -> None:
        self.optimizer, self.recorder, self.names = optimizer, recorder, names
        self.accountant = accountant
        self.passes: list[GivenRows] = []
        self.given = sigma
        self.sigma, self.clip = float(optimizer.noise_multiplier if sigma is None else sigma), norm_of(optimizer)
        self.noise: dict[str, np.ndarray[Any, Any]] | None = None
        self.noisy: list[Any] = []
        self.divisor: float | None = None
        self.singles: _Singles | None = None
        self.summed: dict[Any, tuple[int, int] | None] = {}

    @property
    def params(self) -> list[Any]:
        return [p for p in self.optimizer.params if p in self.names]

    def _claimed(self) -> float:
        """Remember σ and C as they are when records are clipped, which a schedule may change; return C."""
        if self.given is None:
            self.sigma = float(self.optimizer.noise_multiplier)
        self.clip = norm_of(self.optimizer)
        return self.clip

    # --- clipping ---

    def gave(self, given: GivenRows, training: bool) -> None:
        """Remember which rows the model was given, for a backward pass."""
        if training:
            self.passes.append(given)

    def _took(self, rows: int) -> None:
        """Write down that so many rows were clipped, and whose, if they are all that the model was given."""
        passes, self.passes = self.passes, []
        if passes and all(each.number is not None for each in passes) and sum(each.rows for each in passes) == rows:
            for each in passes:
                self.recorder.took(each.rows, each.number, each.first)
        else:
            self.recorder.took(rows)

    def clip_and_accumulate(self, original: Callable[[], None]) -> Callable[[], None]:
        def clip_and_accumulate() -> None:
            params = self.params
            replay = self.recorder.replays()
            rows = [self.optimizer._get_flat_grad_sample(p) for p in (params if replay else params[:1])]
            self._took(len(rows[0]) if rows else 0)
            before = [None if p.summed_grad is None else p.summed_grad.clone() for p in params] if replay else []
            clip = self._claimed()
            original()
            self._summed()
            if replay and rows:
                with torch.no_grad():
                    singles = _Singles(self._picked(params))
                    singles.add(rows)
                    self._replay(singles, params, before, clip)

        return clip_and_accumulate

    def _summed(self) -> None:
        """Remember the clipped sums, which nothing should change before the noise."""
        self.summed = {p: _state(p.summed_grad) for p in self.params}

    def _picked(self, tensors: list[Any]) -> list[Any]:
        """Draw the coordinates of each parameter that a replay looks at."""
        return [torch.as_tensor(self.recorder.coordinates(each.numel()), device=each.device) for each in tensors]

    def _replay(self, singles: _Singles, params: list[Any], before: list[Any], clip: float) -> None:
        """Compare what was added to a sum with its records, all parameters together or each alone."""
        added = [p.summed_grad if b is None else p.summed_grad - b for p, b in zip(params, before, strict=True)]
        each = getattr(self.optimizer, "max_grad_norms", None)
        parts = [(slice(None), clip)] if each is None else [(slice(n, n + 1), float(c)) for n, c in enumerate(each)]
        for part, norm in parts:
            totals, picked = added[part], singles.picked[part]
            rows = torch.cat([torch.cat(some[part], 1) for some in singles.rows])
            norms = torch.cat(singles.norms)[:, part].norm(dim=1)
            sums = torch.cat([total.reshape(-1)[at] for total, at in zip(totals, picked, strict=True)])
            whole = torch.stack([total.norm() for total in totals]).norm()
            self.recorder.replay(_array(rows), _array(norms), _array(sums), norm, whole=float(whole))
        joint = math.sqrt(sum(norm**2 for _, norm in parts))
        if joint > clip * (1 + TOLERANCE):  # of a record that is clipped in every layer
            self.recorder.seen.replays.append(
                GradientReplay(joint / clip - 1, True, "clipped by layer", joint, joint / clip)
            )

    # --- ghost clipping ---

    def watch_ghost(self, undo: Undo, at_loss: Callable[[Any], object]) -> None:
        """Differentiate some batches record by record before their own backward pass."""
        from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping as Loss

        original = Loss.backward

        def backward(loss: Any) -> Any:
            if loss.optimizer is self.optimizer:
                at_loss(loss.loss_per_sample)
                self._took(len(loss.loss_per_sample))
                self.singles = self._singles(loss.module, loss.loss_per_sample) if self.recorder.replays() else None
            return original(loss)

        Loss.backward = backward  # the one class that is changed; other optimizers pass through
        undo.append(lambda: setattr(Loss, "backward", original))

    def _singles(self, module: Any, losses: Any) -> _Singles | None:
        """Gradients of single records by autograd; None where that is not possible."""
        if losses.ndim != 1 or not len(losses) or not losses.requires_grad:
            return None
        params = self.params
        singles = _Singles(self._picked(params))
        module.disable_hooks()
        try:
            for one in torch.eye(len(losses), dtype=losses.dtype, device=losses.device).split(_AT_ONCE):
                rows = torch.autograd.grad(
                    losses, params, one, retain_graph=True, is_grads_batched=True, allow_unused=True
                )
                with torch.no_grad():
                    singles.add(
                        [
                            p.new_zeros((len(one), p.numel())) if g is None else g
                            for p, g in zip(params, rows, strict=True)
                        ]
                    )
        except RuntimeError:
            return None
        finally:
            module.enable_hooks()
        return singles

    def accumulate(self, original: Callable[[], None]) -> Callable[[], None]:
        def accumulate() -> None:
            singles, self.singles = self.singles, None
            params = self.params
            before = [None if p.summed_grad is None else p.summed_grad.clone() for p in params] if singles else []
            clip = self._claimed()
            original()
            self._summed()
            if singles:
                with torch.no_grad():
                    self._replay(singles, params, before, clip)

        return accumulate

    # --- noise and divisor ---

    def add_noise(self, original: Callable[[], None]) -> Callable[[], None]:
        def add_noise() -> None:
            if any(_state(p.summed_grad) != state for p, state in self.summed.items()):
                self.recorder.seen.silent["clipping"] = SUM_CHANGED
            self.summed = {}
            original()
            params = self.params
            parts = {
                self.names[p]: values(p.grad - p.summed_grad.view_as(p))
                for p in params
                if p.grad is not None and p.summed_grad is not None
            }
            self.noise = {name: part for name, part in parts.items() if part.any()}
            self.noisy = (
                [None if p.grad is None else p.grad.detach().clone() for p in params] if self.recorder.looks() else []
            )
            if self.recorder.seen.adapting is not None:
                self.recorder.seen.adapting.append(float(self.optimizer.unclipped_num))

        return add_noise

    def scale_grad(self, original: Callable[[], None]) -> Callable[[], None]:
        def scale_grad() -> None:
            p = next((p for p in self.params if p.grad is not None), None)
            before = None if p is None else p.grad.detach().reshape(-1)[:64].clone()
            original()
            if p is not None and before is not None:
                after = p.grad.detach().reshape(-1)[:64].norm()
                self.divisor = float(before.norm() / after) if after else None

        return scale_grad

    # --- the step itself ---

    def at_step(self, *_: Any) -> None:
        sigma, clip, rate = self.sigma, self.clip, None
        if self.accountant is not None and self.accountant.history:
            counted, rate = (float(each) for each in self.accountant.history[-1][:2])
            sigma = sigma if self.given is not None else counted
        kept, values, altered = None, 0, 0.0
        sigma = self.recorder.sigma(sigma)
        if self.noise is not None:
            unit = sigma * clip
            if unit > 0:
                kept, values = self.recorder.noise(self.noise, unit)
            altered = self._altered()
        self._note_bare()
        self.recorder.update(Update(0, None, sigma, clip, rate, self.divisor, altered, kept, values))
        self.noise, self.noisy, self.divisor = None, [], None

    def _note_bare(self) -> None:
        """Write down which gradients have no noise: where noise was added and is 0, this is certain."""
        for p in self.params:
            if p.grad is None or (self.noise is not None and self.names[p] in self.noise) or not p.grad.any():
                continue
            each = self.recorder.seen.parameters[self.names[p]]
            if self.noise is not None:
                each.bare += 1
            else:
                each.unknown += 1

    def _altered(self) -> float:
        """How far gradients are from the noisy sums, after the divisor; 0.0 where they are not compared."""
        divisor, worst, kinds = self.divisor or 1.0, 0.0, set()
        for p, noisy in zip(self.params, self.noisy, strict=False):
            if noisy is not None and p.grad is not None:
                size = float(noisy.norm())
                apart = float((p.grad * divisor - noisy).norm()) / size if size else 0.0
                kind = _rounded_to(p.grad) if apart <= _COARSE else ""
                kinds |= {kind} - {""}
                worst = max(worst, 0.0 if kind else apart)
        self.recorder.seen.rounded_after = self.recorder.seen.rounded_after or ", ".join(sorted(kinds))
        return worst


class _Singles:
    """Gradients of single records, as far as they are looked at.

    Attributes:
        picked: the coordinates of each parameter.
        rows: some records after the others, (b, k) at these coordinates of each parameter.
        norms: of the same records, (b, parameters).
    """

    def __init__(self, picked: list[Any]) -> None:
        self.picked = picked
        self.rows: list[list[Any]] = []
        self.norms: list[Any] = []

    def add(self, gradients: list[Any]) -> None:
        """Add records by their gradients, (b, ...) for each parameter."""
        flat = [each.reshape(len(each), math.prod(each.shape[1:])) for each in gradients]
        self.rows.append([each[:, at] for each, at in zip(flat, self.picked, strict=True)])
        self.norms.append(torch.stack([each.norm(dim=1) for each in flat], 1))


def _state(tensor: Any) -> tuple[int, int] | None:
    """Which tensor it is, and how often it was changed in place."""
    return None if tensor is None else (id(tensor), tensor._version)


def _rounded_to(tensor: Any) -> str:
    """The type with few digits that all of these numbers have; empty where they have more."""
    if tensor.dtype not in (torch.float32, torch.float64):
        return ""
    for kind in (torch.bfloat16, torch.float16):
        if torch.equal(tensor.to(kind).to(tensor.dtype), tensor):
            return str(kind).removeprefix("torch.")
    return ""


def _array(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().double().numpy())


def values(tensor: Any) -> np.ndarray[Any, Any]:
    """Return the numbers of a tensor, flat, as float32 or float64; they are no copies where it holds these."""
    wide = tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()
    return np.asarray(wide.detach().cpu().numpy()).reshape(-1)

"""Does anything but the noisy step move the weights? They are compared from one step of the optimizer to the next.

A second optimizer, an operation in place, weights that are loaded: none of these is a step that was seen. Gradients are
compared within the step, too: a hook or a closure may put others there after the noise was looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import torch

from dpaudit.training.seen import Parameter, Seen
from dpaudit.training.watchers.followed import Followed
from dpaudit.training.watchers.recorder import Undo
from dpaudit.training.watchers.schedules import Schedules


class Between:
    """Looks at weights between the steps of one optimizer, and at gradients within them.

    Args:
        seen: where what is found is written down.
        names: of the parameters that are trained.
        own: all parameters of the model.
        passes: backward passes that PyTorch makes for one of the loop's.
    """

    def __init__(self, seen: Seen, names: Mapping[Any, str], own: Collection[Any], passes: int = 1) -> None:
        self.passes = passes
        self.seen, self.names, self.own = seen, names, {*names, *own}
        self.options: list[dict[str, Any]] | None = None
        self.after = {p: p.detach().clone() for p in names}
        self.given: dict[Any, tuple[Any, int]] = {}
        self.strange: dict[Any, str] = {}

    def watch(self, optimizer: Any, undo: Undo) -> None:
        """Look before and after every step; call it last, so that other hooks of the watch come before."""
        self.schedules = Schedules(
            optimizer, lambda: self._options(optimizer), lambda counts: self._options(optimizer, counts)
        )
        self.schedules.watch(undo)
        self.followed = Followed(optimizer, self.passes, lambda: self._by_metric(optimizer))
        self.followed.watch(undo)
        undo.append(optimizer.register_step_pre_hook(self._before_step).remove)
        undo.append(optimizer.register_step_post_hook(self._after_step).remove)

    def moved(self) -> list[str]:
        """Return the names of weights that are others than after the step before."""
        with torch.no_grad(), torch._C.DisableTorchFunction():
            return [self.names[p] for p, then in self.after.items() if _differ(p.detach(), then)]

    def end(self) -> None:
        """Look at what came behind the last step."""
        self.compare()
        if self.schedules.is_broken_off():
            self.seen.options.add("lr")
        self.seen.followed = self.followed.found()

    def compare(self) -> None:
        """Write these down."""
        for name in self.moved():
            self.seen.parameters[name].outside += 1

    def _before_step(self, optimizer: Any, *_: Any) -> None:
        self.compare()
        self._options(optimizer)
        with torch._C.DisableTorchFunction():
            self._strangers(optimizer)
            self.given = {p: (p.grad, p.grad._version) for p in self.names if p.grad is not None}

    def _options(self, optimizer: Any, counted: bool = False) -> None:
        """Write down which options of a step are others than before, but by a schedule that counts updates alone."""
        now = [{name: each for name, each in group.items() if name != "params"} for group in optimizer.param_groups]
        if self.options is not None and not counted:
            for then, group in zip(self.options, now, strict=False):
                self.seen.options |= {name for name in group if name in then and not _is_same(group[name], then[name])}
            if now and not _is_same(now[0].get("lr"), self.options[0].get("lr")):
                self.followed.set_rate(_value(now[0]["lr"]))
        self.options = [{name: _value(each) for name, each in group.items()} for group in now]

    def _by_metric(self, optimizer: Any) -> None:
        """A metric decided the rate, also where it left it as it was."""
        self._options(optimizer)
        self.seen.options.add("lr")

    def _strangers(self, optimizer: Any) -> None:
        """Write down parameters that this step moves and that were not among those that are followed."""
        for number, p in enumerate(p for group in optimizer.param_groups for p in group["params"]):
            if p not in self.own and p.grad is not None and p.grad.any():
                name = self.strange.setdefault(p, f"parameter {number} of the optimizer, which came later,")
                each = self.seen.parameters.setdefault(name, Parameter(p.numel(), True, moved=True))
                each.outside += 1

    def _after_step(self, *_: Any) -> None:
        self.schedules.updates += 1
        self.followed.stepped()
        with torch.no_grad(), torch._C.DisableTorchFunction():
            changed = any(p.grad is not grad or grad._version != version for p, (grad, version) in self.given.items())
            changed |= any(p.grad is not None and p not in self.given for p in self.names)
            if changed and self.seen.updates:
                self.seen.updates[-1].altered = 1.0
            for p, then in self.after.items():
                if then.shape == p.shape and then.dtype == p.dtype and then.device == p.device:
                    then.copy_(p)
                else:
                    self.after[p] = p.detach().clone()
        self.given = {}


def _value(option: Any) -> Any:
    """An option as a plain value, which stays what it is."""
    return option.item() if isinstance(option, torch.Tensor) and option.numel() == 1 else option


def _is_same(one: Any, two: Any) -> bool:
    return bool(_value(one) == _value(two))


def _differ(now: Any, then: Any) -> bool:
    """Whether two tensors hold other numbers; what is no number in both is no difference."""
    if now.shape != then.shape or now.dtype != then.dtype or now.device != then.device:
        return True
    return not torch.equal(now, then) and bool(((now != then) & ~(now.isnan() & then.isnan())).any())

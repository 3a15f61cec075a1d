"""How is the step of an optimiser of Opacus followed?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.tracing.recording import active, site
from dpaudit.tracing.units import Row, Stated, Unit, apart


def _stepping(original: Callable[..., Any]) -> Callable[..., Any]:
    """The noise of a step is Gaussian, of scale σC, on the sum of all clipped gradients."""

    def add_noise(self: Any) -> Any:
        recorder = active()
        if recorder is None:
            return original(self)
        where = site()
        with recorder.own_work():
            import torch  # type: ignore[import-not-found, unused-ignore]

            clipped = np.concatenate([p.summed_grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            scale = float(self.noise_multiplier * self.max_grad_norm)
            original(self)
            noisy = np.concatenate([p.grad.detach().cpu().numpy().reshape(-1) for p in self.params])
            loss = lambda one, other: Stated(mu=apart(one, other, 2) / scale, by=apart(one, other, 2))  # noqa: E731
            noisy = recorder.unit("Opacus' step", noisy, where, Unit(clipped, f"scale {scale}", loss))
            start = 0
            for p in self.params:
                size = p.grad.numel()
                p.grad = torch.tensor(noisy[start : start + size], dtype=p.grad.dtype).view_as(p)
                start += size
        return None

    return add_noise


ROWS = (Row("opacus.optimizers.optimizer", "DPOptimizer", "add_noise", followed=_stepping),)
"""Its methods."""

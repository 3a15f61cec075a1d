"""What is said of one method of a library?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.tracing.units import Stated

Made = tuple[Any, str, Callable[[Any, Any], Stated]]


@dataclass(frozen=True, slots=True)
class Row:
    """One method.

    Attributes:
        module, owner, method: where it is; a function of the module where ``owner`` is empty.
        below: whether the methods of subclasses count too, where they have their own.
        made: takes the arguments of a call and returns input, settings and loss, as `units.as_unit` has it.
        inherited: whether the method may be that of a class above.
        followed: makes the followed version of the method, where it is no unit.
    """

    module: str
    owner: str
    method: str
    made: Callable[..., Made | None] | None = None
    followed: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    below: bool = False
    inherited: bool = False


def group_price(epsilon: float, delta: float, times: float, moved: float) -> Stated:
    """Return (kε, k·e^((k−1)ε)·δ) of ``times`` changes, k (Dwork & Roth 2014, Theorem 2.2)."""
    if times == 0:
        return Stated()
    if not math.isfinite(times):
        return Stated(math.inf, by=moved)
    with np.errstate(over="ignore"):
        more = delta * times * float(np.exp(max(times - 1, 0) * epsilon)) if delta else 0.0
    return Stated(epsilon * times, min(more, 1.0), by=moved)

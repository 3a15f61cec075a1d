"""In which layers does the ziggurat cover the exponential law? Tables that are the same on every machine."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from dpaudit.arrays import Floats, Integers

TAIL = 7.69711747013104972
"""Where the tail begins if there are 256 layers (Marsaglia & Tsang 2000, "The Ziggurat Method", Section 3)."""

_LAYERS = 256
_STEPS = Decimal(2**53)  # of a draw within its layer


@cache
def exponential_layers() -> tuple[Integers, Floats, Floats]:
    """Return the layers of the density exp(−x), whose common area is v = (r + 1)·exp(−r) (ibid., Sections 2 and 3).

    Computed in decimals and rounded once, so that no library for logarithms has a say in which draws there are.
    """
    with localcontext() as context:
        context.prec = 40
        tail = Decimal(str(TAIL))
        area = (tail + 1) * (-tail).exp()
        edges = [tail]  # of layers 255, 254, …, 1
        for _ in range(_LAYERS - 2):
            edges.append(-(area / edges[-1] + (-edges[-1]).exp()).ln())
        edges.append(area * tail.exp())  # the base, with the tail put beside it
        edges.reverse()
        inner = [tail, Decimal(0), *edges[1:-1]]
        sure = [int(within / edge * _STEPS) for within, edge in zip(inner, edges, strict=True)]
        widths = [float(edge / _STEPS) for edge in edges]
        heights = [1.0, *(float((-edge).exp()) for edge in edges[1:])]
    return np.array(sure, dtype=np.int64), np.array(widths), np.array(heights)

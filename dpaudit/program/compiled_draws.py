"""How does a loop draw noise by itself? SFC64 and the ziggurat, compiled.

Imported only where programs are compiled, because it needs Numba (extra ``compiled``).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numba
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


_SURE, _WIDTH, _HEIGHT = exponential_layers()
_SURE = _SURE.view(np.uint64)
_TAIL = TAIL

State = Any
"""The four 64-bit words of the generator, (4,)."""

LARGEST = 45.0
"""No draw of scale 1 is larger: the tail begins at 7.7, and what is added to it is at most 53·ln 2."""


@numba.njit
def _word(s: State) -> Any:
    """Return the next 64 bits of SFC64 (Doty-Humphrey 2014, PractRand), the same as NumPy's from the same state."""
    word = s[0] + s[1] + s[3]
    s[3] += np.uint64(1)
    s[0] = s[1] ^ (s[1] >> np.uint64(11))
    s[1] = s[2] + (s[2] << np.uint64(3))
    s[2] = ((s[2] << np.uint64(24)) | (s[2] >> np.uint64(40))) + word
    return word


@numba.njit
def uniform(s: State) -> Any:
    """Return a number in [0, 1)."""
    return np.float64(_word(s) >> np.uint64(11)) * 2.0**-53


@numba.njit
def _beside(s: State, steps: Any, layer: Any, x: Any) -> Any:
    """Return what one draw in a hundred comes to: the tail, or the edge of a layer (Marsaglia & Tsang 2000)."""
    while True:
        if layer == 0:
            return _TAIL - np.log1p(-uniform(s))
        if (_HEIGHT[layer - 1] - _HEIGHT[layer]) * uniform(s) + _HEIGHT[layer] < np.exp(-x):
            return x
        bits = _word(s) >> np.uint64(3)
        layer = np.int64(bits & np.uint64(0xFF))
        steps = bits >> np.uint64(8)
        x = np.float64(steps) * _WIDTH[layer]
        if steps < _SURE[layer]:
            return x


@numba.njit
def laplace(s: State) -> Any:
    """Return Laplace noise of scale 1. Of 64 bits, the lowest is the sign, 8 are the layer, 53 the place in it."""
    bits = _word(s)
    layer = np.int64((bits >> np.uint64(3)) & np.uint64(0xFF))
    steps = bits >> np.uint64(11)
    x = np.float64(steps) * _WIDTH[layer]
    if steps >= _SURE[layer]:
        x = _beside(s, steps, layer, x)
    return x if bits & np.uint64(1) else -x


@numba.njit
def exponential(s: State) -> Any:
    """Return exponential noise of scale 1."""
    return abs(laplace(s))


@numba.njit
def gumbel(s: State) -> Any:
    """Return Gumbel noise of scale 1: −ln of exponential noise."""
    e = abs(laplace(s))
    while e == 0.0:  # with probability 2^−53
        e = abs(laplace(s))
    return -np.log(e)


@numba.njit
def discrete_laplace(s: State, scale: Any) -> Any:
    """Return the difference of two geometric variables (Inusah & Kozubowski 2006, Proposition 2.2)."""
    up = np.floor(abs(laplace(s)) * scale)
    return up - np.floor(abs(laplace(s)) * scale)


_KNOWN = {
    "laplace": laplace,
    "exponential": exponential,
    "uniform": uniform,
    "gumbel": gumbel,
    "discrete_laplace": discrete_laplace,
}


def compiled(text: str) -> Callable[..., None]:
    """Return the loop that a text of `dpaudit.program.compiled_reading` defines, as machine code."""
    scope: dict[str, Any] = dict(_KNOWN)
    exec(text, scope)  # our own text: shapes of paths and numbers of leaves; nothing of the program stands in it
    kinds = "void(uint64[::1], float64[::1], int32[::1], float64[:,::1], int64[::1], float64[::1], int64)"
    loop: Callable[..., None] = numba.njit(kinds)(scope["loop"])
    return loop

"""What may a target change for everybody, and how is it put back?

A mechanism shares a process with its auditor. What it changes while it runs (how NumPy and `decimal` treat errors, the
filters of warnings, the limit of recursion, the garbage collector) is put back before anything else is computed.
"""

from __future__ import annotations

import decimal
import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def kept() -> Iterator[None]:
    """Put back, after a target has run, the settings that were there before."""
    errors, call, buffer = np.geterr(), np.geterrcall(), np.getbufsize()
    context, limit, collecting = decimal.getcontext().copy(), sys.getrecursionlimit(), gc.isenabled()
    streams = sys.stdout, sys.stderr
    filters, shown = list(warnings.filters), warnings.showwarning
    try:
        yield
    finally:
        if list(warnings.filters) != filters:  # only then: it makes Python forget which warnings it has shown
            warnings.filters[:] = filters  # type: ignore[index]
        warnings.showwarning = shown
        np.seterr(**errors)
        np.seterrcall(call)
        if np.getbufsize() != buffer:
            np.setbufsize(buffer)
        decimal.setcontext(context)
        sys.setrecursionlimit(limit)
        sys.stdout, sys.stderr = streams
        (gc.enable if collecting else gc.disable)()

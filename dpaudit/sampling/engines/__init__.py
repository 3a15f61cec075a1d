"""Where are blocks of runs carried out: here, in processes of this machine, or on an engine that spans many?"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec

from dpaudit.errors import UsageError, nearest
from dpaudit.sampling.engines.engine import Engine
from dpaudit.sampling.engines.processes import Joblib, Processes

__all__ = ["BACKENDS", "Engine", "Processes", "engine_for"]

BACKENDS = ("processes", "dask", "ray", "submitit")
"""What may carry out blocks; all but the first are engines of other libraries, imported when they are used."""

_NEEDS = {"dask": "distributed", "ray": "ray", "submitit": "submitit"}
_LOCAL = ("LokyBackend", "SequentialBackend", "ThreadingBackend", "MultiprocessingBackend")
_OURS = {"DaskDistributedBackend": "dask", "RayBackend": "ray"}


def engine_for(workers: int, backend: str | None = None, scheduler: str | None = None) -> Engine:
    """Return what carries out blocks. It connects when the first block is sent.

    Args:
        workers: processes, or jobs of a batch system; Dask and Ray have workers of their own.
        backend: one of `BACKENDS`; None for the backend that joblib was told to use, if it spans machines, else
            "processes". Backends of joblib that fork, or share this process, are not used: see `Processes`.
        scheduler: where the engine is; None for the one that this process is connected to.

    Returns:
        The engine.

    Raises:
        UsageError: if there is no such backend, it is not installed, or a scheduler is named without one.
    """
    if backend is None:
        chosen = _chosen() if scheduler is None else None
        if chosen is not None:
            own = _OURS.get(chosen)
            return Joblib(workers) if own is None else engine_for(workers, own)
        backend = "processes"
    if backend not in BACKENDS:
        raise UsageError(f"there is no backend {backend!r}; {nearest(backend, BACKENDS)}")
    if backend == "processes":
        if scheduler is not None:
            raise UsageError("a scheduler is that of an engine; name it: backend='dask', 'ray' or 'submitit'")
        return Processes(workers)
    if find_spec(_NEEDS[backend]) is None:
        raise UsageError(f"backend {backend!r} needs {_NEEDS[backend]}: pip install 'dpaudit[{backend}]'")
    made = importlib.import_module(f"dpaudit.sampling.engines.on_{backend}").made
    found: Engine = made(workers, scheduler)
    return found


def _chosen() -> str | None:
    """The backend that joblib was told to use, if it is none of this machine's."""
    if "joblib.parallel" not in sys.modules:  # then nobody told it anything
        return None
    from joblib.parallel import get_active_backend

    name = type(get_active_backend()[0]).__name__
    return None if name in _LOCAL else name

"""What does a worker do with a task? It makes sure that it runs the same code, and runs it.

Workers of an engine may be other machines with other installations. What outputs depend on is compared before every
task: the versions that evidence records, dpaudit's own files, and the code of the target. A worker that differs answers
with the first difference, and runs nothing.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpaudit.evidence.installed import installed_versions
from dpaudit.sampling.blocks import Experiment, loaded

_TARGET = "the code of the target"
_ONE = threading.Lock()  # the settings of Python belong to a whole process, so the threads of a worker take turns
_DIGESTS: dict[int, tuple[Callable[..., Any], str | None]] = {}  # of functions; they are kept so that no id is reused


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker answers: what was found, what was raised, or why it cannot take part."""

    host: str
    found: Any = None
    error: Exception | None = None
    refused: str | None = None


def expected_of(experiment: Experiment) -> dict[str, str | None]:
    """Return what a worker must agree with, by name."""
    expected: dict[str, str | None] = dict(of_installation())
    if isinstance(experiment.mechanism, str):  # else the code itself is sent
        expected[_TARGET] = _target_digest(experiment.mechanism)
    return expected


def answer(expected: dict[str, str | None], task: bytes) -> Answer:
    """Carry out a task, in a worker.

    Args:
        expected: by `expected_of`, where the task was made.
        task: by `dpaudit.sampling.engines.engine.packed`.

    Returns:
        The answer; nothing is raised that the target or dpaudit raises.
    """
    with _ONE:
        return _answer(expected, task)


def _answer(expected: dict[str, str | None], task: bytes) -> Answer:
    host = platform.node()
    other = difference(expected, dict(of_installation()))
    if other is not None:
        return Answer(host, refused=other)
    try:
        work, experiment, block = pickle.loads(task)  # what cloudpickle writes, pickle reads
        if isinstance(experiment.mechanism, str):
            other = difference(expected, {**expected, _TARGET: _target_digest(experiment.mechanism)})
    except Exception as error:
        return Answer(host, refused=f"it cannot load the target ({type(error).__name__}: {error})")
    if other is not None:
        return Answer(host, refused=other)
    try:
        return Answer(host, found=work(experiment, block))
    except Exception as error:
        return Answer(host, error=_sendable(error))


def difference(expected: dict[str, str | None], here: dict[str, str | None]) -> str | None:
    """Say in which way an installation is another one; None if it is not."""
    for name, value in expected.items():
        if name != _TARGET and here.get(name) != value:
            return f"{name} is {here.get(name)} there, and {value} here; runs would not be those of one installation"
    if here.get(_TARGET, expected.get(_TARGET)) != expected.get(_TARGET):
        return "its file of the target holds other code than the one here; give all workers the same"
    return None


@cache
def of_installation() -> tuple[tuple[str, str], ...]:
    """What outputs depend on besides the target: versions, and a digest of dpaudit's own files."""
    return *installed_versions().items(), ("the code of dpaudit", code_of_dpaudit())


@cache
def code_of_dpaudit() -> str:
    """A digest of dpaudit's own files."""
    own = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for file in sorted(root.rglob("*.py")):
        own.update(file.relative_to(root).as_posix().encode() + bytes(1) + hashlib.sha256(file.read_bytes()).digest())
    return own.hexdigest()[:16]


def _target_digest(reference: str) -> str | None:
    """The digest of a target that is loaded by its name, computed before it first runs here."""
    mechanism = loaded(reference)
    known = _DIGESTS.get(id(mechanism.function))
    if known is None:
        known = _DIGESTS[id(mechanism.function)] = mechanism.function, mechanism.digest
    return known[1]


def _sendable(error: Exception) -> Exception:
    """The error, or one of a kind that every process knows, which says the same."""
    try:
        again = pickle.loads(pickle.dumps(error))
        return error if type(again) is type(error) else RuntimeError(str(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")

"""Which projects test the gate? Small ones, gated in this process unless a test is about processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from dpaudit.gate.config import Configuration, read
from dpaudit.gate.result import GateResult, TargetResult
from dpaudit.gate.run import Finished, GateOptions, run
from dpaudit.gate.target_process import Limits, Report, Request, carry_out

RELEASES = '''
import math
import random

from scales import scale


def noisy_count(data, size, rng, *, epsilon=1.0):
    """Count with noise."""
    return len(data) + rng.laplace(0, scale(epsilon), size)


def program(data, noise, *, epsilon=1.0):
    return sum(data) + noise.laplace(1 / epsilon)


def response(data, size, rng, *, epsilon=1.0):
    kept = rng.random(size) < 1 / (1 + math.exp(-epsilon))
    return [bool(len(data) % 2) == bool(keep) for keep in kept]


def opaque(data):
    return len(data) + random.choice([-1, 1]) * random.expovariate(1)


def silent(data, size, rng):
    return rng.random(size)


def repeats(data, size, rng):
    import numpy as np

    return np.random.default_rng(0).laplace(size=size)
'''
PAIRS = "pairs = [[[1, 2, 1], [1, 2]]]"


def target(name: str, *lines: str, claim: str | None = "epsilon=1", pairs: str = PAIRS) -> str:
    """Return one target of the configuration."""
    own = [] if claim is None else [f'claim = "{claim}"']
    named = name if ":" in name or name not in RELEASES else f"release.py:{name}"
    return "\n".join(["[[tool.dpaudit.targets]]", f'target = "{named}"', *own, pairs, *lines, ""])


def project(
    folder: Path, *targets: str, gate: str = "runs = 4000", files: Mapping[str, str] = MappingProxyType({})
) -> Configuration:
    """Write a project, with further files, and read its configuration."""
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "release.py").write_text(RELEASES)
    (folder / "scales.py").write_text("def scale(epsilon):\n    return 1 / epsilon\n")
    return configured(folder, *targets, gate=gate)


def configured(folder: Path, *targets: str, gate: str = "runs = 4000") -> Configuration:
    """Write another configuration for the same project."""
    file = folder / "pyproject.toml"
    file.write_text("\n".join(["[tool.dpaudit]", gate, *targets]))
    return read(file)


_CARRIED_OUT: dict[tuple[Any, ...], Report] = {}


def carried_out(request: Request) -> Report:
    """What comes of a request in this process; of the same request about the same files it is remembered.

    What no seed reaches, and what could not be carried out, is done again.
    """
    root = Path(request.root)
    files = {file.name: file.read_bytes() for kind in ("*.py", "*.json", "*.txt") for file in root.glob(kind)}
    key = (msgspec.json.encode(msgspec.structs.replace(request, root="")), *sorted(files.items()))
    if key in _CARRIED_OUT:
        return _CARRIED_OUT[key]
    report = carry_out(msgspec.structs.replace(request, target=absolute(request)))
    if report.evidence is not None and not report.opaque:
        _CARRIED_OUT[key] = report
    return report


class Runs:
    """Carries out requests in this process and records them; ``answers`` may replace a report."""

    def __init__(self, answers: Callable[[Request, Report], Report] | None = None) -> None:
        self.requests: list[Request] = []
        self.answers = answers

    def __call__(self, request: Request, limits: Limits, stop: threading.Event) -> Report:
        self.requests.append(request)
        report = carried_out(request)
        return report if self.answers is None else self.answers(request, report)


def absolute(request: Request) -> str:
    """Return the target with an absolute path."""
    return str(Path(request.root) / request.target) if ".py:" in request.target else request.target


def finished(configuration: Configuration, runs: Any = None, **options: Any) -> Finished:
    """Run a gate in this process."""
    return run(configuration, GateOptions(**options), runner=runs or Runs())


def gated(configuration: Configuration, runs: Any = None, **options: Any) -> GateResult:
    """Return the result of a gate that is run in this process."""
    return finished(configuration, runs, **options).result


def only(result: GateResult) -> TargetResult:
    """Return the only target of a gate."""
    (found,) = result.results
    return found

"""A working directory with a few mechanisms of a user's own, and the command line to call there."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dpaudit.cli.main import cli

SHAPES = '''
import os, random, sys
import numpy as np
from beside import SCALE

def program(data, noise, *, scale=SCALE):
    """Add noise to a sum."""
    return sum(data) + noise.laplace(scale)

def sampler(data, size, rng):
    return sum(data) + rng.laplace(0, SCALE, size)

def seeded(data, rng):
    return sum(data) + rng.laplace(0, SCALE)

def opaque(data):
    return sum(data) + random.choice([-1, 1]) * random.expovariate(1 / SCALE)

def exact(data, noise):
    return sum(data)

def always_raises(data, noise):
    raise ValueError("never works")

def sometimes_exits(data, noise):
    if noise.laplace(1) > 3:
        sys.exit(1)
    return sum(data) + noise.laplace(1)

def always_exits(data, rng):
    sys.exit(1)

def changes_its_data(data, noise):
    data.append(1)
    return noise.laplace(1)

def prints(data, rng):
    print("printed")
    os.write(1, b"printed\\\\n")
    return sum(data) + rng.laplace()

def repeats(data, size, rng):
    return sum(data) + np.random.default_rng(0).laplace(size=size)

def needs(data, noise, epsilon):
    """Needs a parameter."""
    return sum(data) + noise.laplace(1 / epsilon)

def interrupted(data, rng):
    raise KeyboardInterrupt

def returns_too_few(data, size, rng):
    return rng.random(size - 1)

def moves(data, rng):
    os.chdir("/")
    return sum(data) + rng.laplace()

number = 3
'''


@pytest.fixture(autouse=True)
def _words_alone(undrawn: None) -> None:
    """The tests of this folder read what a page says; its drawings have tests of their own."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory; what a target leaves in sys.path is taken away again."""
    inner = tmp_path / "some folder"
    inner.mkdir()
    (inner / "shapes.py").write_text(SHAPES.replace("\\\\n", "\\n"), encoding="utf-8")
    (inner / "beside.py").write_text("SCALE = 1.0\n", encoding="utf-8")
    (tmp_path / "pair.json").write_text(json.dumps([[1, 0], [1, 1]]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


Run = Callable[..., Result]


@pytest.fixture
def run(folder: Path) -> Run:
    """Call the command line in this process, in the working directory."""

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, list(arguments))

    return call


@pytest.fixture
def audit(run: Run) -> Run:
    """Audit a function of shapes.py on its pair, in few runs."""

    def call(name: str, *options: str) -> Result:
        random.seed(1)  # what an opaque function draws cannot be seeded by dpaudit
        runs = () if "--runs" in options else ("--runs", "4000")
        return run("audit", f"some folder/shapes.py:{name}", "--pair", "pair.json", *runs, *options)

    return call

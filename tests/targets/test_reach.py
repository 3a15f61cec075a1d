"""Does the digest of a function change with all that it reaches, and with nothing else?"""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpaudit.loading import load
from dpaudit.targets.mechanism import mechanism
from dpaudit.targets.signature import PREFIX, reached_digest

RELEASE = '''
import math
from dataclasses import dataclass
import rates
from rates import spread
from deep.inner import last

SCALE = 1.0
TABLE = {"a": [1, 2], "b": {3, 4}}
UNREAD = 5

@dataclass
class Config:
    epsilon: float = 1.0
    factor = 2

CONFIG = Config()

def helper(x, by=SCALE):
    """Says what it does."""
    return second(x) * by

def second(x):
    return x + TABLE["a"][0]

class Sampler:
    width = 3

    def draw(self, noise):
        return noise.laplace(self.width)

def made(scale):
    def inner(x):
        return x * scale
    return inner

closed = made(4)
ring = lambda x: x + 6

def release(data, noise):
    from late import later
    x = helper(data[0]) + rates.rate() + spread(1) + last() + closed(1) + ring(1)
    return x + Sampler().draw(noise) * CONFIG.factor * math.sqrt(2) * later()
'''
FILES = {
    "release.py": RELEASE,
    "rates.py": "BASE = 7\ndef rate():\n return BASE\ndef spread(x):\n return x + 8\ndef unused():\n return 9\n",
    "late.py": "def later():\n    return 10\n",
    "deep/__init__.py": "",
    "deep/inner.py": "def last():\n    return 11\n",
}
MODULES = ("rates", "late", "deep", "deep.inner")


def digest_of(folder: Path, changes: dict[str, tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The digest of the release with some texts exchanged."""
    (folder / "deep").mkdir(parents=True)
    for name, text in FILES.items():
        if name in changes:
            before, after = changes[name]
            assert before in text
            text = text.replace(before, after)
        (folder / name).write_text(text, encoding="utf-8")
    for name in MODULES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    monkeypatch.syspath_prepend(str(folder))
    try:
        return load(f"{folder / 'release.py'}:release").digest
    finally:
        for name in MODULES:
            sys.modules.pop(name, None)


REACHED = {
    "a constant of a default": ("release.py", "SCALE = 1.0", "SCALE = 0.01"),
    "a helper": ("release.py", "second(x) * by", "second(x) / by"),
    "the helper of a helper": ("release.py", "x + TABLE", "x - TABLE"),
    "a value in a table": ("release.py", "[1, 2]", "[9, 2]"),
    "a set in a table": ("release.py", "{3, 4}", "{3, 5}"),
    "the attribute of a class": ("release.py", "width = 3", "width = 30"),
    "the method of a class": ("release.py", "noise.laplace(self.width)", "noise.laplace(9)"),
    "the default of a field": ("release.py", "epsilon: float = 1.0", "epsilon: float = 2.0"),
    "a class constant": ("release.py", "factor = 2", "factor = 20"),
    "what is closed over": ("release.py", "made(4)", "made(40)"),
    "a lambda": ("release.py", "x + 6", "x + 60"),
    "the function": ("release.py", "math.sqrt(2)", "math.sqrt(3)"),
    "a constant of another module": ("rates.py", "BASE = 7", "BASE = 70"),
    "a function of another module": ("rates.py", "x + 8", "x + 80"),
    "a function of a package": ("deep/inner.py", "11", "110"),
    "what is imported within": ("late.py", "10", "100"),
}
BESIDE = {
    "nothing": ("release.py", "SCALE = 1.0", "SCALE = 1.0"),
    "a comment": ("release.py", "SCALE = 1.0", "# a comment\n\nSCALE = 1.0"),
    "layout": ("release.py", "second(x) * by", "(\n        second(x)\n        * by\n    )"),
    "a docstring": ("release.py", "Says what it does.", "Says it otherwise."),
    "a constant that nothing reads": ("release.py", "UNREAD = 5", "UNREAD = 50"),
    "a function that nothing calls": ("rates.py", "return 9", "return 90"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    with pytest.MonkeyPatch.context() as patch:
        return digest_of(tmp_path_factory.mktemp("plain") / "a", {}, patch)


@pytest.mark.parametrize("name", REACHED)
def test_what_is_reached_changes_the_digest(
    name: str, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, before, after = REACHED[name]
    found = digest_of(tmp_path / "b", {file: (before, after)}, monkeypatch)
    assert found != plain and str(found).startswith(PREFIX)


@pytest.mark.parametrize("name", BESIDE)
def test_what_does_not_run_does_not(name: str, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, before, after = BESIDE[name]
    assert digest_of(tmp_path / "b", {file: (before, after)}, monkeypatch) == plain


@pytest.mark.slow
def test_another_process_finds_the_same(plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets come in another order there."""
    assert digest_of(tmp_path / "b", {}, monkeypatch) == plain
    release = f"{tmp_path / 'b' / 'release.py'}:release"
    code = f"from dpaudit.loading import load; print(load({release!r}).digest)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.strip() == plain


def scaled(scale: float) -> Callable[..., Any]:
    return lambda data, rng: data[0] + rng.laplace(scale=scale)


class Release:
    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def __call__(self, data: Any, rng: Any) -> Any:
        return data[0] + rng.laplace(scale=self.scale)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (scaled(1), scaled(0.01)),
        (Release(1), Release(0.01)),
        (Release(1).__call__, Release(0.01).__call__),
        (Release(np.ones(3)), Release(np.ones(4))),
        (Release({"a": {1, 2}}), Release({"a": {1, 3}})),
        (functools.partial(Release(1), rng=1), functools.partial(Release(1), rng=2)),
    ],
    ids=["closure", "instance", "method", "array", "nested", "partial"],
)
def test_bounds_1_and_100_have_two_digests(one: Any, other: Any) -> None:
    assert None is not reached_digest(one) != reached_digest(other) is not None


def test_what_has_no_code_has_no_digest() -> None:
    assert reached_digest(max) is None


def test_what_hangs_in_a_circle_ends() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert reached_digest(Release(ring)) == reached_digest(Release(ring)) is not None


def test_a_state_that_moves_does_not_move_the_digest_of_a_mechanism() -> None:
    moving = Release(1)
    found = mechanism(moving)
    before = found.digest
    moving.scale = 2
    assert found.digest == before != mechanism(moving).digest


def test_older_evidence_keeps_its_kind() -> None:
    found = mechanism(Release(1))
    old = found.digest_like("ab" * 32)
    assert old is not None and len(old) == 64
    assert found.digest_like(found.digest) == found.digest

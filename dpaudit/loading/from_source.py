"""Which code does the import of a target run? What its source says, never what lies compiled beside it.

Python takes compiled code from ``__pycache__`` wherever the second and the size of the source fit. After an edit within
one second, or where somebody else wrote there, that is other code than the source, of which evidence has the digest.
Installed packages, the standard library and dpaudit are imported as ever.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class SourceAlone(SourceFileLoader):
    """A loader that compiles the source each time, and keeps nothing."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    """Finds what the other finders find, and has the source of it compiled."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module, if it is found."""
        others = (finder for finder in sys.meta_path if finder is not cls)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((each for each in found if each is not None), None)
        if spec is not None and type(spec.loader) is SourceFileLoader and not _is_installed(spec.loader.path):
            spec.loader = SourceAlone(spec.loader.name, spec.loader.path)
        return spec


@contextmanager
def from_source() -> Iterator[None]:
    """Within this context, own modules are compiled from their sources when they are imported."""
    if _Finder in sys.meta_path:
        yield
        return
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        if _Finder in sys.meta_path:
            sys.meta_path.remove(_Finder)


def _is_installed(path: str) -> bool:
    file = Path(path)
    return not {"site-packages", "dist-packages"}.isdisjoint(file.parts) or any(map(file.is_relative_to, _folders()))


@cache
def _folders() -> tuple[Path, ...]:
    """The standard library, and dpaudit, which may be a checkout."""
    return Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1]

"""Which methods of which libraries are followed? As wholes, or as noise of a known law.

A row is looked up only where its library was imported by somebody else. Parameters are read when the method is called;
where they depend on the data, so does the noise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from dpaudit.tracing.libraries import diffprivlib, jax, opacus, opendp, pydp, torch, tumult
from dpaudit.tracing.recording import site
from dpaudit.tracing.units import as_unit

__all__ = ["present", "replacements"]
ROWS = (*diffprivlib.ROWS, *opendp.ROWS, *pydp.ROWS, *tumult.ROWS, *opacus.ROWS, *torch.ROWS, *jax.ROWS)
"""All methods that are followed."""
_LIBRARIES = tuple(dict.fromkeys(row.module for row in ROWS))


def present() -> tuple[str, ...]:
    """Return the modules of libraries that were imported."""
    return tuple(name for name in _LIBRARIES if name in sys.modules)


def replacements(made: dict[tuple[int, str], Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield owner, name and followed version of every method that is there.

    Args:
        made: what was made before, which is used again.
    """
    for row in ROWS:
        module = sys.modules.get(row.module)
        owner: Any = module if not row.owner else getattr(module, row.owner, None)
        if owner is None:
            continue
        for each in (owner, *(_below(owner) if row.below else ())):
            if row.method not in vars(each) and not row.inherited:
                continue
            key = (id(each), row.method)
            if key not in made:
                original = getattr(each, row.method)
                name = f"{row.module.partition('.')[0]} {each.__name__}"
                followed = row.followed(original) if row.followed else None
                made[key] = followed or as_unit(original, name, row.made, site=site)  # type: ignore[arg-type]
            yield each, row.method, made[key]


def _below(owner: type) -> Iterator[type]:
    subclasses: list[type] = owner.__subclasses__()
    for each in subclasses:
        yield each
        yield from _below(each)

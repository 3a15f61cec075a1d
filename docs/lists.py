"""Which pages of the site are lists, made when it is built? Every module with its question; every case of the museum.

python docs/lists.py        writes them by hand
"""

from __future__ import annotations

import ast
import functools
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MUSEUM = ROOT / "benchmarks" / "museum"


def write() -> None:
    """Write them beside the pages that people write."""
    (HERE / "modules.md").write_text(modules(), encoding="utf-8")
    (HERE / "museum.md").write_text(museum(), encoding="utf-8")


@functools.cache
def question(file: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def modules() -> str:
    """A heading for each package, a line for each module."""
    lines = ["# Every module, and the question that it answers", ""]
    package = ROOT / "dpaudit"
    for file in sorted(package.rglob("__init__.py"), key=lambda file: file.parent):
        folder = file.parent
        lines += [f"## `{folder.relative_to(ROOT).as_posix()}/`", "", question(file), ""]
        others = sorted(other for other in folder.glob("*.py") if not other.name.startswith("__"))
        lines += [f"- `{other.name}`: {question(other)}" for other in others]
        lines += [""] if others else []
    return "\n".join(lines)


def museum() -> str:
    """What is missed first, then every case by its kind, from what was measured last."""
    sys.path.insert(0, str(MUSEUM))
    from case import cases
    from others import NOT_RUN
    from page import drawn

    rows, released, others = (
        json.loads((MUSEUM / f"{name}.json").read_text(encoding="utf-8")) for name in ("results", "released", "others")
    )
    return str(drawn(list(cases()), rows, released, others, NOT_RUN))


if __name__ == "__main__":
    write()

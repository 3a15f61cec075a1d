"""Write docs/modules.md: every module of dpaudit, with the question that opens it.

python docs/modules.py
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "modules.md"


@functools.cache
def question(file: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def page() -> str:
    """The whole page: a heading for each package, a line for each module."""
    lines = ["# Every module, and the question that it answers", "", "Made by `python docs/modules.py`.", ""]
    package = ROOT / "dpaudit"
    for file in sorted(package.rglob("__init__.py"), key=lambda file: file.parent):
        folder = file.parent
        lines += [f"## `{folder.relative_to(ROOT).as_posix()}/`", "", question(file), ""]
        others = sorted(other for other in folder.glob("*.py") if not other.name.startswith("__"))
        lines += [f"- `{other.name}`: {question(other)}" for other in others]
        lines += [""] if others else []
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

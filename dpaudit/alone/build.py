"""How is ``dpaudit-check.pyz`` made? From the modules of the check and the stand-ins.

``python -m dpaudit.alone.build FILE`` writes it and prints its SHA-256, and that of its contents. Stored times, modes
and names are fixed, so the same tree gives the same contents everywhere, and the same bytes wherever zlib compresses
alike. The site of the documentation shows the digest of the contents, computed when it is built.
"""

from __future__ import annotations

import ast
import hashlib
import io
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ROOTS = (
    "dpaudit.alone.main",
    "dpaudit.alone.arrays",
    "dpaudit.alone.special",
    "dpaudit.alone.structs",
    "dpaudit.review.check",
    "dpaudit.review.check.sampled",
    "dpaudit.review.check.curve",
    "dpaudit.review.check.certificate",
    "dpaudit.review.check.page",
    "dpaudit.report.html.embedded_json",
    "dpaudit.report.view",
    "dpaudit.review.check.accounting",
    "dpaudit.review.check.second",
    "dpaudit.review.check.sequential",
    "dpaudit.review.check.certain",
    "dpaudit.review.check.stated",
    "dpaudit.stats.guessing",
    "dpaudit.stats.joint_region",
    "dpaudit.stats.exact_region",
    "dpaudit.stats.one_run",
    "dpaudit.stats.renyi",
    "dpaudit.auditing.canaries",
    "dpaudit.auditing.scores_checked",
    "dpaudit.program.enumerate",
    "dpaudit.verify.exact",
)
"""The modules that are loaded by name, with everything that they import at their top."""

_START = """import sys
from dpaudit.alone.main import main
sys.exit(main(sys.argv[1:]))
"""
_WHEN = (1980, 1, 1, 0, 0, 0)


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the file by name, with their source files."""
    found: dict[str, Path] = {}
    waiting = list(_ROOTS)
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            own = ".".join(parts[:end])
            path = _path(own)
            if path is not None and own not in found:
                found[own] = path
                waiting += _imported(path)
    return dict(sorted(found.items()))


def _path(name: str) -> Path | None:
    plain = ROOT.joinpath(*name.split("."))
    return next((path for path in (plain / "__init__.py", plain.with_suffix(".py")) if path.is_file()), None)


def _imported(path: Path) -> Iterator[str]:
    """Yield the modules of dpaudit that a module imports at its top, where that is not for type checkers alone."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpaudit"):
            yield str(node.module)
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("dpaudit"))


def contents() -> dict[str, bytes]:
    """Return all entries of the file by name, in their order."""
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in modules().values()}
    files["dpaudit/alone/version.py"] = f"VERSION = {_version()!r}\n".encode()
    files["__main__.py"] = _START.encode()
    return {name: text.replace(b"\r\n", b"\n") for name, text in sorted(files.items())}


def _version() -> str:
    project = ROOT / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    return version("dpaudit")


def digest(entries: Mapping[str, bytes]) -> str:
    """Return the SHA-256 of what ``sha256sum`` prints for the entries, in the order of their names.

    It is that of the contents: it does not depend on how they are compressed.
    """
    lines = [f"{hashlib.sha256(entries[name]).hexdigest()}  {name}\n" for name in sorted(entries)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def built() -> bytes:
    """Return the bytes of the file."""
    stream = io.BytesIO()
    stream.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in contents().items():
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return stream.getvalue()


def main() -> None:
    """Write the file that is named, and print its digest, and that of its contents; ``--digest``: only the latter."""
    if sys.argv[1:] != ["--digest"]:
        target, content = Path(sys.argv[1]), built()
        target.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {target.name}")
    print(f"{digest(contents())}  contents of dpaudit-check.pyz")


if __name__ == "__main__":
    main()

"""How is ``dpaudit-check.pyz`` made? From the modules of this package, as they stand.

``python -m dpaudit.checker.archive FILE`` writes it and prints its SHA-256, and that of its contents. Stored times,
modes and names are fixed, so the same tree gives the same contents everywhere, and the same bytes wherever zlib
compresses alike. The site of the documentation shows the digest of the contents, computed when it is built.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).parent
_START = b"import sys\nfrom dpaudit.checker.__main__ import main\nsys.exit(main(sys.argv[1:]))\n"
_WHEN = (1980, 1, 1, 0, 0, 0)


def contents() -> dict[str, bytes]:
    """Return all entries of the file by name, in their order."""
    own = {f"dpaudit/checker/{path.name}": path.read_bytes() for path in _FOLDER.glob("*.py")}
    files = {**own, "dpaudit/__init__.py": b"", "__main__.py": _START}
    return {name: files[name].replace(b"\r\n", b"\n") for name in sorted(files)}


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

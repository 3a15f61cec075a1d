"""How is evidence embedded in a page, and how is it read back?

The evidence file is in a ``<script type="application/json">`` block, which browsers treat as data and never run. In
JSON, ``<``, ``>`` and ``&`` only occur in strings, where they are written as escapes, so no text of the evidence can
end the block or begin another. A long record repeats itself: it stands there as gzip, in base64.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from html import unescape

from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence

BLOCK_ID = "dpaudit-evidence"
LONG = 30_000
"""Characters of a record; a longer one is packed, and is not shown as text, which would slow browsers down."""
_MOST_UNPACKED = 10**8  # bytes
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def embedded_json(evidence: Evidence) -> str:
    """Return the evidence file as JSON in ASCII, packed if it is long; safe between ``<script>`` and ``</script>``."""
    text = json.dumps(evidence.document(), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return packed(text) if len(text) > LONG else text.translate(_ESCAPES)


def packed(text: str) -> str:
    """Return a text as gzip, in base64."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def drawn_with(*, beside: Evidence | None = None) -> str:
    """Return the versions that render pages; equal versions give equal bytes. ``beside``: a baseline on the page."""
    parts = [f"{name} {installed_version(name)}" for name in ("dpaudit", "Jinja2", "matplotlib", "numpy")]
    return ", ".join(parts if beside is None else [*parts, f"beside {beside.id}"])


def generator(html: str) -> str:
    """Return the versions that a page says it was rendered with; empty if it does not say."""
    found = re.search(r'<meta name="generator" content="([^"]*)">', html)
    return unescape(found[1]) if found else ""


def unpacked(text: str) -> str:
    """Return what `packed` was given; raise `ValueError` for anything else."""
    reader = zlib.decompressobj(wbits=31)
    try:
        found = reader.decompress(base64.b64decode(text, validate=True), _MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"what the page holds cannot be unpacked: {error}") from None
    if not reader.eof or reader.unused_data:
        raise ValueError(f"what the page holds is cut, goes on after its end, or is larger than {_MOST_UNPACKED} bytes")
    return found.decode()


def extract(html: str) -> Evidence:
    """Return the evidence embedded in ``html``; raise `UsageError` if there is not exactly one."""
    shown = re.sub("<!--.*?-->", "", html, flags=re.DOTALL)
    blocks = re.findall(rf'<script type="application/json" id="{BLOCK_ID}">(.*?)</script>', shown, re.DOTALL)
    if len(blocks) != 1:
        found = f"{len(blocks)} blocks of evidence" if blocks else "no evidence"
        raise UsageError(
            f'the page holds {found}, expected one <script type="application/json" id="{BLOCK_ID}">; '
            "give an evidence file, or a page that dpaudit wrote"
        )
    try:
        text = unpacked(blocks[0]) if blocks[0].startswith("H4s") else blocks[0]
    except ValueError as error:
        raise UsageError(f"{error}; give an evidence file, or a page that dpaudit wrote") from None
    return Evidence.from_json(text, name="the evidence in the page")

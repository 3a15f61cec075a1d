"""How do templates become pages, and what is embedded in one? Evidence, and a script that checks its proof again.

A page is a document (`dpaudit.report.document`), of which ``blocks.html.j2`` draws each kind of block; all is escaped,
and a missing value is an error.

The evidence file is in a ``<script type="application/json">`` block, which browsers treat as data and never run. In
JSON, ``<``, ``>`` and ``&`` only occur in strings, where they are written as escapes, so no text of the evidence can
end the block or begin another. A long record repeats itself: it stands there as gzip, in base64.

``checker.js`` is extracted from the proofs in the folder ``verified/`` of the source, which also says what it covers;
``recheck.js`` shows its answer in one line under the verdict. The content security policy of the page allows these two,
by their hashes, and no other script. The page holds the checker packed, less than half as large; what is unpacked runs
only if it is the checker to the last letter.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from typing import Any

import jinja2

from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.evidence import Evidence
from dpaudit.report.document import Page
from dpaudit.report.text.phrases import visible


def source(name: str) -> str:
    """Return the text of a file in the folder of the templates."""
    return files("dpaudit.report.html").joinpath(name).read_text(encoding="utf-8")


@cache
def environment() -> jinja2.Environment:
    """Return the Jinja environment of every page; characters that a browser would interpret are made visible."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def drawn_page(page: Page, **more: Any) -> str:
    """Return a page as HTML; ``more`` is what only the page of one piece of evidence has."""
    values = {"hashes": [digest_of(page.script)] if page.script else [], **more}
    return environment().get_template("page.html.j2").render(page=page, **values)


# --- How is evidence embedded in a page, and how is it read back? ----------------------------------------

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
    match = re.search(r'<meta name="generator" content="([^"]*)">', html)
    return unescape(match[1]) if match else ""


def unpacked(text: str) -> str:
    """Return what `packed` was given; raise `ValueError` for anything else."""
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(base64.b64decode(text, validate=True), _MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"what the page holds cannot be unpacked: {error}") from None
    if not reader.eof or reader.unused_data:
        raise ValueError(f"what the page holds is cut, goes on after its end, or is larger than {_MOST_UNPACKED} bytes")
    return data.decode()


def extract(html: str) -> Evidence:
    """Return the evidence embedded in ``html``; raise `UsageError` if there is not exactly one."""
    shown = re.sub("<!--.*?-->", "", html, flags=re.DOTALL)
    blocks = re.findall(rf'<script type="application/json" id="{BLOCK_ID}">(.*?)</script>', shown, re.DOTALL)
    if len(blocks) != 1:
        what = f"{len(blocks)} blocks of evidence" if blocks else "no evidence"
        raise UsageError(
            f'the page holds {what}, expected one <script type="application/json" id="{BLOCK_ID}">; '
            "give an evidence file, or a page that dpaudit wrote"
        )
    try:
        text = unpacked(blocks[0]) if blocks[0].startswith("H4s") else blocks[0]
    except ValueError as error:
        raise UsageError(f"{error}; give an evidence file, or a page that dpaudit wrote") from None
    return Evidence.from_json(text, name="the evidence in the page")


# --- Does the page check its own proof when it is opened? ------------------------------------------------

CHECKER = "checker.js"
DIGEST = "a9839d047adf37d0e8736ce57cfe6f7c4b58fa4dd4009a018324fb64ab9b4d6e"
"""SHA-256 of the script that `make verified` builds."""
COVERED = frozenset({"tree", "fold", "releases"})
"""The kinds of certificates that it reads; of some of them it says that they are not covered."""
_PURE = {"version": 1, "notion": "epsilon", "delta": "0"}
"""Of releases, those that it reads."""


def is_read(certificate: Mapping[str, Any]) -> bool:
    """Whether the script reads such a certificate, as far as its head says."""
    kind = certificate.get("kind")
    return kind in COVERED and (kind != "releases" or all(certificate.get(name) == it for name, it in _PURE.items()))


@dataclass(frozen=True, slots=True)
class Recheck:
    """The line under the verdict, and the script that replaces it."""

    sentence: str  # what stands there where no script runs
    script: str = ""  # recheck.js; empty if the page has none
    packed: str = ""  # checker.js as gzip, in base64
    hashes: tuple[str, ...] = ()  # of both, as a content security policy names them


def recheck(evidence: Evidence, *, script: bool) -> Recheck | None:
    """Return the line and the script of a page; None if nothing in the evidence was proved by a certificate.

    Args:
        evidence: the evidence.
        script: whether the page may have a script.
    """
    proof = evidence.proof
    if proof is None or proof.certificate is None or evidence.upper is None:
        return None
    if not is_read(proof.certificate):
        kind = proof.certificate.get("kind")
        named = f"kind {kind}" if isinstance(kind, str) else proof.method
        return Recheck(
            f"A proof of this kind ({named}) is not covered by the checker that pages bring with them: nothing of it "
            "was checked here. dpaudit check FILE checks it, FILE being the evidence or this page."
        )
    if not script:
        return Recheck(
            "This page has no script, and did not check its proof: dpaudit check FILE does, FILE being the evidence "
            "or this page."
        )
    return Recheck(
        "This page checks its proof where scripts may run, and did not: dpaudit check FILE does, FILE being the "
        "evidence or this page.",
        *_script(),
    )


def checker() -> str:
    """Return the text of the checker."""
    text = source(CHECKER)
    if hashlib.sha256(text.encode()).hexdigest() != DIGEST:
        raise UsageError(
            f"{CHECKER} in dpaudit/report/html was altered: it is not the one whose soundness is proved; install "
            "dpaudit again"
        )
    return text


def digest_of(script: str) -> str:
    """Return the hash by which a content security policy allows a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _script() -> tuple[str, str, tuple[str, ...]]:
    script, text = source("recheck.js"), checker()
    return script, packed(text), (digest_of(script), digest_of(text))

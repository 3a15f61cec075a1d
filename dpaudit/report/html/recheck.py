"""Does the page check its own proof when it is opened? By a script whose soundness is proved by machine.

``checker.js`` is extracted from the proofs in the folder ``verified/`` of the source, which also says what it covers;
``recheck.js`` shows its answer in one line under the verdict. The content security policy of the page allows these two,
by their hashes, and no other script. The page holds the checker packed, less than half as large; what is unpacked runs
only if it is the checker to the last letter.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.report.html.embedded_json import packed
from dpaudit.report.html.templates import source

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
    allowed: str = ""  # the hashes of both, as a content security policy names them


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


@cache
def _script() -> tuple[str, str, str]:
    script, text = source("recheck.js"), checker()
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script, text)]
    return script, packed(text), " ".join(f"'sha256-{each}'" for each in hashes)

"""Does a certificate prove what it says? A file of its own, or those of an accounting or of a watched loop."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from dpaudit.checker import CertificateError, Checked, check_certificate
from dpaudit.checker.reading import read_json
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import read_text
from dpaudit.evidence.evidence import Evidence
from dpaudit.report import evidence_from_page
from dpaudit.report.html.recheck import CHECKER, COVERED, checker, is_read
from dpaudit.review.check.finding import Finding, answered, failing, unchecked


def certificates(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for every certificate of an accounting, or of a watched loop."""
    for each in (evidence.accounting, evidence.training):
        for number, certificate in enumerate(() if each is None else each.certificates):
            yield numbered(certificate, number)


def numbered(certificate: dict[str, Any], number: int) -> Finding:
    """Check one certificate of several."""
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        return failing("certificate", f"certificate {number}: {error}")
    return answered("certificate", True, f"certificate {number}: " + " ".join(checked.sentences))


def bare_certificate(text: str) -> Finding:
    """Check a bare certificate from its text, in which nothing may be repeated, rounded or ignored."""
    try:
        return certificate_finding(read_json(text))[0]
    except CertificateError as error:
        return failing("certificate", str(error))


def certificate_finding(certificate: Any) -> tuple[Finding, Checked | None]:
    """Check a certificate; return the finding, and what it proves (None if nothing)."""
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        return failing("certificate", str(error)), None
    # an account may be of δ at an ε, which its own sentences say
    proved = "" if checked.kind == "account" else f"{checked.statement}: "
    return answered("certificate", True, proved + " ".join(checked.sentences)), checked


# --- Does the checker with a theorem agree? The script of the pages, run by node where node is installed. ---
#
# The Python checker and this one share no code: the script is extracted from a proof that what it accepts is true
# (folder ``verified/`` of the source). Where one accepts a certificate and the other refuses it, one of them is wrong.

WHAT = "theorem"
_SECONDS = 60
_RUN = """
require(process.argv[1]);
const text = require("fs").readFileSync(0, "utf8");
process.stdout.write(JSON.stringify(globalThis.dpaudit_check(text)));
"""
_WORDS = ("PROVED", "REFUSED", "NOT COVERED")


def node() -> str | None:
    """Return the path of node, on the path or beside this interpreter; None if there is none."""
    return shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))


def by_theorem(path: str | Path) -> Iterator[Finding]:
    """Yield what the checker with a theorem says of the certificate in a file, held against what the Python one says.

    Nothing is yielded of a file without a certificate of a proof. What this checker does not cover, or where it cannot
    run, makes nothing fail or pass: only a refusal, or a disagreement, does.
    """
    certificate = _certificate(read_text(path))
    if certificate is None:
        return
    if not is_read(certificate):
        kind = certificate["kind"]
        kind = "releases of another notion than ε, at a δ, or of version 2" if kind in COVERED else f"{kind:.40}"
        why = f"the checker with a theorem does not cover this kind, {kind}"
        yield unchecked(WHAT, why, decides=False)
        return
    where = node()
    if where is None:
        why = (
            "the checker with a theorem was not run: node is not installed (pip install 'dpaudit[verified]' brings "
            "one); a browser runs it in the page"
        )
        yield unchecked(WHAT, why, decides=False)
        return
    try:
        word, said = _answer(where, json.dumps(certificate))
    except UsageError as error:
        yield failing(WHAT, str(error))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        yield unchecked(WHAT, f"node could not run the checker with a theorem: {error!s:.200}", decides=False)
    else:
        yield _held_against(word, said, certificate)


def _certificate(text: str) -> dict[str, Any] | None:
    """Return the certificate of a proof in a file; None without one, and where the text cannot be read."""
    try:
        if text.lstrip().startswith("<"):
            text = evidence_from_page(text).to_json()
        found = json.loads(text)
    except (UsageError, ValueError, RecursionError):
        return None
    for name in ("evidence", "proof", "certificate") if isinstance(found, dict) and "evidence" in found else ():
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) and isinstance(found.get("kind"), str) else None


def _answer(where: str, text: str) -> tuple[str, str]:
    """Run the script on a text, in a process of its own; return its word and its sentence."""
    checker()  # raises for a script that was altered
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NODE_")}
    with as_file(files("dpaudit.report.html").joinpath(CHECKER)) as script:
        ran = subprocess.run(
            [where, "--eval", _RUN, str(script.resolve())],
            input=text.encode("utf-8"),
            capture_output=True,
            timeout=_SECONDS,
            env=environment,
            check=True,
        )
    answer = json.loads(ran.stdout)
    if not (isinstance(answer, list) and len(answer) == 2 and answer[0] in _WORDS and isinstance(answer[1], str)):
        raise ValueError(f"it said {answer!r:.40}")
    return answer[0], answer[1]


def _held_against(word: str, said: str, certificate: dict[str, Any]) -> Finding:
    """Compare the answer with that of the Python checker."""
    try:
        check_certificate(certificate)
        why = ""
    except CertificateError as error:
        why = str(error)
    if word == "NOT COVERED":
        return unchecked(WHAT, f"the checker with a theorem does not cover it: {said}", decides=False)
    if word == "PROVED" and not why:
        return answered(WHAT, True, f"two independent checkers agree; the one with a theorem proves {said}")
    if word == "REFUSED" and why:
        return failing(WHAT, f"two independent checkers agree; the one with a theorem says that {said}")
    if why:
        return failing(WHAT, f"two checkers disagree: the Python one refuses it, for {why}; the other proves {said}")
    return failing(WHAT, f"two checkers disagree: the Python one accepts it; the other says that {said}")

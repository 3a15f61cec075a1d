"""Does a certificate prove what it says? A file of its own, or those of an accounting or of a watched loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpaudit.checker import CertificateError, Checked, check_certificate
from dpaudit.checker.reading import read_json
from dpaudit.evidence.evidence import Evidence
from dpaudit.review.check.finding import Finding, answered, failing


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

"""Does a certificate prove what it claims? An independent check of proofs, in exact fractions.

The checker imports nothing but itself and the standard library, so trusting a proof means trusting the modules that its
kind is checked by, and the theorem in ``docs/certificate.md``, which also specifies the format.
"""

from __future__ import annotations

from importlib import import_module

from dpaudit.checker.certificate import DERIVED_VERSION, Checked
from dpaudit.checker.reading import FORMAT, VERSION, CertificateError, ForgedError, read_json, shown

__all__ = [
    "DERIVED_VERSION",
    "FORMAT",
    "KINDS",
    "VERSION",
    "CertificateError",
    "Checked",
    "ForgedError",
    "accounted",
    "accounting",
    "bounds",
    "certificate",
    "check_certificate",
    "check_text",
    "derived",
    "fold",
    "moves",
    "prices",
    "reading",
    "records",
    "shifts",
    "tree",
]

KINDS = {
    ("tree", VERSION): "shifts",
    ("fold", VERSION): "fold",
    ("selection", VERSION): "fold",
    ("releases", VERSION): "records",
    ("releases", DERIVED_VERSION): "derived",
    ("moves", VERSION): "moves",
    ("account", VERSION): "accounting",
}
"""By which module of this package a kind of certificate is checked, in each version: by its ``check``."""


def check_text(content: str | bytes) -> Checked:
    """Check a certificate in JSON; see `check_certificate`."""
    return check_certificate(read_json(content))


def check_certificate(given: object) -> Checked:
    """Check a certificate, a JSON object as `json.loads` returns it, and return what it proves.

    Raises:
        ForgedError: if it can be read but does not prove its bound.
        CertificateError: if it is not in this format, or too large.
    """
    if type(given) is not dict:
        raise CertificateError(f"a certificate is a JSON object, not {shown(given)}")
    if given.get("format") != FORMAT:
        raise CertificateError(f"the format must be {FORMAT!r}")
    kind, version = given.get("kind"), given.get("version")
    kinds = tuple(dict.fromkeys(name for name, _ in KINDS))
    if type(kind) is not str or kind not in kinds:
        raise CertificateError(f"the kind must be one of {', '.join(kinds)}, not {shown(kind)}")
    versions = [each for name, each in KINDS if name == kind]
    if type(version) is not int or version not in versions:
        raise CertificateError(f"this checker reads version {' and '.join(map(str, versions))}, not {shown(version)}")
    proved: Checked = import_module(f"{__name__}.{KINDS[kind, version]}").check(given)
    return proved

"""How is evidence cited, and which publications does it rest on?"""

from __future__ import annotations

import re

from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import PureDP
from dpaudit.report.text import training
from dpaudit.report.text.accounting import SOURCES
from dpaudit.report.text.phrases import visible
from dpaudit.stats.methods import KAIROUZ, METHODS, method_of

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, even after a backslash
    "}": r"\textbraceright{}",
    **{mark: "\\" + mark for mark in "$&#_%"},
}


def bibtex(evidence: Evidence) -> str:
    """Return a BibTeX entry that cites the evidence by its id."""
    name = "".join(_TEX.get(mark, mark) for mark in visible(evidence.target.name, one_line=True))
    identity, year = evidence.id, _year(evidence)
    lines = [
        f"@misc{{dpaudit-{identity.removeprefix('dpa1:')[:12]},",
        f"  title = {{Differential privacy {_what(evidence)} of {{{name}}}: {evidence.verdict}}},",
        f"  howpublished = {{dpaudit {_version(evidence)}evidence}},",
        f"  note = {{{identity}}},",
    ]
    lines += [f"  year = {{{year}}},"] if year else []
    return "\n".join([*lines, "}"])


def citation(evidence: Evidence, identity: str | None = None) -> str:
    """Return the citation as a plain sentence; ``identity`` is the evidence's id, if it is already known."""
    year = _year(evidence)
    when = f" ({year})" if year else ""
    return (
        f"Differential privacy {_what(evidence)} of {visible(evidence.target.name, one_line=True)}{when}: "
        f"{evidence.verdict}. dpaudit {_version(evidence)}evidence {identity or evidence.id}."
    )


def _what(evidence: Evidence) -> str:
    return "audit" if evidence.accounting is None else "accounting"  # a watched loop is audited too


def _version(evidence: Evidence) -> str:
    version = evidence.versions.get("dpaudit", "")
    return f"{version} " if re.fullmatch(r"[\w.+-]+", version) else ""


def _year(evidence: Evidence) -> str:
    started = "" if evidence.run is None else evidence.run.started
    year = re.match(r"\d{4}(?=-)", started)
    return year[0] if year else ""


# --- sources ---------------------------------------------------------------------------------------------

_CURVES = (
    "Wasserman & Zhou (2010). A statistical framework for differential privacy. Journal of the American Statistical "
    "Association 105(489). Theorem 2.4.",
    KAIROUZ,
    "Dong, Roth & Su (2022). Gaussian differential privacy. J. of the Royal Statistical Society B 84(1).",
    "Balle, Barthe & Gaboardi (2018). Privacy amplification by subsampling: tight analyses via couplings and "
    "divergences. NeurIPS. Theorem 1.",
)
_BINOMIAL = (
    "Clopper & Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the binomial. "
    "Biometrika 26(4)."
)
_ALIGNMENT = (
    "Zhang & Kifer (2017). LightDP: towards automating differential privacy proofs. POPL.",
    "Wang, Ding, Kifer & Zhang (2020). CheckDP: an automated and integrated approach for proving differential privacy "
    "or finding precise counterexamples. CCS.",
)
_LOW_BITS = "Mironov (2012). On significance of the least significant bits for differential privacy. CCS."


def sources(evidence: Evidence) -> list[str]:
    """Return the publications that this evidence rests on, each once."""
    definition = (evidence.claimed or PureDP(0.0)).words.source
    if evidence.training is not None:
        return [definition, *training.SOURCES]
    if evidence.accounting is not None:
        return [definition, *SOURCES]
    used = {attempt.bound.method for attempt in evidence.attempts} | {evidence.lower.method}
    own = [source for method in METHODS.values() if method.name in used for source in method.sources]
    if any(method_of(name).canaries for name in used):
        return [definition, *own]
    listed = [definition, *_CURVES]
    if evidence.sequential is None and evidence.measuring > 0:
        listed.append(_BINOMIAL)
    listed += own
    if evidence.proof is not None and evidence.proof.method in {"alignment", "induction"}:
        listed += _ALIGNMENT
    if evidence.floating_point is not None or evidence.target.asks == "program":
        listed.append(_LOW_BITS)
    return list(dict.fromkeys(listed))

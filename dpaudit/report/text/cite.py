"""How is evidence cited, and whose theorems does it rest on?"""

from __future__ import annotations

import re

from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import ApproxDP, GaussianDP, RenyiDP, ZeroConcentratedDP
from dpaudit.report.text.phrases import visible

_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}",  # BibTeX counts braces, also those behind a backslash
    "}": r"\textbraceright{}",
    **{mark: "\\" + mark for mark in "$&#_%"},
}


def bibtex(evidence: Evidence) -> str:
    """Return a BibTeX entry that cites the evidence by its id."""
    name = "".join(_TEX.get(mark, mark) for mark in visible(evidence.target.name, one_line=True))
    identity, year = evidence.id, _year(evidence)
    lines = [
        f"@misc{{dpaudit-{identity.removeprefix('dpa1:')[:12]},",
        f"  title = {{Differential privacy audit of {{{name}}}: {evidence.verdict}}},",
        f"  howpublished = {{dpaudit {_version(evidence)}evidence}},",
        f"  note = {{{identity}}},",
    ]
    lines += [f"  year = {{{year}}},"] if year else []
    return "\n".join([*lines, "}"])


def citation(evidence: Evidence, identity: str | None = None) -> str:
    """Return the same as a plain sentence; ``identity`` is the evidence's id, where it is known already."""
    year = _year(evidence)
    when = f" ({year})" if year else ""
    return (
        f"Differential privacy audit of {visible(evidence.target.name, one_line=True)}{when}: {evidence.verdict}. "
        f"dpaudit {_version(evidence)}evidence {identity or evidence.id}."
    )


def _version(evidence: Evidence) -> str:
    version = evidence.versions.get("dpaudit", "")
    return f"{version} " if re.fullmatch(r"[\w.+-]+", version) else ""


def _year(evidence: Evidence) -> str:
    started = "" if evidence.run is None else evidence.run.started
    year = re.match(r"\d{4}(?=-)", started)
    return year[0] if year else ""


# --- sources ---------------------------------------------------------------------------------------------

_DEFINITION = {
    "pure": "Dwork, McSherry, Nissim & Smith (2006). Calibrating noise to sensitivity in private data analysis. TCC.",
    "approximate": (
        "Dwork, Kenthapadi, McSherry, Mironov & Naor (2006). Our data, ourselves: privacy via distributed noise "
        "generation. EUROCRYPT."
    ),
    "gaussian": "Dong, Roth & Su (2022). Gaussian differential privacy. J. of the Royal Statistical Society B 84(1).",
    "concentrated": (
        "Bun & Steinke (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC."
    ),
    "renyi": "Mironov (2017). Rényi differential privacy. IEEE Computer Security Foundations Symposium.",
}
_CURVES = (
    "Wasserman & Zhou (2010). A statistical framework for differential privacy. Journal of the American Statistical "
    "Association 105(489). Theorem 2.4.",
    "Kairouz, Oh & Viswanath (2015). The composition theorem for differential privacy. ICML.",
    "Dong, Roth & Su (2022). Gaussian differential privacy. J. of the Royal Statistical Society B 84(1).",
    "Balle, Barthe & Gaboardi (2018). Privacy amplification by subsampling: tight analyses via couplings and "
    "divergences. NeurIPS. Theorem 1.",
)
_BINOMIAL = (
    "Clopper & Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the binomial. "
    "Biometrika 26(4)."
)
_JOINT = (
    "Stouffer, Suchman, DeVinney, Star & Williams (1949). The American Soldier, volume 1. Princeton University Press.",
    "Berger & Boos (1994). P values maximized over a confidence set for the nuisance parameter. Journal of the "
    "American Statistical Association 89(427).",
)
_FEW = "Buehler (1957). Confidence intervals for the product of two binomial parameters. Journal of the American " + (
    "Statistical Association 52(280)."
)
_ALIGNMENT = (
    "Zhang & Kifer (2017). LightDP: towards automating differential privacy proofs. POPL.",
    "Wang, Ding, Kifer & Zhang (2020). CheckDP: an automated and integrated approach for proving differential privacy "
    "or finding precise counterexamples. CCS.",
)
_ONE_RUN = "Steinke, Nasr & Jagielski (2023). Privacy auditing with one (1) training run. NeurIPS. Theorem 5.2."
_BETS = "Ville (1939). Étude critique de la notion de collectif. Gauthier-Villars."
_DIVERGENCES = (
    "Donsker & Varadhan (1983). Asymptotic evaluation of certain Markov process expectations for large time, IV. "
    "Communications on Pure and Applied Mathematics 36(2).",
    "Birrell, Dupuis, Katsoulakis, Rey-Bellet & Wang (2021). Variational representations and neural network estimation "
    "of Rényi divergences. SIAM Journal on Mathematics of Data Science 3(4).",
)
_LOW_BITS = "Mironov (2012). On significance of the least significant bits for differential privacy. CCS."


def sources(evidence: Evidence) -> list[str]:
    """Return the publications that this evidence rests on, each once."""
    claim = evidence.claimed
    kinds = {GaussianDP: "gaussian", ZeroConcentratedDP: "concentrated", RenyiDP: "renyi"}
    kind = next((name for notion, name in kinds.items() if isinstance(claim, notion)), "pure")
    if isinstance(claim, ApproxDP) and claim.delta > 0:
        kind = "approximate"
    methods = {attempt.bound.method for attempt in evidence.attempts} | {evidence.lower.method}
    listed = [_DEFINITION[kind]]
    if "one-run" in methods:
        return [*listed, _CURVES[1], _ONE_RUN]
    listed += _CURVES
    if evidence.sequential is not None:
        listed.append(_BETS)
    elif evidence.measuring > 0:
        listed.append(_BINOMIAL)
    if any("joint" in method or "multinomial" in method for method in methods):
        listed += _JOINT
    if any("multinomial" in method for method in methods):
        listed += _DIVERGENCES
    if any("enumerated" in method for method in methods):
        listed.append(_FEW)
    if evidence.proof is not None and evidence.proof.method in {"alignment", "induction"}:
        listed += _ALIGNMENT
    if evidence.floating_point is not None or evidence.target.asks == "program":
        listed.append(_LOW_BITS)
    return list(dict.fromkeys(listed))

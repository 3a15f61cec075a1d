"""Is the evidence about this target? Its code is loaded, and if it was proved, the program is read again.

Nothing is run: digest, name, parameters and claim are compared, and for a proof also the tree, the fold or the laws of
the program today with those of the record. Only a replay can show that the counts come from runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from dpaudit.checker import CertificateError, Checked, check_certificate
from dpaudit.checker.reading import read_json
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version
from dpaudit.evidence.canonical_json import json_values, plain_value, read_text
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Proof
from dpaudit.loading import load, public_name
from dpaudit.neighbours.data_files import with_tables
from dpaudit.neighbours.digest import digest
from dpaudit.report import evidence_from_page, html_page
from dpaudit.report.html.templates import CHECKER, COVERED, checker, drawn_with, generator, is_read, unpacked
from dpaudit.review.check.finding import CheckFinding, agrees, answered, failing, unchecked
from dpaudit.targets.mechanism import Mechanism
from dpaudit.verify.proofs import KINDS
from dpaudit.verify.proofs.kind import UNREADABLE, Goal


def against(evidence: Evidence, name: str) -> Iterator[CheckFinding]:
    """Yield a finding for each property of the target that the evidence states."""
    mechanism, target = load(name), evidence.target
    own = public_name(mechanism)
    same = own.rpartition(":")[2] == target.name.rpartition(":")[2]
    yield answered("name", same, f"the target is {own}, and the evidence is of {target.name}")
    code = mechanism.digest_like(target.digest)
    if code is None or target.digest is None:
        yield unchecked("code", "there is no code to compare", decides=True)
    else:
        how = "that" if code == target.digest else "not that"
        yield answered("code", code == target.digest, f"its code is {how} of the evidence: {code}")
    try:
        given = mechanism.parameters_with(with_tables(target.parameters))
    except UsageError as error:
        yield failing("parameters", str(error))
        return
    stated = json_values(plain_value(given)) == json_values(target.parameters)
    yield answered("parameters", stated, "all parameters are stated" if stated else "other parameters are stated")
    claim, unit = mechanism.claim_for(given), mechanism.unit
    if claim is None or str(claim) != evidence.claim:
        said = (
            f"the target itself claims {claim or 'nothing'}, and the evidence is about {evidence.claim or 'no claim'}"
        )
        yield unchecked("claim", said, decides=False)
    else:
        yield answered("claim", True, f"the target itself claims {claim}")
    yield from _described(evidence, mechanism, given)
    if unit:
        yield answered("unit", unit == evidence.unit, f"a record of the target is {unit!r:.80}")
    if evidence.proof is not None:
        yield _read_again(evidence, evidence.proof, mechanism, given)


def _described(evidence: Evidence, mechanism: Mechanism, given: dict[str, Any]) -> Iterator[CheckFinding]:
    """Yield findings about what the target says of itself: what it asks for, its own pairs, and what they lose."""
    target, asks = evidence.target, str(mechanism.shape)
    if target.asks != asks:
        yield failing("kind", f"the target is of the kind {asks}, and {target.asks!r:.40} is stated")
    named = [pair for pair in evidence.pairs if pair.origin == "mechanism"]
    if named:
        known = {(digest(one), digest(two)) for one, two in mechanism.pairs_for(given)}
        holds = {(pair.digest0, pair.digest1) for pair in named} <= known
        how = "that the target names" if holds else "that the target does not name"
        yield answered("pairs", holds, f"{len(named)} of its pairs are of the mechanism: pairs {how}")
    if target.true_loss is not None:
        own = mechanism.true_loss_for(given)
        if own is None or not agrees(own, target.true_loss):
            yield failing("true loss", f"the target states {own}, and {target.true_loss:.10g} stands in the evidence")
    for what, text, own_text in (
        ("summary", target.summary, mechanism.summary),
        ("source", target.source, mechanism.source),
    ):
        if text != own_text:
            yield unchecked(what, f"the target is described otherwise today: {own_text!r:.80}", decides=False)


def _read_again(evidence: Evidence, proof: Proof, mechanism: Mechanism, given: dict[str, Any]) -> CheckFinding:
    kind = KINDS.get(proof.method)
    if kind is None:
        return failing("program", f"there are no proofs by {proof.method!r:.40}")
    try:
        same = kind.read_again(evidence, proof, Goal(mechanism, given, evidence.relation, claim=evidence.claimed))
    except (*UNREADABLE, UsageError) as error:
        return failing("program", f"the program cannot be read as it was: {error}")
    if same is None:
        return unchecked("program", "the record does not hold what the program could be compared with", decides=True)
    how = "has" if same else "does not have"
    return answered("program", same, f"read again, the program {how} the {kind.reads} of the record")


# --- Does the visible text of a page follow from its evidence? ---
#
# The page is rendered again from the evidence embedded in it and compared byte for byte. If it differs although the
# same versions rendered it, the page was edited. With other versions, or where nothing can be rendered, only the
# verdict is compared, with what stands around it: a page that shows another one fails everywhere.


def page_finding(html: str, evidence: Evidence) -> CheckFinding:
    """Check that a page is rendered from its evidence."""
    try:
        again = html_page(evidence, script="<script>" in html)  # as it was drawn, with its script or without
    except ImportError:
        why = "it cannot be drawn here; dpaudit check draws it and compares it to the byte"
        return _by_its_verdict(html, evidence, why)
    except Exception as error:  # inconsistent evidence may be impossible to render
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    try:
        same = _opened(again) == _opened(html)
    except ValueError as error:
        return failing("page", str(error))
    if same:
        return answered("page", True, "what it shows is drawn from its evidence, to the byte")
    stated, own = generator(html), drawn_with()
    if stated == own:
        return failing("page", "it does not show what its evidence gives: the visible text was edited")
    by = "no version that it names" if not stated else f"{stated:.80}"
    return _by_its_verdict(html, evidence, f"it was drawn by {by}, and this is {own}; draw it anew with dpaudit report")


def _opened(html: str) -> str:
    """Return a page with what is packed in it as it was: not every machine packs to the same bytes."""
    return re.sub(r"(?<=>)H4s[A-Za-z0-9+/]+=*(?=</script>)", lambda match: unpacked(match[0]), html.strip())


def _by_its_verdict(html: str, evidence: Evidence, why: str) -> CheckFinding:
    """Compare what a page shows of its verdict; the rest is left, for the reason that is given."""
    from dpaudit.report.view import view

    shown_here = _Shown()
    shown_here.feed(html)
    shown_here.close()
    try:
        shown = view(evidence)
        head = shown.headline
        beside = [f"{each.name}. {each.text}" for each in shown.beside]
        whole = ["Verdict:", head.word, head.sentence, shown.cell("reason", ""), head.caution, *beside]
    except ImportError:
        return unchecked("page", f"what it shows was not compared with its evidence: {why}", decides=True)
    except Exception as error:  # as above
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    title = f"{head.word}: {evidence.target.name} – dpaudit"
    same = generator(html).split(",")[0] == f"dpaudit {installed_version('dpaudit')}"
    if _folded_text(shown_here.title) != _folded_text(title) or _folded_text(shown_here.word) != _folded_text(
        f"Verdict: {head.word}"
    ):
        return failing("page", f"it does not show the verdict of its evidence, {head.word} for {evidence.target.name}")
    if same and _folded_text(shown_here.verdict) != _folded_text(" ".join(whole)):
        return failing("page", "what it shows beside its verdict is not what its evidence gives: the text was edited")
    said = "the verdict that it shows is that of its evidence, and the rest of the page was not compared"
    return unchecked("page", f"{said}: {why}", decides=True)


def _folded_text(text: str) -> str:
    return " ".join(text.split()).casefold()


_UNSEEN = ("svg", "style", "script")
_EMPTY = ("meta", "link", "br", "img", "hr", "input", "wbr")


class _Shown(HTMLParser):
    """Collects what a page shows as its title, its verdict, and the word of it; all of them where it has several."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = self.verdict = self.word = ""
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter an element."""
        if tag not in _EMPTY:
            self._open.append((tag, dict(attrs).get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element, with all that it left open."""
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Keep text that people see."""
        names = {name for name, _ in self._open}
        ids = {own for _, own in self._open}
        if not names.isdisjoint(_UNSEEN) and "verdict" in ids:
            return
        if "title" in names and "svg" not in names:
            self.title += data
        if "verdict-word" in ids:
            self.word += data
        if "verdict" in ids:
            self.verdict += f" {data} "


# --- Does a certificate prove what it says? A file of its own, or those of an accounting or of a watched loop. ---


def certificates(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for every certificate of an accounting, or of a watched loop."""
    for each in (evidence.accounting, evidence.training):
        for number, certificate in enumerate(() if each is None else each.certificates):
            yield numbered(certificate, number)


def numbered(certificate: dict[str, Any], number: int) -> CheckFinding:
    """Check one certificate of several."""
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        return failing("certificate", f"certificate {number}: {error}")
    return answered("certificate", True, f"certificate {number}: " + " ".join(checked.sentences))


def bare_certificate(text: str) -> CheckFinding:
    """Check a bare certificate from its text, in which nothing may be repeated, rounded or ignored."""
    try:
        return certificate_finding(read_json(text))[0]
    except CertificateError as error:
        return failing("certificate", str(error))


def certificate_finding(certificate: Any) -> tuple[CheckFinding, Checked | None]:
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


def by_theorem(path: str | Path) -> Iterator[CheckFinding]:
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
        document = json.loads(text)
    except (UsageError, ValueError, RecursionError):
        return None
    for name in ("evidence", "proof", "certificate") if isinstance(document, dict) and "evidence" in document else ():
        document = document.get(name) if isinstance(document, dict) else None
    return document if isinstance(document, dict) and isinstance(document.get("kind"), str) else None


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


def _held_against(word: str, said: str, certificate: dict[str, Any]) -> CheckFinding:
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

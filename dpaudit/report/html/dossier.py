"""What is known of one release, from all evidence about it? One page.

The number, the program, the library and the training run each have evidence of their own, or are named as not examined.
What one piece says against another is said first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.evidence.records import Verdict
from dpaudit.privacy import Claim
from dpaudit.report.html.templates import environment
from dpaudit.report.text.phrases import claim_words
from dpaudit.report.text.questions import KINDS, answers, kinds_of
from dpaudit.report.view import View, view

GRAVEST = (
    Verdict.VIOLATED,
    Verdict.INVALID,
    Verdict.INCONCLUSIVE,
    Verdict.NO_CLAIM,
    Verdict.NOT_VIOLATED,
    Verdict.PROVED,
)
"""Verdicts from the worst to the best."""

_WORDS = {
    Verdict.VIOLATED: "A claim about this release is false.",
    Verdict.INVALID: "Some of the runs cannot be trusted, so nothing is concluded from them.",
    Verdict.INCONCLUSIVE: "Some of the evidence could not decide.",
    Verdict.NO_CLAIM: "Some of the evidence states no claim to be judged.",
    Verdict.NOT_VIOLATED: "No evidence contradicts the claim. This is not a proof of privacy.",
    Verdict.PROVED: "Every piece of evidence proves the claim, each within its own scope.",
}


@dataclass(frozen=True, slots=True)
class Instrument:
    """What one kind of evidence is about, the evidence there is, and the command that makes it."""

    about: str
    command: str
    found: list[tuple[View, str]]


def gravest_word(all_evidence: Sequence[Evidence]) -> str:
    """Return the gravest verdict as a word, with the statements that any of the evidence rests on."""
    verdict = gravest(all_evidence)
    given = (
        [] if verdict is not Verdict.PROVED else [qualified(each).removeprefix(str(verdict)) for each in all_evidence]
    )
    return str(verdict).upper() + ",".join(filter(None, dict.fromkeys(given)))


def gravest(all_evidence: Sequence[Evidence]) -> Verdict:
    """Return the worst verdict of several."""
    return min((each.verdict for each in all_evidence), key=GRAVEST.index)


def dossier_page(
    name: str, all_evidence: Sequence[Evidence], links: Sequence[str], context: Mapping[str, Any] | None = None
) -> str:
    """Return the page about a release."""
    views = [view(each) for each in all_evidence]
    verdict = gravest(all_evidence)
    instruments = [
        Instrument(
            about,
            command,
            [(shown, link) for shown, link in zip(views, links, strict=True) if kind in kinds_of(shown.evidence)],
        )
        for kind, (about, command) in KINDS.items()
    ]
    claims = dict.fromkeys(claim_words(each.claimed) for each in all_evidence if each.claimed is not None)
    return (
        environment()
        .get_template("dossier.html.j2")
        .render(
            name=name,
            verdict=gravest_word(all_evidence),
            tone=str(verdict).replace(" ", "-"),
            sentence=_WORDS[verdict],
            claims=list(claims),
            against=list(contradictions(all_evidence)),
            pressing=[(shown, line) for shown in views for line in shown.pressing_lines],
            instruments=instruments,
            questions=answers(all_evidence, context or {}),
            views=list(zip(views, links, strict=True)),
        )
    )


def contradictions(all_evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what one piece of evidence says against another, or leaves for a reader to explain."""
    claims = dict.fromkeys(claim_words(each.claimed) for each in all_evidence if each.claimed is not None)
    if len(claims) > 1:
        yield f"The evidence is about different claims: {'; '.join(claims)}."
    relations = dict.fromkeys(each.relation for each in all_evidence if not each.relation.startswith("queries"))
    if len(relations) > 1:
        yield f"The evidence is about different neighbours: {'; '.join(relations)}."
    yield from _apart(all_evidence)
    for above in all_evidence:
        for below in all_evidence:
            if _exceeds(below, above):
                shown, limit = view(below).cell("lower"), view(above).cell("upper")
                yield (
                    f"{below.target.name} loses more than {above.target.name} is certified to: "
                    f"{shown} in {below.id[:13]}…, {limit} in {above.id[:13]}…. "
                    "Either they are not about the same release, or one of them is wrong."
                )


def _apart(all_evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield what evidence about functions has not in common: the function, or its code."""
    coded = [each.target for each in all_evidence if each.target.digest is not None and each.accounting is None]
    digests = {name: {each.digest for each in coded if each.name == name} for name in (each.name for each in coded)}
    for name, known in digests.items():
        if len(known) > 1:
            yield f"The evidence is about different code of {name}: {len(known)} digests. Make all of it anew."
    if len(digests) > 1 and len(set.union(*digests.values())) > 1:
        yield (
            f"The evidence is about different functions: {'; '.join(digests)}. Nothing in it says that they belong to "
            "one release, and what one piece shows says nothing of the others."
        )


def _exceeds(below: Evidence, above: Evidence) -> bool:
    """Whether a lower bound is above an upper bound of the same parameter, δ and neighbours."""
    if above.upper is None or below is above or below.verdict is Verdict.INVALID:
        return False
    same = _notion(below.claimed) == _notion(above.claimed) and below.relation == above.relation
    return same and below.lower.parameter == above.upper.parameter and below.lower.value > above.upper.value


def _notion(claim: Claim | None) -> tuple[str, float] | None:
    return None if claim is None else (claim.notion, claim.delta)

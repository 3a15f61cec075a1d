"""What is one kind of proof? What it is asked, what it finds, and what its record must say for it to hold.

A kind is one object: it proves, it checks the record that it wrote, and it reads the program of a record again. What
several kinds have in common stands here: how a certificate is held against the evidence around it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.checker import KINDS, CertificateError, Checked, check_certificate
from dpaudit.decimals import limit_of
from dpaudit.evidence import canonical_json, records
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours import Relation, digest
from dpaudit.neighbours.domain import GivenMove
from dpaudit.privacy import Claim, PureDP
from dpaudit.targets.mechanism import Mechanism
from dpaudit.verify.certificate import as_text, rounded

if TYPE_CHECKING:
    from dpaudit.verify.counterexample import ExactCounterexample
    from dpaudit.verify.exact import ExactLoss

for _module in KINDS.values():  # before a program is run, which could bring modules of the same names
    import_module(f"dpaudit.checker.{_module}")

UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
"""What reading a record raises that is not what it should be."""


class NotShownError(Exception):
    """The record of a proof does not show what the evidence states; the message says where."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a proof is asked."""

    mechanism: Mechanism  # a program
    parameters: Mapping[str, Any]  # all of them
    relation: str | Relation | None = None  # which data are neighbours; None for the mechanism's own
    length: int | None = None  # how many answers; None for any number of them
    # "real" or "integer" answers, what each column of a frame holds, or all datasets; None for real answers
    domain: Any = None
    claim: Claim | None = None  # whose notion is bounded, where a kind bounds several
    runs: int = 0  # what runs are meant for a counterexample to be confirmed by; 0 for none
    seed: int = 0  # of the search for one
    data: Any = None  # a frame that has to be within the domain
    keep: bool = False  # whether the datasets of a domain are kept
    seconds: float | None = None  # of the CPU, for the reading of a function as it is; None for a few
    given: tuple[GivenMove, ...] = ()  # how far the values move that some lines assign, where those are not read


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was found without sampling: a proof, its bound, and a counterexample.

    ``upper`` is None without a finite bound. ``pair`` is the pair to audit, within the scope of the proof. A proof may
    come with an ``exact_counterexample``, and an enumeration comes with its ``loss``.
    """

    proof: records.Proof
    kind: str  # of the upper bound: "proof" or "exact"
    relation: Relation
    upper: Fraction | None  # in nats; for an exact loss, a float above it
    upper_text: str | None
    pair: tuple[Any, Any]
    counterexample: records.Counterexample | None = None
    exact_counterexample: ExactCounterexample | None = None
    loss: ExactLoss | None = None
    notion: Claim = field(default_factory=lambda: PureDP(0.0))  # what the upper bound bounds

    def least(self, delta: float) -> tuple[Fraction | None, str]:
        """A certain lower bound of ε at δ (None if infinite, 0 if nothing is known), and its text."""
        if self.exact_counterexample is not None:
            least = self.exact_counterexample.least(limit_of(delta, toward=1.0))
            return least, "infinite" if least is None else str(least)
        if self.loss is None or delta > 0:
            return Fraction(0), "0"
        if self.loss.exp_epsilon is None:
            return None, "infinite"
        return Fraction(self.loss.epsilon[0]), f"ln({self.loss.exp_epsilon})"

    def within(self, claim: Claim) -> bool:
        """Whether the upper bound is at most the claim, decided exactly."""
        if self.upper is None:
            return False
        if self.loss is not None:
            return self.loss.within(claim.value)
        return bool(self.upper <= limit_of(claim.value, toward=0.0))


@dataclass(frozen=True, slots=True)
class CheckedProof:
    """What the record of a proof shows, having been checked."""

    sentences: tuple[str, ...]  # what was checked, for people to read
    unseen: str = ""  # what of the proof is not in the file, so that nobody can check it; empty where all of it is


@dataclass(frozen=True)
class ProofKind:
    """One kind of proof."""

    method: str  # what evidence calls it
    title: str  # what findings about it are called
    reads: str  # what of the program stands in a record
    prove: Callable[[Goal], Conclusion]  # from what is asked to what is found; its record is ``proof``
    # whether the record of evidence shows what the evidence states. Raises `NotShownError` where it does not, and
    # any of `UNREADABLE` where it is none.
    check: Callable[[Evidence, records.Proof], CheckedProof]
    # whether the program of now is that of the record; None where the record does not hold it
    read_again: Callable[[Evidence, records.Proof, Goal], bool | None]
    # the domain that a proof was asked for, as far as its record says it; None where it does not
    domain: Callable[[records.Proof], Any]
    only_epsilon: bool = True  # whether nothing but ε is bounded


def named(conclusion: Conclusion, name: str) -> Conclusion:
    """Return what was found, with records that call the program what the evidence calls it."""
    record = None if conclusion.counterexample is None else conclusion.counterexample.record
    for each in (conclusion.proof.certificate, conclusion.proof.derived, record):
        if each is not None and "mechanism" in each:
            each["mechanism"]["name"] = name
    return conclusion


# --- a certificate, and the evidence around it --------------------------------------------------------------


def certified(evidence: Evidence, proof: records.Proof, kinds: tuple[str, ...]) -> Checked:
    """Return what the certificate of a proof shows, having compared it with what is stated of program and bound."""
    try:
        checked = check_certificate(proof.certificate)
    except CertificateError as error:
        raise NotShownError(str(error)) from None
    if checked.kind not in kinds:
        raise NotShownError(f"the certificate is none by {proof.method}")
    upper = evidence.upper
    if upper is None or (upper.exact, upper.value) != (str(checked.bound), rounded(Fraction(checked.bound), "upper")):
        stated = "nothing" if upper is None else upper.exact
        if upper is not None and upper.exact == str(checked.bound):
            stated = f"{upper.value:.10g} as a decimal"
        raise NotShownError(f"the certificate shows {checked.statement}, and {stated} is stated")
    refuse(unlike_target(evidence, checked.mechanism, checked.scope["parameters"]))
    return checked


def refuse(why: str) -> None:
    """Raise `NotShownError` unless there is nothing to say."""
    if why:
        raise NotShownError(why)


def unlike_target(evidence: Evidence, mechanism: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """Why a certificate or counterexample is about another program than the target; empty if nothing suggests it."""
    target = evidence.target
    own = f"sha256:{target.digest}" if target.digest else ""
    if mechanism["source"] != own:
        return "it is of another source than the target"
    if mechanism["name"] != target.name:
        return f"it is of {mechanism['name']!r:.80}, and the target is {target.name}"
    for name, value in target.parameters.items():
        if name not in parameters or not _same_parameter(parameters[name], value):
            return f"it is not for {name} = {value!r:.80}"
    more = parameters.keys() - target.parameters.keys()
    return f"it is for a parameter {min(more)!r:.80} that is not stated" if more else ""


def _same_parameter(text: Any, value: Any) -> bool:
    """Whether a parameter of a scope equals the stated one.

    Older certificates write tuples as Python does, and older evidence does so for fractions.
    """
    if text == as_text(value):
        return True
    try:
        if isinstance(value, str) and value.startswith("Fraction("):
            return repr(Fraction(text)) == value
        return isinstance(value, list) and canonical_json.plain_value(ast.literal_eval(text)) == value
    except (ValueError, ZeroDivisionError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False


def domain_of(proof: records.Proof) -> Any:
    """Return the domain that a proof keeps; None if it keeps none."""
    return None if proof.domain is None else digest.read_kept(proof.domain)

"""Is a certificate of releases about what the evidence states?"""

from __future__ import annotations

from fractions import Fraction

from dpaudit.checker import Checked
from dpaudit.decimals import limit_of
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.privacy import PureDP
from dpaudit.review.check.counterexample import another_program, same_parameter
from dpaudit.verify.releases.alone import prices_alone
from dpaudit.verify.releases.derive import NOTIONS, scope_text
from dpaudit.verify.scope import rounded


def unlike_releases(evidence: Evidence, checked: Checked) -> str:
    """Say what differs between a checked certificate and what is stated; empty where nothing does."""
    proof, upper = evidence.proof, evidence.upper
    assert proof is not None and upper is not None
    claim = evidence.claimed or PureDP(0.0)
    if upper.exact != str(checked.bound) or upper.value != rounded(Fraction(checked.bound), "upper"):
        return f"the certificate shows {checked.statement}, and {upper.exact} is stated"
    if NOTIONS.get(type(claim)) != checked.notion or limit_of(claim.delta, toward=0.0) < checked.delta:
        return f"the certificate is about {checked.statement}, and the claim is {claim}"
    scope = checked.scope
    relation = Relation(scope["relation"], group=scope["group"], person=scope["person"])
    if relation != parse_relation(evidence.relation):
        return f"it holds under {relation}, and {evidence.relation} is stated"
    if proof.scope != scope_text(relation, scope["parameters"]) or proof.length is not None:
        return f"it holds for {scope_text(relation, scope['parameters'])}, and {proof.scope} is stated"
    stated = evidence.target.parameters
    if scope["parameters"].keys() != stated.keys():
        return "it is for other parameters than are stated"
    for name, value in stated.items():
        if not same_parameter(scope["parameters"][name], value):
            return f"it is not for {name} = {value!r:.80}"
    if proof.prices and proof.prices != prices_alone(proof.certificate or {}):
        return "its releases have other prices than are stated"
    return another_program(evidence, checked.mechanism)

"""How does a proof get from records, or from its draws, to its bound? In words that a reviewer can follow.

The certificate has the releases with their movements, and the proof what each costs by itself. How accurate a release
is follows from the law of its noise alone.

The certificate of an alignment is a tree, or a step that is repeated, with the shift of every draw on every path; that
of lists of numbers has releases, and how far a number moves them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import DOES_NOT_HOLD, NOT_ACCEPTED, Bound, Proof, Verdict
from dpaudit.privacy import Claim
from dpaudit.report.document import (
    Block,
    Bullets,
    Facts,
    Group,
    Heading,
    Section,
    Span,
    StepsBlock,
    Text,
    Verbatim,
    code,
    plainly,
    points,
    said,
    section,
    words,
)
from dpaudit.report.text.phrases import (
    answers,
    claim_words,
    contradicting,
    count_text,
    exact_lower,
    full_text,
    proved_for,
    symbol,
    upper_text,
    without_bound,
)

# --- How does a proof get from records to its bound? -----------------------------------------------------

MOST_SHOWN = 12  # releases; the certificate has all of them
_BEYOND = 0.05  # how often noise goes farther than is said of its accuracy
_MOST_TERMS = 2  # of a movement, and numbers of a vector
_LETTERS = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}
_LAWS = {
    "laplace": "Laplace noise",
    "discrete_laplace": "discrete Laplace noise",
    "gaussian": "Gaussian noise",
    "discrete_gaussian": "discrete Gaussian noise",
    "select": "exponential mechanism",
    "laplace_threshold": "Laplace noise",
    "propose_test_release": "a test of the lead, with Laplace noise",
    "truncated_laplace": "truncated Laplace noise",
    "randomised_response": "randomised response",
    "noisy_max": "the largest of several, with noise",
    "above_threshold": "comparisons with a threshold with Laplace noise",
}
_SPENDING = ("laplace_threshold", "propose_test_release", "truncated_laplace")
_OUTCOMES = {Verdict.PROVED: "kept", Verdict.VIOLATED: "refuted by runs", Verdict.INVALID: "the runs decide nothing"}


@dataclass(frozen=True, slots=True)
class ReleaseLink:
    """One release: where it is made, how far one record moves what it protects, by which law, and what it costs.

    ``within`` is how far its noise goes in 95 % of all draws, by its law; empty for laws that add no number.
    """

    place: str
    code: str
    moves: str
    law: str
    price: str
    within: str


@dataclass(frozen=True, slots=True)
class Chain:
    """From records to the claim: the data and their neighbours, the releases, how they compose, bound and claim."""

    data: tuple[str, ...]
    neighbours: str
    releases: tuple[ReleaseLink, ...]
    left_out: str
    composition: tuple[str, ...]
    bound: str
    claim: str
    keeps_claim: bool

    @property
    def brief(self) -> str:
        """The chain in a line."""
        shown = [f"{each.place} {each.law}, {each.price}" for each in self.releases[:3]]
        return "; ".join([*shown, *(["…"] if len(self.releases) > len(shown) or self.left_out else [])])


def chain(evidence: Evidence) -> Chain | None:
    """Return the chain of a proof from records; None if there is no such proof, or its certificate does not hold."""
    proof, upper = evidence.proof, evidence.upper
    if proof is None or upper is None or proof.certificate is None or not proof.prices:
        return None
    given, prices = proof.certificate, proof.prices
    try:
        listed = _listed(given, prices)
        releases = tuple(_link(given, *each) for each in listed[:MOST_SHOWN])
        composition = tuple(_composition(given, releases, len(listed)))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None  # it is no such certificate; a check says why
    claim = evidence.claimed
    kept = ""
    if claim is not None:
        kept = f"{claim_words(claim)}: {_OUTCOMES.get(evidence.verdict, 'not reached, which refutes nothing')}"
        kept += f", {proof.granted}" if proof.given else ""
    left = len(listed) - len(releases) + max(0, len(given["releases"]) - len(prices))
    return Chain(
        data=tuple(_data(proof.domain)),
        neighbours=evidence.relation,
        releases=releases,
        left_out=f"and {count_text(left)} more, in the certificate" if left else "",
        composition=composition,
        bound=full_text(upper, claim),
        claim=kept,
        keeps_claim=evidence.verdict is Verdict.PROVED,
    )


def _listed(given: dict[str, Any], prices: Sequence[str]) -> list[tuple[dict[str, Any], str, int]]:
    """Return the releases with their prices, in the order of the program, each with how often it stands there."""
    releases: dict[str, tuple[dict[str, Any], str, int]] = {}
    for release, price in zip(given["releases"], prices, strict=False):
        key = repr({**release, "sample": release["sample"] is not None})
        releases[key] = (release, price, releases[key][2] + 1 if key in releases else 1)
    return list(releases.values())


def _link(given: dict[str, Any], release: dict[str, Any], price: str, counted: int) -> ReleaseLink:
    place, _, code = str(release["line"]).partition(" ")
    times = counted * release["times"]
    price = _price(price, release["law"])
    if times > 1:
        price = f"{price}, {count_text(times)} times"
    law = _LAWS[release["law"]]
    if release["law"] == "select":
        law += f" at the rate {short_number(1 / Fraction(release['scale']))}"
    elif release["law"] != "randomised_response":
        law += f" of {'σ' if 'gaussian' in release['law'] else 'scale'} {short_number(Fraction(release['scale']))}"
    if code.startswith("(in units"):
        law, code = f"{law} {code[1:-1]}", ""
    law += "".join(f", {name} {short_number(Fraction(value))}" for name, value in release["details"].items())
    if release["sample"] is not None:
        law += f", on a sample at the rate {short_number(Fraction(given['samples'][release['sample']]['rate']))}"
    columns = [str(each["name"]) for each in given["columns"]]
    within = noise_reach(release["law"], float(Fraction(release["scale"])))
    return ReleaseLink(place, code.removeprefix("(").removesuffix(")"), _moves(release, columns), law, price, within)


def noise_reach(law: str, scale: float) -> str:
    """Return how far noise of a law goes in 95 % of all draws, rounded up.

    Laplace noise of scale b exceeds a with probability e^(−a/b); discrete Laplace noise exceeds the whole number k
    with probability 2·q^(k+1)/(1+q), q = e^(−1/b); Gaussian noise exceeds 1.96σ in 5 %, and discrete Gaussian noise is
    summed up to where that is reached.
    """
    if not 0 < scale < math.inf:
        return ""
    if law == "laplace":
        return _grouped(upper_text(scale * math.log(1 / _BEYOND)))
    if law == "gaussian":
        return _grouped(upper_text(scale * NormalDist().inv_cdf(1 - _BEYOND / 2)))
    if law == "discrete_laplace":
        q = math.exp(-1 / scale)
        return count_text(max(0, math.ceil(scale * math.log(2 / ((1 + q) * _BEYOND)) - 1)))
    if law == "discrete_gaussian" and scale < 1e4:
        weights = [math.exp(-((k / scale) ** 2) / 2) for k in range(math.ceil(10 * scale) + 2)]
        beyond = 2 * sum(weights) - weights[0]
        allowed, reach = _BEYOND * beyond, 0
        beyond -= weights[0]
        while beyond > allowed:
            reach += 1
            beyond -= 2 * weights[reach]
        return count_text(reach)
    return ""


def _price(price: str, law: str) -> str:
    notion, _, value = price.partition("=")
    return f"{_LETTERS[notion]} = {short_number(Fraction(value))}{' and a δ' if law in _SPENDING else ''}"


def _composition(given: dict[str, Any], releases: Sequence[ReleaseLink], distinct: int) -> list[str]:
    told, notion, delta = [], given["notion"], Fraction(given["delta"])
    if given["samples"]:
        told.append("what is made of one sample is amplified together")
    if given.get("account") is not None:
        told.append("all releases are accounted for together, with a certificate of their own")
    elif distinct == 1 and releases[0].price.startswith(_LETTERS[notion]) and "times" not in releases[0].price:
        told.append("one release")
    elif notion == "mu":
        told.append("the squares of all μ of a path add up, for the kind of records for which they are largest")
    else:
        told.append("all releases of a path add up, for the kind of records for which they are largest")
    if len(given["paths"]) > 1:
        told.append(f"of {count_text(len(given['paths']))} paths the largest sum counts")
    has_gaussian = any("gaussian" in release["law"] for release in given["releases"])
    if delta and has_gaussian and given.get("account") is None:
        told.append("what Gaussian noise loses is stated at the δ of the claim")
    group = given["scope"]["group"]
    if group > 1:
        told.append(f"times {group}{'²' if notion == 'rho' else ''}, for a group of {group}")
    return told


def _data(domain: str | None) -> list[str]:
    told = ["data frames of any length"]
    try:
        columns = json.loads(domain or "null")
    except (ValueError, RecursionError):
        columns = None
    if isinstance(columns, dict):
        told += [f"{name}: {_allowed(given)}" for name, given in list(columns.items())[:8]]
        told += ["…"] if len(columns) > 8 else []
    return told


def _allowed(given: Any) -> str:
    if isinstance(given, dict) and len(given.get("$tuple", ())) == 2:
        low, high = (count_text(end) if isinstance(end, int) else str(end) for end in given["$tuple"])
        return f"from {low} to {high}"
    values = list(given) if isinstance(given, list) else [json.dumps(given, ensure_ascii=False)[:40]]
    shown = ", ".join("missing" if each is None else str(each) for each in values[:4])
    return shown if len(values) <= 4 else f"{shown}, … ({count_text(len(values))} values)"


def _moves(release: dict[str, Any], columns: Sequence[str]) -> str:
    values = release["values"]
    told = [_movement(each, columns) for each in values[:_MOST_TERMS]]
    if len(values) == 1:
        return told[0]
    more = "; …" if len(values) > _MOST_TERMS else ""
    return f"{count_text(len(values))} numbers: {'; '.join(told)}{more}"


def _movement(value: dict[str, Any], columns: Sequence[str]) -> str:
    if "ball" in value:
        term = value["ball"]
        far = short_number(Fraction(term["high"]))
        return f"a record adds a vector of length {far} at most{_where(term, columns)}"
    terms = value["terms"]
    told = [f"{_interval(each)}{_where(each, columns)}" for each in terms[:_MOST_TERMS]]
    told += ["…"] if len(terms) > _MOST_TERMS else []
    told += [f"no farther than where {_inner(each['inner'], columns)}" for each in value["bent"][:_MOST_TERMS]]
    return f"a record adds {', '.join(told)}" if terms else ", ".join(told) or "no record moves it"


def _inner(inner: dict[str, Any] | list[dict[str, Any]], columns: Sequence[str]) -> str:
    listed = inner if isinstance(inner, list) else [inner]
    more = " or …" if len(listed) > _MOST_TERMS else ""
    return " or ".join(_movement(each, columns) for each in listed[:_MOST_TERMS]) + more


def _interval(term: dict[str, Any]) -> str:
    low, high = (short_number(Fraction(term[end])) for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def _where(term: dict[str, Any], columns: Sequence[str]) -> str:
    told = [_condition(each, columns) for each in term["if"][:3]]
    return f" if {' and '.join(told)}{' …' if len(term['if']) > 3 else ''}" if told else ""


def _condition(condition: Sequence[Any], columns: Sequence[str]) -> str:
    number, operator, operand, holds = condition
    name = columns[number]
    if operator == "missing":
        return f"{name} is {'' if holds else 'not '}missing"
    shown = short_number(Fraction(operand[1])) if operand[0] == "number" else str(operand[1])
    sign = {("<", True): "<", ("<", False): "≥", ("<=", True): "≤", ("<=", False): ">", ("==", True): "="}
    return f"{name} {sign.get((operator, holds), '≠')} {shown}"


def _grouped(text: str) -> str:
    return count_text(int(text)) if text.isdecimal() else text


def short_number(value: Fraction) -> str:
    """Return a number as it is best read: a short fraction as it is, or decimals."""
    text = str(value)
    if value.denominator == 1 and len(text) <= 12:
        return count_text(int(value))
    if len(text) <= 7:
        return text
    return upper_text(float(value)) if value > 0 else f"{float(value):.4g}"


# --- Which noise does a proof rest on, and what does each draw or release have to hide? ------------------

_PHASES = {"init": "before the first answer", "step": "for every answer", "end": "after the last answer"}
_LAWS_OF_DRAWS = {
    "laplace": "Laplace noise of scale {}",
    "discrete_laplace": "discrete Laplace noise of scale {}",
    "gaussian": "Gaussian noise of σ {}",
    "gumbel": "Gumbel noise of scale {}",
    "exponential": "exponential noise of scale {}",
    "uniform": "uniform noise from 0 to {}",
    "exponentials": "chances that follow exponentials of scores",
    "": "chances that follow from the data",
}


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """What is released or drawn, as a table: its rows, how they make the bound, and the bound."""

    releases: tuple[ReleaseLink, ...]
    left_out: str
    composition: tuple[str, ...]
    bound: str
    by: str = "One record moves it"  # what the second column says
    first: str = "Line"


def released(evidence: Evidence) -> ReleasedTable | None:
    """Return what a proof is of; None where there is no proof, or nothing is drawn one by one."""
    known = chain(evidence)
    if known is not None:
        return ReleasedTable(known.releases, known.left_out, known.composition, known.bound)
    proof, upper = evidence.proof, evidence.upper
    if proof is None or upper is None or proof.certificate is None:
        return None
    given = proof.certificate
    try:
        kind = given["kind"]
        rows = list({"moves": _released, "tree": _drawn, "fold": _drawn}[kind](given))
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return None  # it is no such certificate; a check says why
    if not rows:
        return None
    length = "for any length"
    if proof.length is not None:
        many = answers(proof.length)
        length = f"for exactly {many.replace('answer', 'number') if kind == 'moves' else many}, not for fewer or more"
    told = {
        "moves": "what one number moves adds up over all releases, for the number for which it is most",
        "fold": "the most that all answers together can cost, which each state of the loop is allowed",
    }.get(kind, "along the path that costs most; the same draw need not cost most on the same path")
    return ReleasedTable(
        tuple(rows[:MOST_SHOWN]),
        f"and {count_text(len(rows) - MOST_SHOWN)} more, in the certificate" if len(rows) > MOST_SHOWN else "",
        (told, length),
        full_text(upper, evidence.claimed),
        by="One number moves it" if kind == "moves" else "Has to hide",
        first="Line" if kind == "moves" else "Drawn",
    )


def _released(given: Mapping[str, Any]) -> Iterator[ReleaseLink]:
    """Yield the releases of n numbers, each with the farthest that one number moves it."""
    most = {each["node"]: max(map(Fraction, each["most"])) for each in given["moves"]}
    for release in given["releases"]:
        law, scale = release["law"], Fraction(release["scale"])
        far = max((most.get(value, Fraction(0)) for value in release["values"]), default=Fraction(0))
        place, _, code = str(release["line"]).partition(" ")
        letter = "μ" if law == "gaussian" else "ε"
        moved = f"{short_number(far)} at most" + (", each" if len(release["values"]) > 1 else "")
        reach = noise_reach(law, float(scale)) if release["how"] == "added" else ""
        yield ReleaseLink(place, code, moved, _law(law, scale), f"{letter} = {short_number(far / scale)}", reach)


@dataclass(slots=True)
class _Draw:
    """A draw at its place, and the largest shift that hides a neighbour; None where a leaf has none of its own."""

    law: str
    scale: Fraction
    shift: Fraction = Fraction(0)


def _drawn(given: Mapping[str, Any]) -> Iterator[ReleaseLink]:
    """Yield the draws of a tree in their order, alike ones as one; or those of each phase of a repeated step."""
    if given["kind"] == "fold":
        widest: dict[tuple[str, str, Fraction], Fraction] = {}
        for phase, nodes in _phases(given):
            for draw in _draws(nodes, {}).values():
                key = phase, draw.law, draw.scale
                widest[key] = max(widest.get(key, draw.shift), draw.shift)
        for (phase, law, scale), shift in widest.items():
            yield _row(_PHASES[phase], _Draw(law, scale, shift))
        return
    draws = _draws(given["nodes"], dict(enumerate(given.get("classes", ()))))
    alike: list[tuple[int, int, _Draw]] = []
    for (place, _, _), draw in sorted(draws.items(), key=lambda each: each[0][0]):
        if alike and alike[-1][2] == draw:
            alike[-1] = (alike[-1][0], place, draw)
        else:
            alike.append((place, place, draw))
    for first, last, draw in alike:
        yield _row(f"draw {first + 1}" if first == last else f"draws {first + 1} to {last + 1}, each", draw)


def _phases(given: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    yield "init", given["init"]
    for state in given["states"]:
        yield "step", state["step"]
        if state["end"] is not None:
            yield "end", state["end"]


def _draws(nodes: Sequence[Mapping[str, Any]], classes: Mapping[int, Any]) -> dict[tuple[int, str, Fraction], _Draw]:
    """Return the draws of a tree by their number on a path, law and scale, with the largest shift of each.

    Raises:
        ValueError: if a leaf states no shift of each draw, as where densities are coupled.
    """
    draws: dict[tuple[int, str, Fraction], _Draw] = {}
    above: dict[int, tuple[_Draw, ...]] = {0: ()}
    for number, node in enumerate(nodes):
        path = above.pop(number)
        if "draw" in node:
            key = len(path), node["draw"], Fraction(node["scale"])
            draw = draws.setdefault(key, _Draw(*key[1:]))
            above[node["then"]] = (*path, draw)
        elif "leaf" in node:
            named = classes[node["class"]] if "class" in node else {}
            for shift in _shifts([{name: value for name, value in node.items() if name != "leaf"}, named]):
                for draw, far in zip(path, shift, strict=True):
                    draw.shift = max(draw.shift, abs(Fraction(far)))
        elif "dead" not in node:
            ways = (
                node["then"] if "argmax" in node else [node[way] for way in ("<", "<=", "=", ">=", ">") if way in node]
            )
            above.update(dict.fromkeys(ways, path))
    return draws


def _shifts(given: Any) -> Iterator[Sequence[Any]]:
    """Yield every shift that stands somewhere in a leaf."""
    if isinstance(given, Mapping):
        if "shift" in given:
            yield given["shift"]
        if "couplings" in given or "coupling" in given:
            raise ValueError("densities are coupled, draw by draw")
    for each in given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ():
        yield from _shifts(each)


def _row(place: str, draw: _Draw) -> ReleaseLink:
    far, price = short_number(draw.shift), short_number(draw.shift / draw.scale)
    moved = f"{far} at most" if draw.shift else "nothing"
    reach = noise_reach(draw.law, float(draw.scale))
    return ReleaseLink(place, "", moved, _law(draw.law, draw.scale), f"ε = {price}", reach)


def _law(law: str, scale: Fraction) -> str:
    return _LAWS_OF_DRAWS[law].format(short_number(scale))


# --- What does a page say of a proof? --------------------------------------------------------------------


def proof_section(evidence: Evidence) -> Iterator[Section]:
    """Yield the section on the proof, if one was tried."""
    proof, upper = evidence.proof, evidence.upper
    if proof is None:
        return
    facts, check = (
        list(_proof_facts(evidence, proof)),
        Text(said("proof.unchecked", finite=" without a finite bound" * (upper is None))),
    )
    if proof.certificate is not None:
        size = _size(proof.certificate)
        facts.append(("Certificate", f"{size} of JSON, in the raw evidence below"))
        check = Text(said("proof.checked", size=size))
    yield section(
        "proof",
        Text(_sentence(evidence, proof, upper, evidence.claimed)),
        steps(evidence),
        Facts(facts),
        Heading(plainly("proof.how")),
        Text(words()["proof"]["methods"].get(proof.method, "")),
        Heading(plainly("proof.outside")),
        points(_outside(proof, bounded=upper is not None)),
        Heading(plainly("proof.check")),
        check,
        None if proof.certificate is None else CHECK,
    )


CHECK = Verbatim("dpaudit check FILE", "command")


def _size(certificate: Any) -> str:
    """Return the length of a certificate as JSON."""
    size = len(json.dumps(certificate, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return f"{count_text(size)} bytes" if size < 2000 else f"{count_text(round(size / 1000))} kB"


def _proof_facts(evidence: Evidence, proof: Proof) -> Iterator[tuple[str, str]]:
    yield "Holds for" if evidence.upper is not None else "Tried for", proof.scope
    if proof.method not in ("enumeration", "releases", "moves"):
        yield "Answers", _many(proof)
    yield "Method", proof.method
    yield "Paths through the program", f"{count_text(proof.paths)}, all of them"
    compared = proof.comparison
    if compared is not None and compared.runs:
        runs = f"{count_text(compared.runs)} runs"
        told = (
            f"{count_text(compared.compared)} of {count_text(compared.paths)} paths, by {runs} that agree; "
            f"{count_text(compared.passed_over)} more came too close to a branch to say"
        )
        if proof.method == "moves":
            told = f"{runs} without noise compute what was read"
        elif proof.method == "releases":
            told = (
                runs
                if compared.open_ends
                else f"{runs} on neighbouring data frames: nothing moved farther than was derived"
            )
        yield "Compared with runs", told
    for each in proof.given:
        yield "Taken for granted", f"{each} and does nothing else: whoever asked stated it"
    for each in proof.computed:
        yield "Taken for granted", f"{each}, as runs of it say"
    if proof.derived is not None:
        yield "Computed again", "from the columns of the data to the bound, by the checker alone"
    words = {NOT_ACCEPTED: "Not accepted", DOES_NOT_HOLD: "Refuted by runs"}
    for each in () if compared is None else compared.open_ends:
        yield next((word for begin, word in words.items() if each.startswith(begin)), "Not read"), each


def steps(evidence: Evidence) -> StepsBlock | None:
    """Return the way of a proof from records to the claim; None if there is no such proof."""
    links = chain(evidence)
    if links is None:
        return None
    releases = []
    for each in links.releases:
        place = (code(each.code), Span("place", each.place))
        releases.append(Group("", [Text(place, "where"), Text(each.moves), Text(each.law), Text(each.price, "price")]))
    named: list[tuple[str, list[Block]]] = [
        ("Records", [Bullets([*links.data, f"neighbours: {links.neighbours}"], "")]),
        (
            "Releases",
            [Bullets([*releases, *([Group("", [Text(links.left_out)])] if links.left_out else [])], "releases")],
        ),
        ("Composition", [Bullets(links.composition, "")]),
        ("Bound", [Text(links.bound, "price")]),
    ]
    if links.claim:
        named.append(("Claim", [Text(links.claim)]))
    many = f"{len(releases)} release{'' if len(releases) == 1 else 's'}"
    spoken = plainly("proof.spoken", many=many)
    return StepsBlock(plainly("proof.chain"), spoken, named, "kept" if links.keeps_claim else "")


def _sentence(evidence: Evidence, proof: Proof, upper: Bound | None, claim: Claim | None) -> str:
    letter = symbol(evidence)
    open_ends = () if proof.comparison is None else proof.comparison.open_ends
    if open_ends:
        why = open_ends[0] if proof.is_refused or proof.is_refuted else "not all that can run of the program was read"
        return f"Nothing is proved of {letter}: {why}."
    if upper is None:
        text = f"No finite upper bound of {letter} was found; {without_bound(evidence)}."
        exact = exact_lower(evidence)
        infinite = exact is not None and math.isinf(exact.value)
        return text if infinite else f"{text} A proof of another kind may still find one."
    if contradicting(evidence) is not None:
        return (
            f"{full_text(upper, claim)} was proved {proved_for(proof)}, and runs contradict it: the implementation, "
            "its arithmetic, or the prover is wrong."
        )
    text = f"{full_text(upper, claim)} {proved_for(proof)}. This is certain in its scope; no run had a part in it."
    decided = evidence.verdict in {Verdict.PROVED, Verdict.VIOLATED}
    if claim is not None and upper.value > claim.value and not decided:
        text += " It does not reach the claim, which refutes nothing: the bound need not be tight."
    return text


def _many(proof: Proof) -> str:
    if proof.length is None:
        return "any number of them" if proof.method == "induction" else "as the scope says"
    return f"exactly {count_text(proof.length)}, of any value"


def _outside(proof: Proof, *, bounded: bool) -> list[tuple[str, str]]:
    """Return (name, text) of what a proof does not cover."""
    method, many = proof.method, "" if proof.length is None else answers(proof.length)
    named = ["real"]
    if method == "releases":
        named.append("frames")
    if method == "enumeration":
        named.append("enumerated")
    elif method == "moves":
        named.append("length" if proof.length is not None else "range")
        many = str(proof.length)
    elif proof.length is not None:
        named.append("answers")
    named += ["code", *(["tight"] if bounded and method != "enumeration" else [])]
    named += ["noise"] if method not in ("enumeration", "releases", "moves") else []
    limits = words()["proof"]["limits"]
    return [(name, text.format(many=many)) for name, text in (limits[each] for each in (*named, "program", "channels"))]

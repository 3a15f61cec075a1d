"""Which noise does a proof rest on, and what does each draw or release have to hide? Of proofs from no records.

The certificate of an alignment is a tree, or a step that is repeated, with the shift of every draw on every path; that
of lists of numbers has releases, and how far a number moves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.text.bound_kinds import answers
from dpaudit.report.text.chain import MOST_SHOWN, ReleaseLink, chain, noise_reach, short_number
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import full_text

_PHASES = {"init": "before the first answer", "step": "for every answer", "end": "after the last answer"}
_LAWS = {
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
class Released:
    """What is released or drawn, as a table: its rows, how they make the bound, and the bound."""

    releases: tuple[ReleaseLink, ...]
    left_out: str
    composition: tuple[str, ...]
    bound: str
    by: str = "One record moves it"  # what the second column says
    first: str = "Line"


def released(evidence: Evidence) -> Released | None:
    """Return what a proof is of; None where there is no proof, or nothing is drawn one by one."""
    known = chain(evidence)
    if known is not None:
        return Released(known.releases, known.left_out, known.composition, known.bound)
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
    return Released(
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
        found: dict[tuple[str, str, Fraction], Fraction] = {}
        for phase, nodes in _phases(given):
            for draw in _draws(nodes, {}).values():
                key = phase, draw.law, draw.scale
                found[key] = max(found.get(key, draw.shift), draw.shift)
        for (phase, law, scale), shift in found.items():
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
    found: dict[tuple[int, str, Fraction], _Draw] = {}
    above: dict[int, tuple[_Draw, ...]] = {0: ()}
    for number, node in enumerate(nodes):
        path = above.pop(number)
        if "draw" in node:
            key = len(path), node["draw"], Fraction(node["scale"])
            draw = found.setdefault(key, _Draw(*key[1:]))
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
    return found


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
    return _LAWS[law].format(short_number(scale))

"""Does the verdict of evidence follow from its counts and certificates? For reviewers, with Python alone.

Computed again are the id, every bound that has a second opinion (`dpaudit.checker.bounds`), every certificate, and the
verdict that follows. All else is named as not checked, and decides where the verdict may rest on it: a member that is
not listed here, a bound without a second opinion, a counterexample, a trace, a page. ``dpaudit check`` computes those
too, and everything beside the verdict: power, assumptions, histograms, sentences.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

from dpaudit.checker import FORMAT, CertificateError, Checked, check_certificate, check_text
from dpaudit.checker.bounds import METHODS, PURE, Hits, Notion, TooLongError, second_bound
from dpaudit.checker.certificate import notion_at, unlike

# --- What is the id of a record? The SHA-256 of its canonical JSON (RFC 8785), with the standard library alone. ---

_EXACT = 2**53  # from here on, floats do not distinguish integers, and records write them as texts


def read_record(text: str) -> Any:
    """Return the values of a JSON text, where a number beyond 2^53 is a float.

    Raises:
        ValueError: if it is no JSON, repeats a member, or holds NaN or an infinity.
    """
    return json.loads(text, object_pairs_hook=_members, parse_int=_integer, parse_constant=_refused)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands there twice")
    return members


def _integer(text: str) -> int | float:
    number = float(text)
    return number if abs(number) >= _EXACT else int(text)


def _refused(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def content_id(record: Any) -> str:
    """Return ``dpa1:`` and the SHA-256 of JSON values in canonical form; raise `ValueError` if they have none."""
    return "dpa1:" + hashlib.sha256(canonical(record)).hexdigest()


def canonical(value: Any) -> bytes:
    """Return JSON values in canonical form (RFC 8785), in UTF-8; raise `ValueError` if they have none."""
    return _written(value).encode()  # refuses a lone surrogate


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and abs(value) < _EXACT:
        return str(value)
    if isinstance(value, float):
        return _ecmascript(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_written, value))}]"
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        names = sorted(value, key=lambda name: name.encode("utf-16be"))
        return "{" + ",".join(f"{_written(name)}:{_written(value[name])}" for name in names) + "}"
    raise ValueError(f"{value!r:.40} has no canonical JSON")


def _ecmascript(value: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString): the shortest digits that give it back."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no JSON")
    if value == 0:
        return "0"
    if value < 0:
        return "-" + _ecmascript(-value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = whole + rest
    point = len(whole) + int(exponent or 0)  # the number is 0.digits · 10^point
    leading = len(digits) - len(digits.lstrip("0"))
    digits, point = digits.strip("0"), point - leading
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    shown = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{shown}e{point - 1:+d}"


# --- Does the verdict of evidence follow from its counts and certificates? For reviewers, with Python alone. ---

Record = Mapping[str, Any]

_ACCURACY = 1e-6  # relative, of a bound that is computed in another way
_SUM = 1e-9  # relative, of error levels that add up
_MOST_RUNS, _MOST_HITS = 10**12, 10**6  # that are computed with in seconds
_LOW_BITS_SHARE = 0.2  # of the error level, if low-order bits decide too
_BLOCK = "dpaudit-evidence"
_MOST_UNPACKED = 10**8  # bytes
_RECORDED = ("scores", "outputs")  # elsewhere: they cannot be run again
_UNREADABLE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
_REFUTES_NOTHING = frozenset(
    {"accuracy", "asked", "assumptions", "attempts", "block_size", "claim", "confidence", "constant", "counterexample"}
    | {"decided_in", "detectable", "detectable_on", "exact", "false_alarm", "floating_point", "histogram"}
    | {"learn", "learning", "led", "low_bits", "lower", "measuring", "observed", "pairs", "power", "proof", "reason"}
    | {"relation", "reproducible", "scores", "second", "seed", "target", "types", "unit", "upper", "verdict", "version"}
    | {"versions"}
)
"""The members beside which a verdict that is no violation stands as it is; what others find may speak against it."""


@dataclass(frozen=True, slots=True)
class EvidenceFinding:
    """One thing that was looked at: whether it holds, None where it was not checked, and a sentence.

    ``decides``: whether the verdict may rest on it.
    """

    what: str
    holds: bool | None
    sentence: str
    decides: bool = True


class UnreadableEvidenceError(ValueError):
    """A file that is no evidence, or was altered."""


def exit_code(findings: list[EvidenceFinding]) -> int:
    """Return 1 if something fails, 3 if something that the verdict may rest on was not checked, else 0."""
    if any(each.holds is False for each in findings):
        return 1
    return 3 if any(each.holds is None and each.decides for each in findings) else 0


def check(text: str) -> Iterator[EvidenceFinding]:
    """Yield what was found of the text of a file: evidence, a page that holds it, or a bare certificate.

    Raises:
        UnreadableError: if it is none of these, or the record of evidence was altered.
    """
    is_page = text.lstrip().startswith("<")
    try:
        document = read_record(_block(text) if is_page else text)
    except (ValueError, RecursionError) as error:
        document = None
        if f'"{FORMAT}"' not in text or is_page:
            raise UnreadableEvidenceError(f"it cannot be read: {error}") from None
    if document is None or (isinstance(document, dict) and document.get("format") == FORMAT):
        yield _bare(text)
        return
    record = _record(document)
    yield EvidenceFinding("id", True, f"the record hashes to {document['id']}")
    if is_page:
        yield EvidenceFinding("page", None, "what the page shows was not compared with the evidence that is in it")
    try:
        yield from _checked(record)
    except _UNREADABLE as error:
        yield EvidenceFinding("evidence", False, f"what it says cannot be read: {error!r:.200}")


def _block(page: str) -> str:
    """Return the evidence that a page holds, as JSON; raise `ValueError` unless there is one."""
    finder = _Lookup()
    finder.feed(page)
    finder.close()
    if len(finder.blocks) != 1:
        raise ValueError(f"the page holds {len(finder.blocks)} blocks of evidence")
    return _unpacked(finder.blocks[0]) if finder.blocks[0].startswith("H4s") else finder.blocks[0]


def _unpacked(text: str) -> str:
    """Return what is written as gzip, in base64; raise `ValueError` for anything else."""
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(base64.b64decode(text, validate=True), _MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"what the page holds cannot be unpacked: {error}") from None
    if not reader.eof or reader.unused_data:
        raise ValueError(f"what the page holds is cut, goes on after its end, or is larger than {_MOST_UNPACKED} bytes")
    return data.decode()


class _Lookup(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and dict(attrs).get("id") == _BLOCK:
            self._inside = True
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.blocks[-1] += data


def _bare(text: str) -> EvidenceFinding:
    try:
        return EvidenceFinding("certificate", True, " ".join(check_text(text).sentences))
    except CertificateError as error:
        return EvidenceFinding("certificate", False, str(error))


def _record(document: Any) -> Record:
    if not isinstance(document, dict) or not isinstance(document.get("evidence"), dict):
        raise UnreadableEvidenceError("it is no evidence of dpaudit")
    record: Record = document["evidence"]
    try:
        own = content_id(record)
    except (ValueError, RecursionError) as error:
        raise UnreadableEvidenceError(f"its record has no id: {error}") from None
    if own != document.get("id"):
        raise UnreadableEvidenceError(
            f"it was altered: it says {document.get('id')!r:.80}, and its record hashes to {own}"
        )
    if record.get("version") != 1 or type(record["version"]) is not int:
        raise UnreadableEvidenceError(f"it is of version {record.get('version')!r:.20}, and this file reads version 1")
    return record


# --- the verdict ------------------------------------------------------------------------------------------------

_MORE = (("epsilon", "delta"), ("epsilon", "order"))
"""The parameters of claims that have two."""


@dataclass(frozen=True, slots=True)
class _Claim:
    notion: Notion
    value: float
    limit: Fraction  # the decimal that is written, or a little less

    @classmethod
    def of(cls, text: str) -> _Claim:
        given = [(name.strip(), float(value)) for name, _, value in (each.partition("=") for each in text.split(","))]
        numbers = dict(given)
        parameter = next(name for name in ("epsilon", "mu", "rho") if name in numbers)
        more = numbers.keys() - {parameter}
        finite = all(0 <= value < math.inf for value in numbers.values()) and numbers.get("order", 2) > 1
        if len(given) > len(numbers) or not finite or (more and (parameter, *more) not in _MORE):
            raise ValueError(f"the claim {text:.60} cannot be read")
        notion = Notion(parameter, numbers.get("delta", 0.0), numbers.get("order"))
        return cls(notion, numbers[parameter], _limit(numbers[parameter]))


def _limit(value: float) -> Fraction:
    """Return the decimal that Python writes for a float; of more than 15 digits the next float toward 0."""
    written = Decimal(repr(value))
    return Fraction(written) if len(written.normalize().as_tuple().digits) <= 15 else Fraction(math.nextafter(value, 0))


def _checked(record: Record) -> Iterator[EvidenceFinding]:
    """Yield what holds of a record whose id is right."""
    claim = None if record["claim"] is None else _Claim.of(record["claim"])
    if record.get("accounting") is not None:
        yield from _accounted(record)
        return
    if record.get("training") is not None:
        yield from _certified(record["training"]["certificates"], [])
        yield EvidenceFinding(
            "verdict", None, "what follows from a training loop that was watched was not computed again"
        )
        return
    notion = _notion(record, claim)
    bounds = [_Bound.of(record, number, notion) for number in range(len(record["attempts"]))]
    for bound in bounds:
        yield bound.finding
    yield from _shares(record, bounds)
    yield from _headline(record, claim, bounds)
    certificate = None if record.get("proof") is None else record["proof"].get("certificate")
    proved = None
    if certificate is not None and record["proof"]["method"] == "enumeration":
        yield EvidenceFinding("certificate", None, "laws that were enumerated were not computed again", decides=False)
    elif certificate is not None:
        try:
            proved = check_certificate(certificate)
            wrong = _untied(record, proved)
            yield EvidenceFinding(
                "certificate", not wrong, wrong or f"{proved.statement}: {' '.join(proved.sentences)}"
            )
            if (given := record["proof"].get("derived")) is not None:
                derived = check_certificate(given)
                wrong = unlike(certificate, proved, given, derived)
                yield EvidenceFinding(
                    "certificate", not wrong, wrong or f"{derived.statement}: {' '.join(derived.sentences)}"
                )
        except CertificateError as error:
            yield EvidenceFinding("certificate", False, str(error))
    yield from _verdict(record, claim, bounds, proved)


def _notion(record: Record, claim: _Claim | None) -> Notion:
    """Return what is bounded: what is claimed, else ε, for scores perhaps at a δ."""
    return Notion("epsilon", record["lower"].get("delta", 0.0)) if claim is None else claim.notion


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound of an attempt, computed again; ``value`` is None where it was not."""

    stated: Record
    value: float | None
    finding: EvidenceFinding

    @classmethod
    def of(cls, record: Record, number: int, notion: Notion) -> _Bound:
        attempt = record["attempts"][number]
        stated, title = attempt["bound"], f"attempt {number} ({attempt['name']})"
        try:
            if stated.get("pair", attempt["pair"]) != attempt["pair"]:
                raise ValueError("it is of another pair")
            value = _bounded(stated, notion, 1 - stated["confidence"])
        except ValueError as error:
            return cls(stated, None, EvidenceFinding("bound", False, f"{title}: {error}"))
        except TooLongError as error:
            return cls(stated, None, EvidenceFinding("bound", None, f"{title}: {error} takes too long"))
        if value is None:
            why = f"a bound by the method {stated['method']!r:.40} has no second opinion"
            return cls(stated, None, EvidenceFinding("bound", None, f"{title}: {why}"))
        holds = _agrees(value, float(stated["value"]))
        said = f"{title}: its counts give {value:.7g}, and {float(stated['value']):.7g} is stated"
        return cls(stated, value if holds else None, EvidenceFinding("bound", holds, said))

    @property
    def decides(self) -> bool:
        """Whether a verdict about outputs as real numbers may rest on it."""
        return bool(self.stated.get("arithmetic", "real") == "real")


def _bounded(stated: Record, notion: Notion, error: float, counts: Record | None = None) -> float | None:
    """Return the bound from its counts, or from others, in another way; None where there is none.

    Raises:
        ValueError: for what cannot have been counted, or cannot be bounded in this way.
    """
    if (stated["side"], stated["kind"]) != ("lower", "sampled"):
        raise ValueError("what was sampled is a lower bound, and this one says something else of itself")
    if (stated["parameter"], float(stated.get("delta", 0.0))) != (notion.parameter, notion.delta):
        raise ValueError("it bounds something else than is claimed")
    counts = stated.get("counts") if counts is None else counts
    method = stated["method"]
    if counts is None:
        if float(stated["value"]) != 0:
            raise ValueError("a bound without counts")
        return 0.0
    if method not in METHODS:
        return None
    if method in PURE and (notion.parameter != "epsilon" or notion.delta or notion.order is not None):
        raise ValueError(f"the method {method!r} bounds a pure ε alone")
    hits = Hits(*(_pair(counts[name]) for name in ("runs", "toward0", "toward1")))
    if any(runs < 1 or a + b > runs for runs, a, b in zip(hits.runs, hits.toward0, hits.toward1, strict=True)):
        raise ValueError("more runs speak for a side than were made")
    one_sided = method in ("joint", "odds given sides")
    if one_sided and any(hits.toward0) and any(hits.toward1):
        raise ValueError("an event of one side speaks for both")
    if max(hits.runs) > _MOST_RUNS or ("odds" in method and sum(hits.toward0 + hits.toward1) > _MOST_HITS):
        raise TooLongError("so many runs")
    if not 0 < error < 1:
        raise ValueError("its confidence lies between 0 and 1")
    return second_bound(method, hits, notion, stated.get("weight"), error)


def _pair(values: Any) -> tuple[int, int]:
    """Return two counts; from 2^53 on records write them as text."""
    first, second = (int(value) if isinstance(value, str) and len(value) < 20 else value for value in values)
    if type(first) is not int or type(second) is not int or min(first, second) < 0:
        raise ValueError(f"counts are two whole numbers, not {values!r:.60}")
    return first, second


def _agrees(again: float, stated: float) -> bool:
    return again == stated or math.isclose(again, stated, rel_tol=_ACCURACY, abs_tol=_ACCURACY)


def _shares(record: Record, bounds: list[_Bound]) -> Iterator[EvidenceFinding]:
    """Yield whether every pair was measured, and the error levels of all bounds add up to that of the whole audit."""
    confidence = record["confidence"]
    if type(confidence) not in (int, float) or not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence!r:.20}")
    if not bounds:
        return
    real, low = (
        sum(1 - each.stated["confidence"] for each in bounds if each.decides is kind) for kind in (True, False)
    )
    allowed = 1 - confidence
    shared = record.get("low_bits") == "verdict"
    wanted = allowed * (1 - _LOW_BITS_SHARE) if shared else allowed
    spent = real + low if shared else max(real, low)
    holds = math.isclose(real, wanted, rel_tol=_SUM, abs_tol=_SUM) and spent <= allowed * (1 + _SUM) + _SUM
    yield EvidenceFinding("confidence", holds, f"the attempts err with at most {spent:.4g}, and {confidence} is stated")
    named = {each["pair"] for each in record["attempts"] if each["bound"].get("arithmetic", "real") == "real"}
    holds = named == set(range(len(record["pairs"])))
    yield EvidenceFinding("pairs", holds, f"{len(named)} of {len(record['pairs'])} pairs were measured")
    counted = {
        (each["pair"], each["name"] == "counterexample", _pair(each["bound"]["counts"]["runs"]))
        for each in record["attempts"]
        if each["bound"].get("arithmetic", "real") == "real" and each["bound"].get("counts") is not None
    }
    runs = sum(map(sum, (runs for _, _, runs in counted)))
    if record.get("sequential") is None:
        yield EvidenceFinding("runs", runs == record["measuring"], f"{runs} runs are counted of {record['measuring']}")


def _headline(record: Record, claim: _Claim | None, bounds: list[_Bound]) -> Iterator[EvidenceFinding]:
    """Yield whether the stated lower bounds are the best that were shown, or the counterexample's."""
    exact = record.get("exact")
    if exact is not None:
        yield EvidenceFinding("counterexample", None, "a counterexample was not computed again", decides=False)
    for name, title, kind in (("lower", "headline", True), ("floating_point", "low-order bits", False)):
        stated, own = record.get(name), [each for each in bounds if each.decides is kind]
        if stated is None or stated["method"] == "none":
            continue
        if stated["kind"] == "exact":
            holds = exact is not None and stated["value"] == exact["value"]
            yield EvidenceFinding(title, None if holds else False, "it is that of a counterexample", decides=False)
            continue
        if own and any(
            stated.get(each) != own[0].stated.get(each) for each in ("parameter", "notion", "delta", "side")
        ):
            yield EvidenceFinding(title, False, "it is about something else than the bounds")
            continue
        best = max((each.value for each in own if each.value is not None), default=0.0)
        value, rests = float(stated["value"]), all(each.value is not None for each in own)
        lower = claim is not None and value <= claim.value < best and record.get("second") is not None
        said = f"{value:.7g} is stated, and the best of the bounds is {best:.7g}"
        yield EvidenceFinding(title, (_agrees(value, best) or lower) if rests else None, said, decides=kind)


def _verdict(
    record: Record, claim: _Claim | None, bounds: list[_Bound], proved: Checked | None
) -> Iterator[EvidenceFinding]:
    """Yield whether the verdict follows from the bounds and the certificate."""
    verdict = record["verdict"]
    real = [each for each in bounds if each.decides]
    best = max((each.value for each in real if each.value is not None), default=0.0)
    above = claim is not None and best > claim.value
    if verdict == "invalid":
        yield EvidenceFinding("verdict", None, "that the runs could not be trusted, only another audit can show")
        return
    if verdict == "violated":
        yield from _violated(record, claim, bounds)
        return
    if verdict not in ("proved", "not violated", "inconclusive", "no claim"):
        raise ValueError(f"a verdict {verdict!r:.40}")
    if (verdict == "no claim") != (claim is None):
        yield EvidenceFinding("verdict", False, f"{verdict} does not follow: a claim is made, or none is")
        return
    if above and claim is not None:
        sure = [each for each in real if each.value is not None and each.value > claim.value]
        if all(each.value is not None for each in real) and record.get("second") is not None:
            named = record["second"]["attempt"]
            if type(named) is not int or named not in [bounds.index(each) for each in sure]:
                raise ValueError("the second look is of no attempt that is above the claim")
        if any(_sure(record, claim, each, bounds.index(each)) for each in sure):
            yield EvidenceFinding("verdict", False, f"{verdict} does not follow: the claim is violated by its counts")
            return
    if claim is not None and float((record.get("exact") or {"value": 0})["value"]) > claim.value:
        yield EvidenceFinding("verdict", False, f"{verdict} does not follow: a counterexample is above the claim")
        return
    others = [name for name in record if name not in _REFUTES_NOTHING and not _silent(record, name)]
    if others:
        yield EvidenceFinding("verdict", None, f"what else was found may speak against it: {', '.join(sorted(others))}")
    if record.get("low_bits") == "verdict" and any(not each.decides for each in bounds):
        yield EvidenceFinding("verdict", None, "low-order bits may decide it")
    if verdict == "proved":
        yield _proved(record, claim, proved)
    elif verdict == "not violated" and (record.get("upper") or not any(each.stated.get("counts") for each in real)):
        yield EvidenceFinding(
            "verdict", False, "not violated is said of what was measured, and of nothing that was proved"
        )
    else:
        said = "follows from the bounds; how small a violation the runs would have found was not computed again"
        yield EvidenceFinding("verdict", True, f"{verdict} {said}")


def _silent(record: Record, name: str) -> bool:
    """Whether a member says nothing, or a search or the movement of a query found nothing against the claim."""
    value = record[name]
    return (
        not value
        or (name == "search" and value.get("led") is None)
        or (name == "sensitivity" and value["exceeded"] is False)
    )


def _violated(record: Record, claim: _Claim | None, bounds: list[_Bound]) -> Iterator[EvidenceFinding]:
    """Yield whether some bound is above the claim so surely as a violation asks for."""
    if claim is None:
        yield EvidenceFinding("verdict", False, "nothing is claimed that could be violated")
        return
    shared, unsure = record.get("low_bits") == "verdict", None
    for bound in bounds:
        if (bound.decides or shared) and bound.value is not None and bound.value > claim.value:
            try:
                sure = _sure(record, claim, bound, bounds.index(bound))
            except _NoSecondLookError as error:  # another bound may be sure by itself
                sure, unsure = "", error
            if sure:
                yield EvidenceFinding("verdict", True, f"violated follows: a bound of {bound.value:.7g} is {sure}")
                return
    if unsure is not None and not record.get("exact"):
        raise unsure
    if any(each.value is None for each in bounds) or record.get("exact") or record.keys() - _REFUTES_NOTHING:
        rests = "what it rests on was not computed again: a counterexample, a trace, or another method of bounding"
        yield EvidenceFinding("verdict", None, rests)
    else:
        yield EvidenceFinding("verdict", False, "violated does not follow: no bound is above the claim so surely")


class _NoSecondLookError(ValueError):
    """A bound above the claim asks for a second look, and there is none."""


def _sure(record: Record, claim: _Claim, bound: _Bound, number: int) -> str:
    """Say why a bound above the claim is a violation, by the rule of two looks; empty if it is none.

    Raises:
        ValueError: where a second look is not the one that the rule asks for.
    """
    error, alarm, second = 1 - record["confidence"], record.get("false_alarm"), record.get("second")
    own = 1 - bound.stated["confidence"]
    if alarm is None:
        if second is not None:
            raise ValueError("a second look that nothing asks for")
        return "above the claim at the confidence of the audit"
    if type(alarm) is not float or not 1e-9 < alarm < error:
        raise ValueError(f"a false alarm of {alarm!r:.20}")

    def rejects(level: float) -> bool:
        again = _bounded(bound.stated, claim.notion, own * level / error)
        return again is not None and again > claim.value

    again = record["target"]["asks"] not in _RECORDED and record.get("sequential") is None
    if rejects(alarm / 2 if again else alarm):
        return f"above the claim with a false alarm of at most {alarm:g}"
    if not again or (second is not None and second["attempt"] != number):
        return ""
    levels = [error]
    while levels[-1] / 2 >= alarm:
        levels.append(levels[-1] / 2)
    if second is None:
        raise _NoSecondLookError("a bound above the claim asks for a second look, and there is none")
    p = next((each for each in reversed(levels) if all(rejects(level) for level in levels if level >= each)), error)
    level, runs = alarm / (1 + len(levels)) / p, 2 * sum(_pair(bound.stated["counts"]["runs"]))
    stated = (second["p"], second["level"])
    alike = all(math.isclose(each, other, rel_tol=_SUM) for each, other in zip(stated, (p, level), strict=True))
    if not alike or sum(_pair(second["counts"]["runs"])) != runs:
        raise ValueError(
            f"the rule asks for a second look of {runs} runs at the level {level:.4g}, and not for this one"
        )
    fresh = _bounded({**bound.stated, "method": second["method"]}, claim.notion, level, second["counts"])
    return "above the claim, and fresh runs confirm it" if fresh is not None and fresh > claim.value else ""


# --- certificates -----------------------------------------------------------------------------------------------


def _proved(record: Record, claim: _Claim | None, proved: Checked | None) -> EvidenceFinding:
    """Whether the bound of an accepted certificate is at most the claim."""
    if proved is None or claim is None:
        return EvidenceFinding("verdict", None, "what is proved rests on no certificate that this file can check")
    if (record["proof"].get("comparison") or {}).get("open_ends"):
        return EvidenceFinding("verdict", False, "not all of the program was read, and so nothing is proved")
    notion = claim.notion
    alike = proved.notion == notion_at(notion.parameter, notion.order) and proved.delta <= _limit(notion.delta)
    holds = alike and Fraction(proved.bound) <= claim.limit
    return EvidenceFinding("verdict", holds, f"{proved.statement}, and {record['claim']} is claimed")


def _untied(record: Record, proved: Checked) -> str:
    """Say what the certificate and the evidence say differently of program, bound and data; empty if nothing."""
    target, upper, scope = record["target"], record.get("upper"), proved.scope
    if upper is None or upper.get("exact") != str(proved.bound) or float(upper["value"]) != _rounded(proved.bound):
        return f"the certificate shows {proved.statement}, and another bound is stated"
    if proved.mechanism["source"] != f"sha256:{target['digest']}":
        return "the certificate is of another source than the target"
    if proved.mechanism["name"] not in (target["name"], target["name"].rpartition(":")[2]):
        return f"the certificate is of {proved.mechanism['name']:.80}, and the target is {target['name']:.80}"
    if scope["parameters"] != {name: _parameter_text(value) for name, value in target["parameters"].items()}:
        return "the certificate is for other parameters"
    relation = _RELATIONS.get(scope.get("movement") or scope.get("relation") or "replace")
    if scope.get("group", 1) != 1 or scope.get("person") is not None or relation != record["relation"]:
        return f"the certificate holds under {relation}, and {record['relation']} is stated"
    length = scope.get("length", "any")
    if record["proof"].get("length") != (None if length == "any" else length):
        return f"the certificate is for {length} answers"
    return ""


_RELATIONS = {"all": "queries", "one": "queries(one)", "monotone": "queries(monotone)", "norm=1": "queries(norm=1)"} | {
    name: name for name in ("replace", "add-remove")
}


def _rounded(bound: Fraction | float) -> float:
    """Round a bound up to 10 digits."""
    exact = Fraction(bound)
    return float(Context(prec=10, rounding=ROUND_CEILING).divide(exact.numerator, exact.denominator))


def _parameter_text(value: Any) -> str:
    """Write a parameter as certificates do: a float as the fraction of its decimal."""
    if isinstance(value, float) and len(Decimal(repr(value)).normalize().as_tuple().digits) <= 15:
        return str(Fraction(repr(value)))
    return str(value)


# --- accountings ------------------------------------------------------------------------------------------------


def _accounted(record: Record) -> Iterator[EvidenceFinding]:
    """Yield whether the certificates of an accounting hold, and its statements and verdict follow from them."""
    accounting = record["accounting"]
    checked: list[Checked | None] = []
    yield from _certified(accounting["certificates"], checked)
    words = []
    for number, each in enumerate(accounting["statements"]):
        proved = checked[each["certificate"]]
        if proved is None:
            continue
        word = _stated(each, proved.scope)
        words.append(word or each["verdict"])
        holds = None if word is None else word == each["verdict"]
        yield EvidenceFinding("statement", holds, f"statement {number} is {words[-1]} by its certificate")
    worst = next((word for word in ("violated", "inconclusive", "proved") if word in words), "no claim")
    yield EvidenceFinding("verdict", worst == record["verdict"], f"{worst} follows from the statements")
    said = "that the certificates are about the releases that are listed, and the curve, were not checked"
    yield EvidenceFinding("releases", None, said)


def _certified(certificates: list[Any], checked: list[Checked | None]) -> Iterator[EvidenceFinding]:
    """Yield whether each certificate holds, and add what it shows to ``checked``; None where it does not hold."""
    for number, certificate in enumerate(certificates):
        try:
            shown = check_certificate(certificate)
            checked.append(shown)
            yield EvidenceFinding("certificate", True, f"certificate {number}: {' '.join(shown.sentences)}")
        except CertificateError as error:
            checked.append(None)
            yield EvidenceFinding("certificate", False, f"certificate {number}: {error}")


def _stated(each: Record, scope: Record) -> str | None:
    """Return the word that a certificate gives for a claim; None where it is about another number."""
    if each["claim"] is None:
        return "no claim"
    claim = _Claim.of(each["claim"])
    asked, at = scope["parameter"], Fraction(scope["at"])
    value, other = claim.limit, _limit(claim.notion.delta)
    if asked == "delta":
        value, other = other, value
    if claim.notion.order is not None or asked not in ("delta", claim.notion.parameter) or at != other:
        return None
    low = math.inf if scope["low"] == "infinity" else Fraction(scope["low"])
    high = math.inf if scope["high"] == "infinity" else Fraction(scope["high"])
    return "proved" if high <= value else "violated" if low > value else "inconclusive"

"""Can the pair have been found as the file says? A search cannot be repeated without the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Search, Verdict
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.serialise import read_kept
from dpaudit.review.check.finding import Finding, failing, unchecked

SOURCES = ("data", "domain", "given", "mechanism")


def searched(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for how the pair was found."""
    search = evidence.search
    found = any(pair.origin == "found" for pair in evidence.pairs)
    if search is None:
        if found and evidence.trace is not None and evidence.trace.found:
            said = f"{evidence.trace.found!r} was found by a trace of {evidence.trace.tried} pairs"
            yield unchecked("search", f"{said}; only a replay shows that it was", decides=False)
        elif found and evidence.verdict is not Verdict.INVALID:
            yield failing("search", "a pair is called found, and nothing says how")
        return
    wrong = _impossible(search) or _data(search)
    if not wrong and not (found and len(evidence.pairs) == 1):
        wrong = "a search finds one pair, and measures no other"
    if wrong:
        yield failing("search", wrong)
        return
    said = f"{search.found!r} of {search.candidates} pairs, by {search.runs} runs that no bound looks at, can have been"
    yield unchecked("search", f"{said}; only a replay shows that it was", decides=False)


def _impossible(search: Search) -> str:
    """Say what is impossible; empty if nothing is wrong."""
    if search.source not in SOURCES:
        return f"nothing is searched for in {search.source!r}"
    if not 0 <= search.raised < max(search.candidates, 1) or min(search.runs, search.shrunk) < 0:
        return "its numbers of pairs and of runs cannot be"
    known = search.climbed is not None or (bool(search.tried) and search.tried[0].name == search.found)
    if not known or len(search.tried) > search.candidates:
        return "what was found is not the best of what was tried"
    predicted = [one.predicted for one in search.tried]
    if any(map(math.isnan, predicted)) or any(a < b for a, b in itertools.pairwise(predicted)):
        return "the pairs that were tried do not stand in their order"
    if sum(one.runs for one in search.tried) > search.runs or any(one.runs < 0 for one in search.tried):
        return "single pairs were run more often than all of them"
    if search.records is not None and (not search.shrunk or min(search.records) < 0):
        return "a pair that was not made simpler has no size of its own"
    made = search.source in ("data", "domain")
    if not made and (search.shrunk or search.domain is not None or search.climbed is not None):
        return "only pairs that are made have a domain and simpler neighbours"
    if (search.data is None) != (search.source in ("mechanism", "domain")) or (search.beyond and search.domain is None):
        return "its data, or their domain, are not what its source says"
    if (search.led is None) != (search.replayed == 0) or search.replayed < 0 or (search.led and not made):
        return "what a replay found, and its runs, cannot be"
    if search.led is not None:
        from dpaudit.tracing.pair import LEADS

        if search.led not in LEADS:
            return f"{search.led!r} is no lead"
    if search.source == "domain" and search.domain is None:
        return "it searches over a domain, and names none"
    return ""


def _data(search: Search) -> str:
    try:
        if search.domain is not None:
            read_kept(search.domain)
        if search.kept is not None and digest(read_kept(search.kept)) != search.data:
            return "the data that it keeps have another digest"
    except UsageError as error:
        return str(error)
    return ""

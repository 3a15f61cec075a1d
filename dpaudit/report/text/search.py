"""How was the pair found, in words?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Search
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import shortened, symbol

_SHOWN, _LONGEST = 6, 160  # pairs in the table, and characters of a change, to keep it short


@dataclass(frozen=True, slots=True)
class SearchPart:
    """What the page shows of a search."""

    sentences: list[str]  # what was done, and what it means
    # the pairs that stayed in the race longest: what changes in them, their runs, and the predicted bound
    rows: list[tuple[str, str, str]]


def search_part(evidence: Evidence) -> SearchPart | None:
    """Return how the pair was found; None if none was searched for."""
    search = evidence.search
    if search is None:
        return None
    rows = [
        (shortened(one.name, _LONGEST), count_text(one.runs), _predicted(one.predicted, evidence))
        for one in search.tried[:_SHOWN]
    ]
    return SearchPart([*_done(search), _means(search)], rows)


def search_line(evidence: Evidence) -> str | None:
    """Say in one line how the pair was found; None if none was searched for."""
    search = evidence.search
    if search is None:
        return None
    steps = f", then made simpler in {_times(search.shrunk, 'step')}{_sizes(search)}" if search.shrunk else ""
    found = shortened(search.found, _LONGEST)
    left = f" ({count_text(search.left_out)} more were not tried)" if search.left_out else ""
    return f"{found}; the most telling of {_candidates(search)}{left}, by {count_text(search.runs)} search runs{steps}"


def _candidates(search: Search) -> str:
    one = search.candidates == 1
    if search.source == "data":
        return f"{count_text(search.candidates)} neighbour{'' if one else 's'} of the data"
    whose = {"mechanism": "of the mechanism", "domain": "of datasets over the domain"}.get(
        search.source, "that were given"
    )
    return f"{count_text(search.candidates)} pair{'' if one else 's'} {whose}"


def _done(search: Search) -> list[str]:
    text = (
        f"Of {_candidates(search)} this one promised to give most away: {shortened(search.found, _LONGEST)}. They were "
        f"compared by {count_text(search.runs)} runs of their own, the less telling half of them dropped again and "
        "again; no bound looks at these runs."
    )
    found = [text]
    if search.led is not None:
        found.append(
            f"Before, {_times(search.replayed, 'run')} recorded the noise on one dataset of each and replayed it on "
            f"the other. The one on which most was found ({search.led}) was compared with the others to the end."
        )
    if search.left_out:
        found.append(
            f"{_times(search.left_out, 'further pair')} {'was' if search.left_out == 1 else 'were'} thought of and not "
            "tried, for want of runs: more runs try more."
        )
    if search.raised:
        found.append(f"On {_times(search.raised, 'pair')} every run on both datasets raised the same: nothing to tell.")
    if search.climbed is not None:
        found.append(f"Beyond them {_times(search.climbed, 'small pair')} over the declared domain were tried.")
    if search.shrunk:
        found.append(
            f"Then simpler pairs were tried, and {_times(search.shrunk, 'time')} one that tells about as much took its "
            f"place{_sizes(search) or ': the pair below may hold few of the records of the data'}."
        )
    return found


def _means(search: Search) -> str:
    return (
        "It was then learned and measured afresh, with the whole confidence. A search finds a bad pair and never shows "
        "that there is none: another neighbour, or other data, may give more away."
    )


def _sizes(search: Search) -> str:
    """Say how large the sides are, if that is known."""
    if search.records is None:
        return ""
    return f": {search.records[0]} against {_times(search.records[1], 'record')}"


def _times(count: int, what: str) -> str:
    return f"{count_text(count)} {what}{'' if count == 1 else 's'}"


def _predicted(value: float, evidence: Evidence) -> str:
    if not math.isfinite(value) or value <= 0:
        return "nothing"
    return f"{symbol(evidence)} ≥ {value:.3g}"

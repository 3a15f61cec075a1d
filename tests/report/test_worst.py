"""Does a comparison lead with the worst change, and say "no change" only where nothing changed?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.review.compare import NO_CHANGE, changes, compare, compare_json, compare_page, compare_text, heading

pytestmark = pytest.mark.usefixtures("undrawn")

NOW = made.laplace()


def of(**members: Any) -> Evidence:
    return msgspec.structs.replace(NOW, **members)


def of_target(**members: Any) -> Evidence:
    return of(target=msgspec.structs.replace(NOW.target, **members))


def leaking() -> Evidence:
    return of(floating_point=made.low_bits().floating_point, low_bits="report")


TURNS: dict[str, tuple[Evidence, Evidence, str]] = {
    "the claim fell and the verdict turned": (of(verdict=Verdict.VIOLATED), of(claim="epsilon=3"), "The claim fell"),
    "violated": (NOW, of(verdict=Verdict.VIOLATED), "The verdict turned: NOT VIOLATED before, VIOLATED now"),
    "no more proved": (made.proved(), of(verdict=Verdict.NOT_VIOLATED), "The verdict turned: PROVED"),
    "inconclusive": (NOW, of(verdict=Verdict.INCONCLUSIVE), "The verdict turned"),
    "invalid": (NOW, of(verdict=Verdict.INVALID), "The verdict turned"),
    "a weaker claim": (NOW, of(claim="epsilon=2"), "The claim fell"),
    "δ where there was none": (NOW, of(claim="epsilon=1, delta=0.1"), "The claim fell"),
    "no claim": (NOW, of(claim=None), "The claim fell"),
    "another promise": (NOW, of(claim="rho=1"), "The claim is another one"),
    "another relation": (NOW, of(relation="declared"), "The relation of neighbours changed"),
    "another unit": (NOW, of(unit="one visit"), "The unit of privacy changed"),
    "other parameters": (NOW, of_target(parameters={"epsilon": 9.0}), "The parameters changed"),
    "another target": (NOW, of_target(name="other"), "The target changed"),
    "other code": (NOW, of_target(digest="cd" * 32), "The code changed"),
    "other pairs": (NOW, of(pairs=(msgspec.structs.replace(NOW.pairs[0], digest0="ff" * 32),)), "The pairs are others"),
    "less confidence": (NOW, of(confidence=0.5), "The confidence fell"),
    "less power": (NOW, of(detectable=9.0), "Less would have been found"),
    "no power": (NOW, of(detectable=None), "Less would have been found"),
    "fewer runs": (NOW, of(measuring=NOW.measuring // 2), "Fewer runs were measured"),
    "low-order bits appeared": (NOW, leaking(), "Low-order bits: found beside the verdict"),
    "low-order bits no more examined": (leaking(), NOW, "Low-order bits: not looked at again"),
    "more on trust": (NOW, of(assumptions=(*NOW.assumptions, "nobody looks")), "More is taken on trust"),
    "the run time joined": (NOW, of(observed=("time",)), "What joins the output changed"),
}  # fmt: skip
RENDERINGS: dict[str, Callable[..., str]] = {"text": compare_text, "page": compare_page, "JSON": compare_json}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.slow
def test_the_headline_is_the_worst_change(turn: str) -> None:
    before, now, words = TURNS[turn]
    comparison = compare(before, now)
    assert heading(before, now, comparison).startswith(words)
    assert not changes(before, now, comparison)[0].better
    for name, draw in RENDERINGS.items():
        text = draw(before, now, comparison)
        assert NO_CHANGE not in text and words in text, name
    assert compare_text(before, now, comparison).startswith(words)


def test_every_change_is_told_the_worst_first() -> None:
    before, now = (
        NOW,
        of(verdict=Verdict.VIOLATED, claim="epsilon=2", confidence=0.5, unit="one visit", relation="replace"),
    )
    titles = [change.title.partition(":")[0] for change in changes(before, now, compare(before, now))]
    assert titles[:2] == ["The verdict turned", "The claim fell"]
    assert {"The relation of neighbours changed", "The unit of privacy changed", "The confidence fell"} <= set(titles)
    text = compare_text(before, now, compare(before, now))
    assert text.index("NOT VIOLATED before, VIOLATED now") < text.index("less is promised") < text.index("50 %")
    found = json.loads(compare_json(before, now, compare(before, now)))
    assert [item["title"].partition(":")[0] for item in found["found"]] == titles


@pytest.mark.parametrize("now", [of(claim="epsilon=0.5"), of(confidence=0.999), made.proved()])
def test_what_is_better_is_said_to_be(now: Evidence) -> None:
    before = NOW if now.proof is None else msgspec.structs.replace(now, verdict=Verdict.NOT_VIOLATED, upper=None)
    assert changes(before, now, compare(before, now))[0].better


def test_something_worse_comes_before_something_better() -> None:
    before, now = of(verdict=Verdict.VIOLATED), of(confidence=0.5)
    found = changes(before, now, compare(before, now))
    assert [change.better for change in found] == [False, True]
    assert found[0].title == "The confidence fell"


def test_no_change_is_said_where_there_is_none() -> None:
    now = of(seed=8, lower=msgspec.structs.replace(NOW.lower, value=0.98))
    assert heading(NOW, now, compare(NOW, now)) == NO_CHANGE
    assert heading(NOW, NOW, compare(NOW, NOW)) == "The same evidence"

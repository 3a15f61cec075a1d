"""Does a comparison say no more than two audits show? Intervals against naive ones, and its error rate by chance."""

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lxml import html as parser
from scipy.stats import beta, binomtest
from support import made_evidence
from support.nightly import mostly_at_night

from dpaudit.evidence.event import Coordinate, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Counts, Verdict
from dpaudit.privacy import ApproxDP, PureDP
from dpaudit.review.compare import bars, compare, compare_json, compare_page, compare_text, rows, sentence
from dpaudit.stats.joint_region import loss_interval

pytestmark = pytest.mark.usefixtures("undrawn")

OLD = Path(__file__).parents[1] / "evidence" / "old"
FILES = sorted(OLD.glob("*.json"))
RUNS = 20_000


def attempted(evidence, *hits, confidence=None, values=None):
    """The same evidence with attempts on its one event, of so many right and wrong guesses of `RUNS` runs."""
    half = RUNS // 2
    attempts = []
    for number, (right, wrong) in enumerate(hits):
        counts = Counts((half, half), (right // 2, wrong // 2), (wrong - wrong // 2, right - right // 2))
        value = right / (right + wrong) if values is None else values[number]
        bound = msgspec.structs.replace(evidence.lower, counts=counts, value=value, confidence=0.95)
        attempts.append(Attempt(0, f"number {number}", bound, ()))
    return msgspec.structs.replace(
        evidence, attempts=tuple(attempts), confidence=evidence.confidence if confidence is None else confidence
    )


def of_bound(evidence, **changes):
    """The same evidence with its attempts' bounds changed."""
    attempts = tuple(
        msgspec.structs.replace(attempt, bound=msgspec.structs.replace(attempt.bound, **changes))
        for attempt in evidence.attempts
    )
    return msgspec.structs.replace(evidence, attempts=attempts)


LAPLACE = made_evidence.laplace()


def naive(right, wrong, error):
    """The interval of logit P(right | guessed) of Clopper & Pearson, by SciPy."""
    p = beta.ppf(error / 2, right, wrong + 1), beta.ppf(1 - error / 2, right + 1, wrong)
    return tuple(max(0.0, math.log(end / (1 - end))) for end in p)


# --- what is computed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("considered", [1, 3])
def test_each_interval_has_half_of_the_error_shared_by_all_events(considered):
    hits = [(6_000, 4_000), *[(5_000, 5_000)] * (considered - 1)]
    found = compare(attempted(LAPLACE, *hits), attempted(LAPLACE, (6_000, 4_000), confidence=0.9))
    for loss, error in ((found.before, 0.05 / 2 / considered), (found.after, 0.1 / 2)):
        low, high = naive(6_000, 4_000, error)
        assert low - 1e-6 <= loss.low <= low
        assert high <= loss.high <= high + 1e-6
    assert found.before.considered == considered
    assert found.confidence == pytest.approx(1 - (0.05 + 0.1) / 2)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ((6_000, 4_000), (7_000, 3_000), "more"),
        ((7_000, 3_000), (6_000, 4_000), "less"),
        ((6_000, 4_000), (6_050, 3_950), "none shown"),
        ((10_000, 0), (6_000, 4_000), "less"),
        ((6_000, 4_000), (10_000, 0), "more"),
    ],
)
def test_a_change_is_shown_where_the_intervals_do_not_meet(before, after, change):
    found = compare(attempted(LAPLACE, before), attempted(LAPLACE, after))
    assert (found.change, found.significant) == (change, change in ("more", "less"))
    assert found.obstacle == ""
    assert (found.after.low > found.before.high) == (change == "more")


def test_two_lower_bounds_that_differ_show_nothing():
    few = msgspec.structs.replace(LAPLACE.lower, value=0.1)
    before = msgspec.structs.replace(LAPLACE, attempts=(), lower=few)
    assert compare(before, LAPLACE).change == "not comparable"
    assert "cannot be said" in sentence(compare(before, LAPLACE))


OTHER = Event("tails", (Rule("float", Coordinate(0), (0.0, 1.5), (1, 0, -1)),))
PAIR = made_evidence.refuted().pairs[0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), event=OTHER), "different events"),
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), method="two-sided joint", weight=0.7), "in different ways"),
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), method="two-sided joint", weight=0.7, notion="mu=1"), "ε and"),
        (
            msgspec.structs.replace(
                attempted(LAPLACE, (9_000, 1_000)), pairs=(msgspec.structs.replace(PAIR, digest0="22" * 32),)
            ),
            "different pairs",
        ),
        (msgspec.structs.replace(attempted(LAPLACE, (9_000, 1_000)), verdict=Verdict.INVALID), "Only the earlier"),
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), method="sharp one-run"), "Only the earlier"),
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), method="sequential"), "Only the earlier"),
        (of_bound(attempted(LAPLACE, (9_000, 1_000)), arithmetic="float"), "Only the earlier"),
    ],
)
def test_what_is_not_one_event_on_one_pair_in_one_unit_is_never_significant(changed, words):
    plain = attempted(LAPLACE, (6_000, 4_000))
    assert compare(plain, attempted(LAPLACE, (9_000, 1_000))).significant
    for one, other in ((plain, changed), (changed, plain)):
        found = compare(one, other)
        assert not found.significant
        assert found.change == "not comparable"
        assert "cannot be said" in sentence(found)
    assert words in compare(plain, changed).obstacle


def test_a_delta_or_an_order_makes_another_unit():
    at = {"method": "two-sided joint", "weight": 0.7}
    one, other = (
        of_bound(attempted(LAPLACE, (9_000, 1_000)), notion=f"epsilon=1, delta={delta}", **at) for delta in (1e-6, 1e-5)
    )
    assert "δ" in compare(one, other).obstacle
    assert (
        compare(one, of_bound(one, notion="epsilon=2, delta=1e-6")).obstacle == ""
    )  # the value claimed does not count


def test_the_interval_of_a_joint_bound_is_read_with_its_own_weight():
    joint = of_bound(
        attempted(LAPLACE, (9_000, 1_000)),
        method="enumerated joint",
        weight=0.3,
        notion="epsilon=1, delta=0.01",
    )
    loss = compare(joint, joint).after
    counts = joint.attempts[0].bound.counts
    low, high = loss_interval("joint", counts, claim=ApproxDP(0, 0.01), weight=0.3, error=0.025)
    assert (loss.low, loss.high) == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))
    assert (loss.method, loss.delta) == ("joint", 0.01)


def test_a_shared_event_is_found_behind_the_headlines():
    shared = attempted(LAPLACE, (7_000, 3_000)).attempts[0]
    before = of_bound(attempted(LAPLACE, (9_000, 1_000)), event=OTHER)
    before = msgspec.structs.replace(before, attempts=(*before.attempts, shared))
    found = compare(before, attempted(LAPLACE, (6_000, 4_000)))
    assert found.change == "less"
    assert found.before.considered == 2


def test_a_second_look_at_a_counterexample_is_not_counted():
    evidence = attempted(LAPLACE, (6_000, 4_000), (6_000, 4_000), (6_000, 4_000))
    named = tuple(
        msgspec.structs.replace(attempt, name=name)
        for attempt, name in zip(evidence.attempts, ("stable", "counterexample", "counterexample"), strict=True)
    )
    found = compare(msgspec.structs.replace(evidence, attempts=named), evidence)
    assert (found.before.considered, found.after.considered) == (2, 3)


# --- its error rate ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("events", [1, 4])
def test_an_unchanged_mechanism_is_found_changed_as_rarely_as_it_says(events):
    """The best of several events of one mechanism, audited twice, at a low confidence so that errors can be seen."""
    rng, times, errors = np.random.default_rng(7), 400, 0
    chance = math.exp(0.5) / (1 + math.exp(0.5))
    for _ in range(times):
        sides = []
        for _ in range(2):
            right = rng.binomial(400, chance, size=events)
            sides.append(attempted(LAPLACE, *[(int(a), 400 - int(a)) for a in right], confidence=0.4))
        errors += compare(*sides).significant
    assert binomtest(errors, times, 0.6, alternative="greater").pvalue > 1e-3
    assert errors > 0 or events > 1  # it does use its error


def test_a_changed_mechanism_is_found():
    rng, times = np.random.default_rng(8), 60
    found = 0
    for _ in range(times):
        a, b = rng.binomial(2_000, [1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(-1.0))])
        found += (
            compare(attempted(LAPLACE, (int(a), 2_000 - int(a))), attempted(LAPLACE, (int(b), 2_000 - int(b)))).change
            == "more"
        )
    assert binomtest(found, times, 0.95, alternative="less").pvalue > 1e-3


# --- how it reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", mostly_at_night(range(len(FILES))))
@pytest.mark.slow
def test_every_evidence_beside_every_next_one(number):
    before, now = Evidence.load(FILES[number]), Evidence.load(FILES[(number + 1) % len(FILES)])
    found = compare(before, now)
    page = compare_page(before, now, found)
    assert page == compare_page(before, now, compare(before, now))
    tree = parser.fromstring(page)
    assert not tree.xpath("//script | //@onload | //*[@src]")
    table = [[cell.text_content() for cell in row] for row in tree.xpath("//section[@id='changes']//tbody/tr")]
    assert len(table) == len(rows(before, now))
    assert {row[0] for row in table if row[3] == "yes"} == {row.name for row in rows(before, now) if row.differs}
    document = json.loads(compare_json(before, now, found))
    assert {each["key"] for each in document["changes"] if each["differs"]} == {
        row.key for row in rows(before, now) if row.differs
    }
    assert document["loss"]["significant"] is False  # these are of different mechanisms
    text = compare_text(before, now, found)
    assert max(map(len, text.splitlines())) <= 100
    for shown in (page, text):
        assert "says nothing of other events" in " ".join(shown.split())
        assert " is private" not in shown
        assert " safe" not in shown


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.slow
def test_evidence_beside_itself_has_no_change(file):
    evidence = Evidence.load(file)
    found = compare(evidence, evidence)
    assert not found.significant
    assert not any(row.differs for row in rows(evidence, evidence))
    assert "Both are the same evidence" in compare_text(evidence, evidence, found)
    measured = evidence.verdict is not Verdict.INVALID and any(
        attempt.bound.counts is not None and attempt.bound.arithmetic == "real" for attempt in evidence.attempts
    )
    # bets are read until something shows, and canaries of one model are not independent: no interval has two sides
    measured = measured and evidence.lower.method not in ("sequential", "sharp one-run", "none")
    assert (found.after is not None) == measured
    if found.after is not None:
        assert found.change == "none shown"
        assert found.after.low <= found.after.high


def test_all_that_changed_is_named():
    base = LAPLACE
    target = msgspec.structs.replace(base.target, name="other", digest="cd" * 32, parameters={"epsilon": 2.0})
    changed = msgspec.structs.replace(
        base,
        target=target,
        claim="epsilon=2",
        relation="replace",
        unit="a household",
        pairs=base.pairs * 2,
        versions={"dpaudit": "0.2.0"},
        seed=8,
        measuring=1,
        verdict=Verdict.VIOLATED,
        confidence=0.9,
    )
    differing = {row.key for row in rows(base, changed) if row.differs}
    assert {"target", "digest", "parameters", "claim", "relation", "unit", "versions", "seed"} <= differing
    assert {"runs", "verdict", "confidence", "id", "pairs"} <= differing
    assert "asks" not in differing


def test_hostile_text_stays_text():
    target = msgspec.structs.replace(LAPLACE.target, name=made_evidence.HOSTILE)
    event = Event("tails", (Rule(made_evidence.HOSTILE, None, (), (1,)),))
    hostile = of_bound(
        msgspec.structs.replace(LAPLACE, target=target, unit=made_evidence.HOSTILE, relation=made_evidence.HOSTILE),
        event=event,
    )
    found = compare(LAPLACE, hostile)
    tree = parser.fromstring(compare_page(LAPLACE, hostile, found))
    assert not tree.xpath("//script")
    assert "<script>alert(1)</script>" in tree.text_content()
    for shown in (compare_text(LAPLACE, hostile, found), compare_page(LAPLACE, hostile, found)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert json.loads(compare_json(LAPLACE, hostile, found))["changes"][1]["now"] == made_evidence.HOSTILE


def test_infinite_ends_are_drawn_to_the_edge_and_written_as_text():
    found = compare(attempted(LAPLACE, (10_000, 0)), attempted(LAPLACE, (6_000, 4_000)))
    assert math.isinf(found.before.high)
    drawn = bars([("Before", found.before), ("Now", found.after)])
    assert drawn[0].open and not drawn[1].open
    assert all(bar.left >= 0 and bar.left + bar.width <= 100 for bar in drawn)
    assert drawn[0].left > drawn[1].left + drawn[1].width
    assert json.loads(compare_json(LAPLACE, LAPLACE, found))["loss"]["before"]["high"] == "inf"
    assert "no upper end" in sentence(found)


def test_the_value_of_a_claim_is_not_compared_but_its_notion_is():
    one = of_bound(attempted(LAPLACE, (6_000, 4_000)), notion=str(PureDP(1.0)))
    other = of_bound(attempted(LAPLACE, (9_000, 1_000)), notion=str(PureDP(0.5)))
    assert compare(one, other).change == "more"

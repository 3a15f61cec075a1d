"""Is evidence refused whose members each hold, and which leaves out what would have spoken against it?"""

import msgspec
import pytest
from support.forging import noticed

import dpaudit as dp
from dpaudit.auditing.verdict import TwoLooks, decide
from dpaudit.evidence.records import round_outward
from dpaudit.review.check import check
from dpaudit.stats.e_process import foresee_sequential, log_wealth, sequential_bound
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.two_looks import LooksRule, first_look, foresee

PAIRS = [([0.0], [0.5]), ([0.0], [1.0])]  # the second tells more
ASKED = {"claim": "epsilon=0.9", "pairs": PAIRS, "relation": "declared", "seed": 1}
alter = msgspec.structs.replace


def laplace(data, noise):
    return data[0] + noise.laplace(1.0)


def without_the_telling_pair(evidence):
    """The evidence as it would be of the first pair alone, which still names both."""
    kept = [each for each in evidence.attempts if each.pair == 0]
    error, spent = 1 - evidence.confidence, sum(1 - each.bound.confidence for each in kept)
    attempts = []
    for each in kept:
        confidence = 1 - (1 - each.bound.confidence) * error / spent
        value = lower_bound(
            each.bound.method,
            each.bound.counts,
            claim=evidence.claimed,
            weight=each.bound.weight,
            error=1 - confidence,
        )
        attempts.append(
            alter(each, bound=alter(each.bound, confidence=confidence, value=round_outward(value, "lower")))
        )
    best = max((each.bound for each in attempts), key=lambda bound: bound.value)
    rule = LooksRule(error, evidence.false_alarm)
    foreseen = foresee(evidence.claimed, attempts, evidence.learning, rule.planned / rule.error)
    looks = TwoLooks(rule, first_look(rule, enumerate(each.bound for each in attempts), evidence.claimed))
    lower, detectable = alter(best, confidence=evidence.confidence), round_outward(foreseen.value, "upper")
    verdict, reason = decide(evidence.claimed, lower, detectable, looks=looks)
    return alter(
        evidence,
        attempts=tuple(attempts),
        lower=lower,
        measuring=sum(best.counts.runs),
        histogram=None,
        detectable=detectable,
        detectable_on=foreseen.where,
        power=foreseen.smaller,
        verdict=verdict,
        reason=reason,
        second=None,
    )


def bets_on_one_pair(evidence):
    """A sequential audit that lost its bets on one of two pairs."""
    one, notion, pairs = evidence.sequential, evidence.claimed, len(evidence.pairs)
    epochs = tuple(epoch for epoch in one.epochs if epoch.pair == 0)
    value = round_outward(sequential_bound(epochs, pairs, notion, 1 - evidence.confidence), "lower")
    own = sum(sum(epoch.stakes[0].own.runs) for epoch in epochs)
    foreseen = foresee_sequential(epochs, own + evidence.learning, pairs, notion, evidence.false_alarm)
    bound = alter(evidence.attempts[0].bound, value=value, pair=0, counts=None)
    detectable = round_outward(foreseen.value, "upper")
    verdict, reason = decide(notion, bound, detectable, looks=TwoLooks(LooksRule(0.05, 1e-3, repeatable=False), None))
    return alter(
        evidence,
        sequential=alter(one, epochs=epochs, log_wealth=log_wealth(epochs, pairs, notion), stopped=False, looked=0),
        attempts=(alter(evidence.attempts[0], pair=0, bound=bound),),
        lower=bound,
        measuring=own,
        detectable=detectable,
        detectable_on=foreseen.where,
        verdict=verdict,
        reason=reason,
        asked=None,
    )


@pytest.mark.parametrize(
    ("options", "forge"),
    [
        ({"runs": 8_000}, without_the_telling_pair),
        ({"runs": 2_000, "sequential": True}, bets_on_one_pair),
    ],
    ids=["measured", "bet on"],
)
@pytest.mark.slow
def test_no_pair_is_left_out(options, forge):
    evidence = dp.audit(laplace, **ASKED, **options)
    assert not any(finding.fails for finding in check(evidence))
    made = forge(evidence)
    assert len(made.pairs) == 2
    failed = {finding.what for finding in check(made) if finding.fails}
    assert failed == {"bets" if "sequential" in options else "runs"}
    assert noticed(made.record())

"""Does an accounting judge claims by the right bound, and say what it is about?"""

import inspect
import math
from dataclasses import fields
from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accounts import recorded
from dpaudit.accounts.account import about, account, verdict_of
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, PureDP
from dpaudit.request import AccountOptions, AccountRequest
from dpaudit.review.check import check, exit_code
from dpaudit.review.compare import compare, sentence

NOISE = dp.accounting.Laplace(2).times(4)  # ε = 2 at δ = 0, and about 1.984 at δ = 0.001
LOOSE = dp.accounting.Exponential(1).times(4)  # from below and from above another pair is known: 2 ≤ ε ≤ 4 at δ = 0


def accounted(events=NOISE, **options):
    return account(events, **{"alone": True, "tolerance": 0.01, **options})


@pytest.mark.parametrize(
    ("claim", "verdict", "code"),
    [
        ("epsilon=2", "proved", 0),
        ("epsilon=1.99", "violated", 1),
        ("epsilon=1.99, delta=0.001", "proved", 0),
        ("epsilon=1.9, delta=0.001", "violated", 1),
    ],
)
def test_a_claim_is_judged_by_the_bound_that_can_decide_it(claim, verdict, code):
    found = accounted(claim=claim)
    assert (str(found.verdict), found.verdict.exit_code, found.claim) == (verdict, code, claim)
    assert found.lower.value <= found.upper.value and {found.lower.kind, found.upper.kind} == {"proof"}


def test_a_claim_between_the_bounds_is_not_decided():
    found = accounted(LOOSE, claim="epsilon=3")
    assert (str(found.verdict), found.verdict.exit_code) == ("inconclusive", 3)
    assert found.lower.value < 3 < found.upper.value and "between" in found.reason


def test_without_a_claim_there_is_an_interval():
    found = accounted(delta="0.001")
    assert str(found.verdict) == "no claim" and found.claim is None
    assert 1.97 < found.lower.value <= found.upper.value < 1.99


def test_delta_is_asked_for_at_an_epsilon():
    found = accounted(epsilon="1.9")
    assert (found.lower.parameter, found.upper.parameter) == ("delta", "delta")
    assert 0 < found.lower.value <= found.upper.value < 0.02
    assert found.accounting.statements[0].at == "19/10"


def test_the_gravest_of_several_claims_decides():
    claims = ["epsilon=4", "epsilon=1, delta=0.001", "epsilon=3"]
    found = accounted(LOOSE, claim=claims)
    assert [str(each.verdict) for each in found.accounting.statements] == ["proved", "violated", "inconclusive"]
    assert str(found.verdict) == "violated" and found.claim == claims[1]
    assert accounted(LOOSE, claim=claims[::2]).claim == claims[2]
    assert len(found.accounting.certificates) == 2  # of two δ
    assert found.accounting.note.startswith("ε at δ = 0.001: The interval is wider than 0.01: of the exponential")


def test_a_claim_without_delta_is_meant_at_the_one_that_is_asked_for():
    found = accounted(claim="epsilon=1.99", delta="0.001")
    assert found.claim == "epsilon=1.99, delta=0.001" and len(found.accounting.statements) == 1


def test_a_claim_is_the_decimal_that_it_is_written_as():
    third = Fraction("0.3")
    assert verdict_of(PureDP(0.3), third, third).value == "proved"
    assert verdict_of(PureDP(0.3), third, third + Fraction(1, 10**30)).value == "inconclusive"
    assert verdict_of(PureDP(0.3), third + Fraction(1, 10**30), None).value == "violated"
    logarithm = math.log(3)  # a float that stands for no decimal is what it stores, in a claim as in a release
    near = Fraction(logarithm)
    assert verdict_of(PureDP(logarithm), near, near).value == "proved"
    assert verdict_of(PureDP(logarithm), near + Fraction(1, 10**30), None).value == "violated"
    assert about(ApproxDP(1.0, 1e-5)) == ("epsilon", Fraction(1, 10**5))


def test_nothing_finite_is_a_violation_and_no_upper_bound():
    assert verdict_of(PureDP(3.0), None, None).value == "violated"
    assert verdict_of(PureDP(3.0), Fraction(1), None).value == "inconclusive"


@pytest.mark.parametrize(
    ("events", "claim", "verdict", "low", "high"),
    [
        (dp.accounting.Gaussian(10).times(100), "mu=1", "proved", 1, 1),
        (dp.accounting.Gaussian(10).times(101), "mu=1", "violated", 1.00498, 1.00499),
        (dp.accounting.Gaussian(1).times(2), "mu=1.4142135", "violated", 2**0.5, 2**0.5),
        (dp.accounting.Gaussian(10) + dp.accounting.Block("mu=0.3"), "mu=0.32", "proved", 0.31622, 0.31623),
        (dp.accounting.Gaussian("0.5").times(3) + dp.accounting.Block("rho=0.1"), "rho=6.1", "proved", 6.1, 6.1),
        (dp.accounting.Gaussian("0.5").times(3), "rho=5.99", "violated", 6, 6),
        (dp.accounting.Laplace(10).times(100) + dp.accounting.Gaussian(10), "rho=0.505", "proved", 0.488742, 0.504583),
        (
            dp.accounting.Laplace(10).times(100) + dp.accounting.Gaussian(10),
            "rho=0.5",
            "inconclusive",
            0.488742,
            0.504583,
        ),
        (dp.accounting.Laplace(10).times(100) + dp.accounting.Gaussian(10), "rho=0.48", "violated", 0.488742, 0.504583),
        (dp.accounting.Exponential(1).times(8), "rho=1", "proved", 4 * math.tanh(0.25), 1),
    ],
)
def test_claims_of_mu_and_rho_add_up_with_a_certificate(events, claim, verdict, low, high):
    found = accounted(events, claim=claim)
    assert str(found.verdict) == verdict
    assert found.lower.parameter == claim.partition("=")[0] and found.lower.kind == "proof"
    assert found.lower.value == pytest.approx(low, abs=1e-5) and found.upper.value == pytest.approx(high, abs=1e-5)
    checked = list(check(found))
    assert exit_code(checked) == 0, checked
    assert dp.Evidence.from_json(found.to_json()).id == found.id


@pytest.mark.parametrize(
    ("events", "total"),
    [
        (dp.accounting.RandomisedResponse("0.1").times(10), "1"),
        (dp.accounting.Laplace(3).times(3), "1"),
        (dp.accounting.Block("epsilon=0.1") + dp.accounting.DiscreteLaplace(10, sensitivity=2), "0.3"),
        (dp.accounting.Exponential("0.1").times(3), "0.3"),
    ],
)
def test_largest_losses_that_are_rational_add_up_exactly(events, total):
    found = accounted(events, claim=f"epsilon={total}")
    assert str(found.verdict) == "proved" and found.accounting.certificates[0]["high"] == str(Fraction(total))
    assert exit_code(check(found)) == 0
    less = found.accounting.certificates[0] | {"high": str(Fraction(total) - Fraction(1, 10**20))}
    with pytest.raises(CertificateError, match=r"add up|does not end before"):
        check_certificate(less)


def test_claims_of_every_notion_stand_beside_each_other():
    found = accounted(dp.accounting.Gaussian(10).times(100), claim=["mu=1", "rho=0.5", "epsilon=5, delta=1e-5"])
    assert [str(each.verdict) for each in found.accounting.statements] == ["proved"] * 3
    assert found.accounting.curve is not None and exit_code(check(found)) == 0


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"claim": "epsilon=2"}, {"claim": "epsilon=3"}, "none shown"),
        ({"events": dp.accounting.Laplace(3).times(4), "claim": "epsilon=2"}, {"claim": "epsilon=2"}, "more"),
        ({"claim": "epsilon=2"}, {"events": dp.accounting.Laplace(3).times(4), "delta": 0}, "less"),
        ({"claim": "epsilon=2"}, {"events": dp.accounting.Laplace(3).times(4), "delta": "0.1"}, "not comparable"),
        ({"epsilon": "1.9"}, {"events": dp.accounting.Laplace(3).times(4), "epsilon": "1.1"}, "not comparable"),
        ({"epsilon": "1.2"}, {"events": dp.accounting.Laplace(3).times(4), "epsilon": "1.2"}, "less"),
        (
            {"events": dp.accounting.Gaussian(1), "claim": "mu=1"},
            {"events": dp.accounting.Gaussian(2), "claim": "rho=1"},
            "not comparable",
        ),
    ],
)
def test_two_lists_are_compared_by_their_certified_intervals(before, after, change):
    found = compare(accounted(**before), accounted(**after))
    assert found.change == change
    said = sentence(found)
    assert said.endswith(f"certainly {change} than before.") is (change in ("more", "less"))


@pytest.mark.slow
def test_neighbours_are_those_of_the_sampler():
    assert accounted(delta="0.001").relation == "sensitivity"
    poisson = dp.accounting.Gaussian(2).poisson("0.1").times(3)
    assert accounted(poisson, delta="0.001").relation == "add-remove"
    assert accounted(poisson, delta="0.001", relation="zero-out").relation == "zero-out"
    fixed = {"delta": "0.001"}
    one, other = (
        accounted("Gaussian(2).fixed_size(10, 100)", **fixed, relation=name) for name in ("replace", "replace-one")
    )
    assert one.id == other.id
    with pytest.raises(UsageError, match="the neighbours do not fit"):
        accounted(poisson, delta="0.001", relation="replace-one")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "say what is asked"),
        ({"claim": "order=2, epsilon=1"}, "Rényi"),
        ({"claim": "mu=1"}, "μ of Laplace"),
        ({"claim": "epsilon=-1"}, "at least 0"),
        ({"delta": 1}, "below 1"),
        ({"delta": "nan"}, "finite"),
        ({"epsilon": -1}, "at least 0"),
        ({"delta": "0.1", "tolerance": 0.0}, "tolerance"),
        ({"delta": "0.1", "tolerance": math.nan}, "tolerance"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, said):
    with pytest.raises(UsageError, match=said):
        accounted(dp.accounting.Laplace(2).times(50), **options)


def test_at_no_delta_gaussian_noise_has_no_epsilon():
    for events in (
        dp.accounting.Gaussian(1),
        dp.accounting.Block("rho=1"),
        dp.accounting.Gaussian("1e30"),
        dp.accounting.Block("epsilon=1, delta=1e-6"),
    ):
        evidence = accounted(events, claim="epsilon=3")
        assert evidence.verdict.value == "violated" and evidence.lower.exact == "infinite"
        assert "a δ above 0 could hold" in evidence.reason
        assert exit_code(check(evidence)) == 0
    assert accounted(dp.accounting.Gaussian(1), delta=0).verdict.value == "no claim"


def test_what_is_no_list_is_refused():
    for wrong in (3, None, {"a": 1}, object()):
        with pytest.raises(UsageError, match="plan file"):
            accounted(wrong, delta="0.1")


@pytest.mark.slow
def test_lists_may_be_given_in_every_way(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text('[[release]]\nmechanism = "laplace"\nscale = 2\nsteps = 4\n', encoding="utf-8")
    ways = [
        NOISE,
        [dp.accounting.Laplace(2).times(3), dp.accounting.Laplace(2)],
        "Laplace(2).times(4)",
        str(file),
        file,
    ]
    assert len({accounted(way, delta="0.001").id for way in ways[:1] + ways[2:]}) == 1
    assert accounted(ways[1], delta="0.001").lower == accounted(delta="0.001").lower


def test_opacus_says_nothing_of_its_data_loader_and_evidence_says_so():
    found = accounted([[2.0, 0.1, 3]], delta="0.001")
    assert any("assume Poisson sampling" in text for text in found.assumptions)
    assert not any("Poisson" in text for text in accounted(delta="0.001").assumptions)


def test_the_keyword_arguments_are_the_request():
    named = {each.name: each.default for each in fields(AccountRequest) if each.name != "events"}
    assert set(AccountOptions.__annotations__) == set(named)
    signature = inspect.signature(dp.account)
    assert {name: each.default for name, each in signature.parameters.items() if name != "events"} == named


# --- others -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_dp_accounting_is_asked_and_lies_where_it_must():
    pytest.importorskip("dp_accounting")
    found = account(dp.accounting.Gaussian(2).poisson("0.1").times(3), delta="0.001")
    said = {each.name: each for each in found.accounting.others}
    assert set(said) >= {"dp-accounting, PLD", "dp-accounting, RDP"}
    assert all(each.value >= found.lower.value for each in said.values() if each.side == "upper")
    assert said["dp-accounting, PLD"].value == pytest.approx(found.upper.value, abs=1e-3)


def test_nobody_is_asked_what_would_take_all_memory_or_what_they_do_not_know(monkeypatch):
    asked = []
    monkeypatch.setattr(recorded, "_dp_accounting", lambda *given: asked.append(given) or ())
    statement = accounted(delta="0.001").accounting.statements[0]
    for events in (
        dp.accounting.Gaussian("0.001").times(1),
        dp.accounting.Gaussian(1).times(10**9),
        dp.accounting.Gaussian(1).fixed_size(1, 2).times(1),
        dp.accounting.Exponential(1).times(1),
    ):
        assert recorded.others_say(events, statement) == ()
    assert not asked
    recorded.others_say(dp.accounting.Gaussian(1).times(2), statement)
    assert asked


def test_a_library_that_fails_is_left_out(monkeypatch):
    def fails(*_):
        raise RuntimeError("it cannot")

    monkeypatch.setattr(recorded, "_dp_accounting", fails)
    assert recorded.others_say(NOISE, accounted(delta="0.001").accounting.statements[0]) == ()

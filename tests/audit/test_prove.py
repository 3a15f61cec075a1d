"""Does a proof say how much is lost at most, how much for certain, and what runs show, each for itself?"""

import math
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import entry_points

import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit import loading
from dpaudit.checker import check_certificate
from dpaudit.errors import InvalidRunsError
from dpaudit.evidence.records import Counts
from dpaudit.program.fold import Emit, Fold
from dpaudit.review.check import check, exit_code
from dpaudit.sampling.checkpoint import Phase
from dpaudit.targets.mechanism import mechanism
from dpaudit.verify import answer as prover
from dpaudit.verify.proofs import answers

pytestmark = pytest.mark.slow

RUNS = 4_000


def laplace(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(1 / epsilon)


def leakier(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(0.2 / epsilon)


def gaussian(data, noise, *, sigma=1):
    total = data[0]
    return total + noise.gaussian(sigma)


def response(bit, noise, *, keep=0.75):
    return bit if noise.bernoulli(keep) else 1 - bit


def sampler(data, size, rng):
    return data[0] + rng.laplace(size=size)


def opaque(data):
    return data[0]


def proved(target=laplace, **options):
    """A short proof; every one of them holds when it is checked."""
    evidence = dp.prove(target, **{"length": 1, "relation": "queries", "runs": RUNS, **options})
    code = 3 if evidence.verdict is dp.Verdict.INVALID else 0  # which no file shows
    assert exit_code(check(evidence)) == code, list(check(evidence))
    return evidence


def attempt(evidence, name):
    (found,) = (each.bound for each in evidence.attempts if each.name == name)
    return found


@pytest.mark.parametrize(
    ("name", "given", "length", "bound"),
    mostly_at_night(
        [
            ("above_threshold", {}, 3, "3/4"),
            ("above_threshold", {"epsilon": 0.3}, 3, "9/40"),
            ("above_threshold", {}, None, "1"),
            ("prefix_sum", {}, None, "1"),
            ("report_noisy_max", {}, 3, "1"),
        ]
    ),
)
def test_a_proof_has_its_exact_bound_and_a_certificate(name, given, length, bound):
    evidence = proved(name, parameters=given, length=length, relation=None)
    assert evidence.verdict is dp.Verdict.PROVED
    assert (evidence.upper.exact, evidence.upper.kind, evidence.upper.confidence) == (bound, "proof", 1)
    assert evidence.upper.value == float(Fraction(bound))
    checked = check_certificate(evidence.proof.certificate)
    assert str(checked.bound) == bound
    assert (checked.kind, evidence.proof.method, evidence.proof.length) == (
        ("fold", "induction", None) if length is None else ("tree", "alignment", length)
    )
    assert evidence.lower.value <= evidence.upper.value
    assert bound in evidence.reason and evidence.proof.scope in evidence.reason


def test_an_exact_counterexample_keeps_three_numbers_apart():
    evidence = proved("svt_unscaled_noise", length=3, relation=None, runs=20_000)
    assert evidence.verdict is dp.Verdict.VIOLATED
    sampled = attempt(evidence, "counterexample")
    assert 1 < sampled.value < evidence.exact.value < evidence.upper.value == 1.75
    assert (sampled.kind, evidence.exact.kind, evidence.upper.kind) == ("sampled", "exact", "proof")
    assert sampled.confidence < 1 == evidence.exact.confidence
    assert evidence.lower == evidence.exact
    assert evidence.reason.endswith("certainly.")
    assert sampled.event == evidence.counterexample.event
    assert Fraction(evidence.counterexample.probability0[0]) > Fraction(evidence.counterexample.probability1[1])


def test_an_infinite_loss():
    evidence = proved("svt_noiseless_answers", length=2, relation=None)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.upper is None and evidence.proof.certificate is None
    assert (evidence.exact.value, evidence.exact.exact) == (math.inf, "infinite")
    assert 1 < attempt(evidence, "counterexample").value < math.inf


@pytest.mark.nightly
def test_a_fold_without_a_bound():
    evidence = proved("svt_noiseless_answers", length=None, relation=None)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.upper is None
    assert evidence.proof.scope.startswith("all data of any number of real answers")


@pytest.mark.parametrize("runs", [0, RUNS])
def test_a_bound_above_a_claim_that_nothing_refutes_is_inconclusive(runs):
    # the claim is true: δ(1/2) of this mechanism is 0.22
    evidence = proved(claim="epsilon=0.5, delta=0.3", runs=runs)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert evidence.upper.exact == "1"
    assert "nothing is known" in evidence.reason


def test_the_exact_bound_is_at_the_delta_of_the_claim():
    evidence = proved(claim="epsilon=0.5, delta=0.1")
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.exact.delta == 0.1
    true = 1 + 2 * math.log(1 - 0.1)  # from δ(ε) = 1 − e^((ε − 1)/2)
    assert 0.5 < evidence.exact.value <= true
    assert proved(claim="epsilon=1, delta=0.1").verdict is dp.Verdict.PROVED
    assert (evidence.upper.delta, evidence.upper.exact) == (0, "1")


def test_claims_are_compared_exactly():
    for claim, verdict in [("0.3", dp.Verdict.PROVED), ("0.2999999999999", dp.Verdict.INCONCLUSIVE)]:
        evidence = proved(parameters={"epsilon": 0.3}, claim=f"epsilon={claim}", runs=0)
        assert (evidence.verdict, evidence.upper.exact, evidence.upper.value) == (verdict, "3/10", 0.3)
    third = proved(parameters={"epsilon": Fraction(1, 3)}, claim=dp.PureDP(1 / 3), runs=0)
    assert third.upper.value == 0.3333333334
    assert third.verdict is dp.Verdict.INCONCLUSIVE  # the float lies below 1/3


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (dp.PureDP(math.log(3)), dp.Verdict.PROVED),
        ("epsilon=ln(3)", dp.Verdict.PROVED),
        ("epsilon=1.2", dp.Verdict.PROVED),
        ("epsilon=1.09", dp.Verdict.VIOLATED),
        ("epsilon=1.09861228866", dp.Verdict.INCONCLUSIVE),  # closer than ten digits tell
        (None, dp.Verdict.NO_CLAIM),
    ],
)
def test_a_whole_domain_is_enumerated(claim, verdict):
    evidence = proved(response, domain=[0, 1], length=None, relation="replace", claim=claim, runs=0)
    assert evidence.verdict is verdict
    assert evidence.upper.exact == evidence.exact.exact == "ln(3)"
    assert evidence.exact.value < math.log(3) < evidence.upper.value
    assert evidence.proof.method == "enumeration"


def test_an_enumerated_loss_may_be_infinite():
    evidence = proved(
        response, parameters={"keep": 1}, domain=[0, 1], length=None, relation="replace", claim="epsilon=9"
    )
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.upper is None and evidence.exact.value == math.inf


def test_the_float_of_ln_2_lies_below_it_and_is_meant_to_be_it():
    evidence = proved(
        response,
        parameters={"keep": Fraction(2, 3)},
        domain=[0, 1],
        length=None,
        relation="replace",
        claim=dp.PureDP(math.log(2)),
        runs=0,
    )
    assert evidence.verdict is dp.Verdict.PROVED


# --- runs -------------------------------------------------------------------------------------------------


def test_no_runs_are_no_runs(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("something was run")

    monkeypatch.setattr(prover, "audited", refuse)
    monkeypatch.setattr(prover, "measure_event", refuse)
    evidence = proved(claim="epsilon=1", runs=0)
    assert evidence.verdict is dp.Verdict.PROVED
    assert (evidence.runs, evidence.attempts, evidence.detectable, evidence.histogram) == (0, (), None, None)
    assert evidence.lower == evidence.exact


def test_without_runs_and_without_a_counterexample_nothing_is_shown_from_below(monkeypatch):
    monkeypatch.setattr(answers, "find_spec", lambda _: None)
    evidence = proved(claim="epsilon=1", runs=0)
    assert evidence.verdict is dp.Verdict.PROVED
    assert (evidence.lower.value, evidence.lower.method, evidence.exact) == (0, "none", None)
    assert proved("svt_noiseless_answers", length=2, runs=0).verdict is dp.Verdict.INCONCLUSIVE


def test_without_a_counterexample_the_pair_lies_within_the_proof(monkeypatch):
    monkeypatch.setattr(answers, "find_spec", lambda _: None)
    evidence = proved("above_threshold", length=3)  # the entry's own pair is longer
    assert evidence.verdict is dp.Verdict.PROVED
    assert evidence.runs == RUNS
    assert evidence.counterexample is None
    assert evidence.lower.kind == "sampled"
    assert proved("svt_noiseless_answers", length=2).verdict is not dp.Verdict.PROVED


def test_runs_and_error_are_shared():
    evidence = proved(claim="epsilon=1", runs=4_001, confidence=0.9)
    assert evidence.runs == 4_001
    assert sum(1 - each.bound.confidence for each in evidence.attempts) <= 0.1 + 1e-12
    assert evidence.confidence == 0.9


def test_the_same_seed_gives_the_same_evidence_on_any_number_of_workers():
    first, second, other = (
        dp.prove("laplace", length=1, runs=20_000, seed=seed, workers=workers)
        for seed, workers in [(3, 1), (3, 2), (4, 1)]
    )
    assert first.id == second.id != other.id
    assert (first.run.workers, second.run.workers) == (1, 2)


def test_evidence_survives_json():
    for evidence in (proved(), proved(runs=0), proved("svt_noiseless_answers", length=2)):
        again = dp.Evidence.from_json(evidence.to_json())
        assert again == evidence
        assert again.id == evidence.id


# --- a proof and runs that do not agree -------------------------------------------------------------------


@pytest.fixture
def runs_of_another(monkeypatch):
    """What is run loses five times what is proved."""
    real = prover._judged

    def judged(question, *found):
        return real(replace(question, mechanism=mechanism(leakier)), *found)

    monkeypatch.setattr(prover, "_judged", judged)


@pytest.mark.parametrize("claim", ["epsilon=1", "epsilon=20"])
def test_runs_that_contradict_a_proof(runs_of_another, claim):
    evidence = dp.prove(laplace, length=1, relation="queries", claim=claim, runs=RUNS)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.reason.startswith("contradicts the proof")
    assert evidence.lower.kind == "sampled"
    assert evidence.lower.value > evidence.upper.value == 1
    wrong = [finding for finding in check(evidence) if finding.fails]
    # certificate and counterexample are of another source
    assert {finding.what for finding in wrong} == {"certificate", "counterexample"}


def lucky(phases):
    """Count what never was, for some purposes."""
    real = prover.measure_event

    def measure(question, pair, event, runs, phase):
        if phase in phases:
            return Counts((runs // 2, runs - runs // 2), (runs // 2, 1), (0, 0))
        return real(question, pair, event, runs, phase)

    return measure


@pytest.mark.parametrize("claim", ["epsilon=1", "epsilon=20"])
def test_a_contradiction_by_chance_is_none(monkeypatch, claim):
    monkeypatch.setattr(prover, "measure_event", lucky({Phase.WITNESS}))
    evidence = proved(claim=claim)
    assert evidence.verdict is dp.Verdict.PROVED
    assert evidence.lower == evidence.exact
    assert attempt(evidence, "counterexample").value > evidence.upper.value  # shown all the same


def test_a_contradiction_twice_is_one(monkeypatch):
    monkeypatch.setattr(prover, "measure_event", lucky({Phase.WITNESS, Phase.CONFIRMING}))
    evidence = proved(claim="epsilon=20")
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.reason.startswith("contradicts the proof")


def test_a_counterexample_above_a_proof_is_a_fault_of_ours(monkeypatch):
    monkeypatch.setattr(prover.Conclusion, "least", lambda *_: (Fraction(2), "2"))
    with pytest.raises(RuntimeError, match=r"at most 1\.0 and at least 2"):
        dp.prove(laplace, length=1, relation="queries", runs=0)


def test_runs_that_cannot_be_trusted_are_invalid(monkeypatch):
    def died(*_):
        raise InvalidRunsError("a worker died")

    monkeypatch.setattr(prover, "measure_event", died)
    evidence = proved(claim="epsilon=1")
    assert evidence.verdict is dp.Verdict.INVALID
    assert evidence.reason == "The runs cannot be trusted: a worker died."


# --- bad requests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "options", "sentence"),
    [
        (sampler, {}, "sampler is of the kind .sampler.: only a program"),
        (opaque, {}, "opaque is of the kind .opaque.: only a program"),
        (gaussian, {}, r"test_prove\.py:\d+ \(return total \+ noise\.gaussian\(sigma\)\)"),
        (laplace, {"length": None}, "say how many answers laplace is given"),
        (laplace, {"length": 0}, "length is a whole number from 1"),
        (laplace, {"runs": 1}, "runs is 0, for none, or at least 400"),
        (laplace, {"runs": -1}, "runs must be at least 0"),
        (laplace, {"claim": "mu=1"}, "give an epsilon=… claim"),
        (laplace, {"relation": "add-remove"}, "no proofs by alignment"),
        (laplace, {"domain": "complex"}, "domain is 'real' or 'integer'"),
        (laplace, {"domain": [[0], [1]], "length": None}, "laplace"),
        (response, {"domain": [0, 1, 2], "relation": "replace"}, "leave out the length"),
        (response, {"domain": [0], "length": None, "relation": "replace"}, "at least one pair"),
        (response, {"domain": [0, 0], "length": None, "relation": "replace"}, "twice"),
    ],
)
def test_what_cannot_be_proved_gets_a_sentence(target, options, sentence):
    with pytest.raises(dp.UsageError, match=sentence):
        dp.prove(target, **{"length": 1, "relation": "queries", "runs": 0, **options})


def test_no_second_function_is_proved_in_the_place_of_an_entry():
    """A catalogue's promise that a fold is the same is no proof of it: the sixth answer may leak."""

    def leaks(data, noise, *, epsilon=1):
        return [answer + noise.laplace(1 / epsilon) if place < 5 else answer for place, answer in enumerate(data)]

    # where the catalogue is installed from, which need not be what `import mechanisms` finds in a working tree
    package = loading._installed_module(next(iter(entry_points(group=loading.GROUP))))
    entry = mechanism(leaks, claim="epsilon=1", relation="queries(one)")
    fold = mechanism(Fold(lambda s, x, noise, *, epsilon=1: Emit(x + noise.laplace(1 / epsilon), s), finish=None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(package, "leaks", entry, raising=False)
        patch.setattr(package, "__all__", [*package.__all__, "leaks"])
        patch.setattr(package, "FOLDS", {"leaks": fold}, raising=False)
        for cached in (loading._offers, loading.catalogue):
            cached.cache_clear()
        try:
            with pytest.raises(dp.UsageError, match="only a mechanism that is written as a Fold"):
                dp.prove("leaks", runs=0, seed=0)
        finally:
            patch.undo()
            for cached in (loading._offers, loading.catalogue):
                cached.cache_clear()

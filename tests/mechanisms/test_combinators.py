"""Do combinators keep the shape of their parts, release what they say, and claim what follows?"""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats
from support.nightly import mostly_at_night

import dpaudit as dp
import mechanisms
from dpaudit import ApproxDP, GaussianDP, PureDP, UsageError, mechanism
from dpaudit.program.batch_reading import run_batch
from dpaudit.program.noise import ScalarNoise
from mechanisms import combinators
from mechanisms.combinators import compose, group, mixture, parallel, post_process, with_parameters

PAIR = (0, 1)
described = partial(mechanism, claim="epsilon=1", relation="queries(norm=1)", pairs=[PAIR])


@described
def program(data, noise):
    return data + noise.laplace(1)


@described
def sampler(data, size, rng):
    return data + rng.laplace(0, 1, size)


@described
def seeded(data, rng):
    return data + float(rng.laplace(0, 1))


@described
def opaque(data):
    return data + float(np.random.default_rng().laplace(0, 1))


KINDS = {"program": program, "sampler": sampler, "seeded": seeded, "opaque": opaque}
every_kind = pytest.mark.parametrize("kind", KINDS)
RUNS = 4_000


def outputs(made, data, runs=RUNS):
    """Run a mechanism of any shape, with a fixed seed where it asks for one."""
    rng = np.random.default_rng(3)
    if str(made.shape) == "sampler":
        return list(made(data, size=runs, rng=rng))
    filled = {"noise": ScalarNoise(rng), "rng": rng}
    return [made(data, **{name: filled[name] for name in made.asked}) for _ in range(runs)]


def agrees(hits, count, probability):
    return bool(stats.binomtest(int(hits), count, probability).pvalue > 1e-6)


@pytest.mark.slow
@every_kind
def test_a_composition_of_one_kind_keeps_it(kind):
    part = KINDS[kind]
    made = compose(part, with_parameters(part), part)
    assert str(made.shape) == kind
    assert made.claim == PureDP(3)
    assert made.relation_for({}) == "queries(norm=1)"
    assert made.pairs_for({}) == [PAIR]
    found = outputs(made, 5)
    assert all(type(output) is tuple and len(output) == 3 for output in found)
    columns = np.array(found)
    for column in columns.T:
        assert agrees((column > 5 + math.log(5)).sum(), RUNS, 0.1)
    assert agrees(((columns[:, 0] > 5) & (columns[:, 1] > 5)).sum(), RUNS, 0.25)  # drawn independently


@every_kind
def test_post_processing_keeps_the_kind(kind):
    made = post_process(KINDS[kind], abs)
    assert str(made.shape) == kind
    assert made.claim == PureDP(1)
    assert agrees(sum(output > math.log(5) for output in outputs(made, 0)), RUNS, 0.2)


@pytest.mark.slow
@every_kind
def test_a_mixture_keeps_the_kind(kind):
    far = post_process(KINDS[kind], lambda output: output + 1_000)
    made = mixture(KINDS[kind], far, 0.3)
    assert str(made.shape) == kind
    assert made.claim == PureDP(1)
    found = np.array(outputs(made, 0))
    assert agrees((found < 500).sum(), RUNS, 0.3)
    assert agrees((found > 1_000).sum(), RUNS, 0.35)


@every_kind
@pytest.mark.slow
def test_parallel_keeps_the_kind(kind):
    counted = replace(post_process(KINDS[kind], float), relation="add-remove", pairs=[([], ["a"])])
    length = replace(counted, function=partial(_on_length, counted.function))
    made = parallel({"a": length, "b": length}, by=str.lower)
    assert str(made.shape) == kind
    assert made.claim == PureDP(1)
    assert made.relation_for({}) == "add-remove"
    assert made.pairs_for({}) == [([], ["a"])]  # not in part b
    found = outputs(made, ["a", "A", "b", "c"])
    assert all(list(output) == ["a", "b"] for output in found)
    assert agrees(sum(output["a"] > 2 for output in found), RUNS, 0.5)
    assert agrees(sum(output["b"] > 1 + math.log(5) for output in found), RUNS, 0.1)


def _on_length(function, data, **filled):
    return function(len(data), **filled)


@every_kind
def test_a_group_is_the_same_function(kind):
    made = group(KINDS[kind], 3)
    assert str(made.shape) == kind
    assert made.claim == PureDP(3)
    assert made.relation_for({}) == "queries(norm=1, group=3)"
    assert made.pairs_for({}) == [(0, 3)]
    assert agrees(sum(output > 0 for output in outputs(made, 0)), RUNS, 0.5)


@pytest.mark.parametrize(
    ("kinds", "shape"),
    [
        (("program", "sampler"), "seeded"),
        (("sampler", "seeded"), "seeded"),
        (("program", "seeded", "sampler"), "seeded"),
        (("program", "opaque"), "opaque"),
        (("seeded", "opaque", "sampler"), "opaque"),
    ],
)
def test_parts_of_different_kinds_are_run_one_by_one(kinds, shape):
    made = compose(*(KINDS[kind] for kind in kinds))
    assert str(made.shape) == shape
    columns = np.array(outputs(made, 0, 1_000))
    for column in columns.T:
        assert agrees((column > math.log(5)).sum(), 1_000, 0.1)
        assert len(np.unique(column)) == 1_000
    mixed = mixture(KINDS[kinds[0]], KINDS[kinds[1]])
    assert agrees(sum(output > 0 for output in outputs(mixed, 0, 1_000)), 1_000, 0.5)


def test_seeded_wholes_repeat_with_their_seed():
    made = compose(program, sampler, seeded)
    assert outputs(made, 0, 20) == outputs(made, 0, 20)


@pytest.mark.parametrize(
    "made",
    [
        compose(program, mechanisms.laplace, mechanisms.geometric),
        post_process(program, lambda output: max(0, output)),
        mixture(program, mechanisms.geometric, 0.25),
        group(program, 2),
        compose(mixture(program, program), post_process(program, round)),
        parallel({0: mechanisms.count, 1: mechanisms.count}, by=lambda record: record % 2),
    ],
    ids=lambda made: made.name,
)
def test_a_whole_of_programs_does_not_fall_back(made):
    assert str(made.shape) == "program"
    for data in next(iter(made.pairs_for({})), ([1, 1], [1, 1, 2])):
        result = run_batch(partial(made.function, data), 1_000, np.random.default_rng(0))
        assert result.fallback_reason is None
        assert len(result.paths) <= 4


@pytest.mark.parametrize("kind", mostly_at_night(KINDS))
@pytest.mark.slow
def test_an_audit_of_a_whole_finds_its_sum_and_accepts_its_claim(kind):
    made = compose(KINDS[kind], KINDS[kind])
    evidence = dp.audit(made, runs=10_000, seed=1)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert 1.5 < evidence.lower.value <= 2
    assert evidence.reproducible == (kind != "opaque")
    assert dp.audit(made, runs=4_000, claim="epsilon=1").verdict is dp.Verdict.VIOLATED


def test_claims_follow_from_the_parts():
    gaussian = mechanism(lambda data, noise: data + noise.gaussian(0.5), claim=GaussianDP(2))
    of_one = -2 * stats.norm.ppf(stats.logistic.cdf(-1))
    assert compose(gaussian, program).claim.mu == pytest.approx(math.hypot(2, of_one))
    approximate = replace(program, claim=ApproxDP(1, 1e-6))
    assert compose(approximate, program).claim == ApproxDP(2, 1e-6)
    assert mixture(approximate, replace(program, claim="epsilon=2")).claim == ApproxDP(2, 1e-6)
    with pytest.raises(UsageError, match="to_approx"):
        compose(approximate, gaussian)


def test_without_a_claim_or_a_relation_none_follows():
    bare = mechanism(lambda data, noise: data + noise.laplace(1))
    assert compose(bare, program).claim is None
    assert compose(bare, program).relation_for({}) == "queries(norm=1)"
    assert compose(bare, bare).relation_for({}) is None
    assert group(bare, 2).relation_for({}) is None
    assert group(bare, 2).pairs_for({}) == []
    assert compose(lambda data, rng: data).claim is None


def test_a_whole_with_a_broken_part_is_broken():
    assert not compose(mechanisms.exact_count, mechanisms.count).correct
    assert compose(mechanisms.count, mechanisms.count).correct


def test_pairs_of_all_parts_each_once():
    other = replace(program, pairs=[(2, 3)])
    assert compose(program, other, program).pairs_for({}) == [(0, 1), (2, 3)]


def test_pairs_of_another_kind_of_record_are_no_pairs_of_the_whole():
    made = parallel({"north": mechanisms.count}, by=lambda record: record["region"])
    assert made.pairs_for({}) == []
    with pytest.raises(UsageError, match="names no pair"):
        dp.audit(made, runs=200)
    pair = ([], [{"region": "north"}])
    assert dp.audit(made, pairs=[pair], runs=2_000).claim == "epsilon=1"


def test_parameters_are_settled_when_a_part_is_put_in():
    half = with_parameters(mechanisms.laplace, epsilon=0.5, sensitivity=2)
    assert half.claim == PureDP(0.5)
    assert half.relation_for({}) == "queries(norm=1, group=2)"
    assert half.pairs_for({}) == [(0, 2)]
    assert half.true_loss_for({}) == 0.5
    assert dict(half.defaults) == {}
    with pytest.raises(UsageError, match="no parameter 'epsilom'"):
        with_parameters(mechanisms.laplace, epsilom=1)
    with pytest.raises(UsageError, match="no parameter"):
        dp.audit(half, parameters={"epsilon": 1}, runs=200)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: compose(), "at least one part"),
        (lambda: compose(program, mechanisms.count), "different relations"),
        (lambda: mixture(program, program, 1), "strictly between 0 and 1"),
        (lambda: group(program, 0), "at least 1"),
        (lambda: parallel({0: mechanisms.count}, by=bool, relation="queries"), "add-remove"),
        (lambda: parallel({0: mechanisms.bounded_mean}, by=bool), "may leave its part"),
        (lambda: parallel({}, by=bool), "at least one part"),
        (lambda: compose(3), "a mechanism is a function"),
    ],
)
def test_what_cannot_be_combined_is_refused(make, why):
    with pytest.raises(UsageError, match=why):
        make()


def test_parallel_under_replace_counts_moves_and_changes():
    """A Gaussian sum of ±1: moved, two parts lose μ = 1 each; changed in its part, one part loses 2."""
    part = mechanism(
        lambda data, noise: sum(data) + noise.gaussian(1), claim="mu=1", relation="add-remove", name="signed sum"
    )
    made = parallel({True: part, False: part}, by=lambda record: abs(record) > 1, relation="replace")
    assert made.claim == GaussianDP(2)
    assert made.relation_for({}) == "replace"
    assert made.pairs_for({}) == []
    renyi = replace(part, claim="order=2, epsilon=1")
    with pytest.raises(UsageError, match="group itself"):
        parallel({True: renyi}, by=bool, relation="replace")


@pytest.mark.parametrize(
    ("relation", "pair", "farther"),
    [
        ("queries", ([1, 1], [0, 2]), [([1, 1], [-2, 4])]),
        ("queries(one)", (0, 1), [(0, 3)]),
        ("add-remove", ([1], [1, 2]), [([1], [1, 2, 2, 2])]),
        ("add-remove", ([1, 2], [1]), [([1, 2, 2, 2], [1])]),
        ("add-remove", ([2, 1], [1]), []),
        ("add-remove(group=2)", ([], [1, 2]), [([], [1, 2] * 3)]),
        ("replace", ([1], [2]), []),
        ("declared", (0, 1), []),
    ],
)
def test_pairs_for_groups(relation, pair, farther):
    made = group(replace(program, relation=relation, pairs=[pair]), 3)
    assert made.pairs_for({}) == farther
    for data0, data1 in farther:
        dp.tools.Relation(*_parsed(made.relation_for({}))).check(data0, data1)


def _parsed(text):
    from dpaudit.neighbours import parse_relation

    relation = parse_relation(text)
    return relation.kind, relation.movement, relation.group


# --- the entries -----------------------------------------------------------------------------------------

ENTRIES = ["laplace_group", "mixture_of_noises", "partition_counts", "rounded_laplace", "two_counts"]


def entry(name):
    return getattr(mechanisms, name)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_an_entry_claims_epsilon_and_loses_all_of_it(name, epsilon):
    found = entry(name)
    parameters = found.parameters_with({"epsilon": epsilon})
    assert str(found.claim_for(parameters)) == str(PureDP(found.claim_for(parameters).epsilon))
    assert found.claim_for(parameters).epsilon == pytest.approx(epsilon)
    assert found.true_loss_for(parameters) == pytest.approx(epsilon)
    assert found.family == "combinators"


def test_partition_counts_under_replace():
    found = entry("partition_counts")
    parameters = found.parameters_with({"relation": "replace", "epsilon": 0.5})
    assert found.claim_for(parameters) == PureDP(1)
    assert found.true_loss_for(parameters) == pytest.approx(1)


def test_two_counts_and_partition_counts_release_what_they_say():
    noise, quiet = ScalarNoise(np.random.default_rng(0)), {"epsilon": 1e9}
    assert entry("two_counts")([1, 0, 1], noise, **quiet) == pytest.approx((2, 3))
    counted = entry("partition_counts")(["blue", "green", "blue", "pink"], noise, **quiet)
    assert counted == pytest.approx({"blue": 2, "brown": 0, "green": 1}, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.3, 1])
def test_the_law_of_rounded_noise_by_integration(epsilon):
    law = combinators.rounded_law(1, epsilon)
    assert sum(law) == pytest.approx(1)
    for k in (-3, 0, 1, 2, 7):
        corners = sorted({k - 0.5, min(max(1.0, k - 0.5), k + 0.5), k + 0.5})
        naive = sum(integrate.quad(stats.laplace.pdf, *ends, args=(1, 1 / epsilon))[0] for ends in pairwise(corners))
        assert law[k + 40] == pytest.approx(naive, rel=1e-9)


@pytest.mark.slow
def test_the_coin_of_a_mixture_shows():
    noise = ScalarNoise(np.random.default_rng(0))
    kinds = [type(entry("mixture_of_noises")(0, noise, p=0.2)) for _ in range(2_000)]
    assert agrees(kinds.count(float), 2_000, 0.2)
    assert set(kinds) == {float, int}


def test_the_digest_of_an_entry_depends_on_its_recipe():
    digests = {entry(name).digest for name in ENTRIES}
    assert len(digests) == len(ENTRIES)
    assert None not in digests

"""Is the exact loss the loss? Published and hand-made programs with their exact fractions, naive twins, forgeries."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.enumerable import (
    NOISY_MAX,
    SHUFFLED,
    SPARSE_VECTOR,
    bits,
    exponential_base_2,
    geometric_count,
    leaky_responses,
    noisy_max,
    one_replaced,
    permute_and_flip_base_2,
    responses,
)

import mechanisms
from dpaudit.errors import UsageError
from dpaudit.program.enumerate import Exact, OutputLaw, output_text
from dpaudit.verify.exact import (
    check_every,
    check_record,
    enumerated_privacy,
    exact_privacy,
    exp_of,
    laws_of,
    log_interval,
    neighbouring,
)


def over_pairs(function, pairs):
    datasets = [data for pair in pairs for data in pair]
    indices = [(2 * place, 2 * place + 1) for place in range(len(pairs))]
    return exact_privacy(laws_of(function, datasets), indices, names=list(map(output_text, datasets)))


# --- exact ratios ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "length", "parameters", "ratio", "traces"),
    [
        (responses, 4, {}, Fraction(3), 256),
        (SHUFFLED, 8, {"keep": 0.75}, Fraction(3), None),
        (geometric_count, 8, {}, Fraction(2), 2304),
        (exponential_base_2, 6, {}, Fraction(73, 21), 192),
        (permute_and_flip_base_2, 6, {}, Fraction(88, 23), None),
        (noisy_max, 2, {}, Fraction(7508, 4777), 676),
        (NOISY_MAX, 2, {}, Fraction(7508, 4777), None),
        (NOISY_MAX, 3, {}, Fraction(92531, 49222), None),
        (SPARSE_VECTOR, 3, {}, Fraction(6605165, 5158828), None),
        (leaky_responses, 3, {}, Fraction(6), 96),
    ],
)
@pytest.mark.slow
def test_the_exact_ratio(program, length, parameters, ratio, traces):
    loss = enumerated_privacy(program, bits(length), one_replaced, parameters)
    assert loss.exp_epsilon == ratio
    assert loss.scope.enumerated and loss.scope.sides == ("lower", "upper")
    assert len(loss.scope.datasets) == 2**length and loss.scope.pairs == length * 2 ** (length - 1)
    assert traces is None or loss.scope.traces == traces
    p, q = (law.get(loss.output, Fraction(0)) for law in loss.laws)
    assert p / q == ratio
    assert one_replaced(*(bits(length)[index] for index in loss.pair))
    low, high = loss.epsilon
    assert low <= math.log(ratio) * (1 + 1e-12) and math.log(ratio) * (1 - 1e-12) <= high
    check_record(loss.record())


@pytest.mark.parametrize(
    ("name", "domain", "ratio"),
    [
        ("two_coins", [0, 1], Fraction(3)),
        ("randomised_response", [0, 1], Exact.exponential(1)),
        ("generalised_randomised_response", range(4), Exact.exponential(1)),
        ("unary_encoding", range(4), Exact.exponential(1)),
    ],
)
def test_mechanisms_of_the_catalogue_keep_their_claims_exactly(name, domain, ratio):
    entry = getattr(mechanisms, name)
    loss = enumerated_privacy(entry, list(domain), "replace")
    claim = entry.claim_for(entry.parameters_with(None)).epsilon
    assert loss.exp_epsilon == ratio and loss.within(claim) and not loss.within(claim - 1e-9)
    check_record(loss.record())


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_selection_on_its_worst_pair(name):
    entry = getattr(mechanisms, name)
    parameters = entry.parameters_with(None)
    loss = over_pairs(entry, entry.pairs_for(parameters))
    assert loss.scope.sides == ("lower",) and str(loss.scope) == "1 given pair"
    low, high = loss.epsilon
    assert low <= entry.true_loss_for(parameters) * (1 + 1e-12) and low * (1 - 1e-12) <= high
    assert loss.within(1) and high - low <= 1e-12


def test_the_shuffle_of_many_bits_loses_what_one_bit_does():
    laws = laws_of(SHUFFLED, [[0] * 100, [1] + [0] * 99], {"keep": 0.75})
    assert exact_privacy(laws, [(0, 1)]).exp_epsilon == 3


def test_supports_that_differ_are_infinite():
    loss = enumerated_privacy(lambda data, noise: data or noise.bernoulli(0.5), [False, True], "replace")
    assert loss.exp_epsilon is None and loss.epsilon == (math.inf, math.inf) and not loss.within(10**9)
    assert loss.output == "False" and loss.pair == (0, 1)
    assert loss.record()["exp_epsilon"] == "inf"
    check_record(loss.record())


def test_equal_laws_lose_nothing():
    loss = over_pairs(lambda data, noise: noise.bernoulli(0.5), [(0, 1)])
    assert loss.exp_epsilon == 1 and loss.epsilon == (0.0, 0.0) and loss.within(0)


# --- laws against their twins ----------------------------------------------------------------------------

whole = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)


def law(counts):
    return OutputLaw({str(y): Fraction(count, sum(counts)) for y, count in enumerate(counts) if count}, 1)


def events(left, right):
    for size in range(4):
        for event in itertools.combinations("012", size):
            yield tuple(sum((side.weights.get(y, Fraction(0)) for y in event), Fraction(0)) for side in (left, right))


@settings(max_examples=200, deadline=None)
@given(whole, whole)
@pytest.mark.slow
def test_the_ratio_is_the_largest_over_all_events(first, second):
    left, right = law(first), law(second)
    both = [*events(left, right), *events(right, left)]
    infinite = any(p and not q for p, q in both)
    loss = exact_privacy([left, right], [(0, 1)])
    assert loss.exp_epsilon == (None if infinite else max(p / q for p, q in both if q))
    check_record(loss.record())


# --- numbers ---------------------------------------------------------------------------------------------


def test_what_an_epsilon_means():
    assert exp_of("ln(3)") == 3 and exp_of("ln(3/2)") == Fraction(3, 2)
    assert exp_of(0.3) == Exact.exponential(Fraction(3, 10)) == exp_of("0.3")
    assert exp_of(math.log(2)) < 2 < exp_of(math.log(2), upward=True)
    for text in ("ln(-1)", "ln(x)", "one", float("nan"), math.inf):
        with pytest.raises(UsageError):
            exp_of(text)


@pytest.mark.parametrize("ratio", [Fraction(n, 7) for n in range(8, 60, 3)])
def test_a_rounded_logarithm_is_the_claim_that_was_meant(ratio):
    loss = replace(exact_privacy([law([1]), law([1])], [(0, 1)]), exp_epsilon=ratio)
    claim = math.log(ratio)
    assert loss.within(claim) and not loss.within(claim * (1 - 1e-14))
    assert loss.within(f"ln({ratio})") and not loss.within(f"ln({ratio - Fraction(1, 10**30)})")


@given(st.fractions(Fraction(1, 100), 100))
@settings(max_examples=50, deadline=None)
def test_the_logarithm_is_enclosed(ratio):
    low, high = log_interval(ratio)
    assert low <= math.log(ratio) <= high or abs(math.log(ratio) - low) < 1e-14
    assert Exact.exponential(Fraction(low)) <= ratio <= Exact.exponential(Fraction(high))
    assert high - low <= 1e-11 * max(1.0, abs(low))


# --- domains and records ---------------------------------------------------------------------------------


def test_neighbours_in_a_domain():
    domain = [[], [0], [1], [0, 0], [0, 1]]
    assert neighbouring(domain, "add-remove") == [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4)]
    assert neighbouring(domain, "replace") == [(1, 2), (3, 4)]
    assert neighbouring([0, 1, 2], "queries") == [(0, 1), (1, 2)]
    assert len(neighbouring(bits(3), one_replaced)) == 12


def test_what_is_no_domain_is_refused():
    with pytest.raises(UsageError, match="declared"):
        enumerated_privacy(responses, bits(1), "declared")
    with pytest.raises(UsageError, match="twice"):
        enumerated_privacy(responses, [[0], [0]], one_replaced)
    with pytest.raises(UsageError, match="at least one pair"):
        enumerated_privacy(responses, [[0]], one_replaced)
    with pytest.raises(UsageError, match="more than 3 traces"):
        enumerated_privacy(responses, bits(2), one_replaced, most_traces=3)


def record():
    return enumerated_privacy(leaky_responses, bits(2), one_replaced).record()


def _understate(found):
    found["exp_epsilon"] = "3"


def _overstate(found):
    found["exp_epsilon"] = "7"


def _infinite(found):
    found["exp_epsilon"] = "inf"


def _another_output(found):
    first, second = ({text: Fraction(weight) for text, weight in side.items()} for side in found["laws"])
    ratios = {text: first[text] / second[text] for text in first if text in second}
    found["output"] = min(ratios, key=ratios.__getitem__)
    found["exp_epsilon"] = str(ratios[found["output"]])


def _no_law(found):
    found["laws"][1][found["output"]] = "0"


def _negative(found):
    text, other = list(found["laws"][0])[:2]
    moved = Fraction(found["laws"][0][text]) + 1
    found["laws"][0][text] = str(-moved)
    found["laws"][0][other] = str(Fraction(found["laws"][0][other]) + 2 * moved)


def _too_much(found):
    for side in found["laws"]:
        side["more"] = "1"


def _balanced(found):
    for side in found["laws"]:
        side.update(more="1", less="-1")


def _missing(found):
    del found["laws"]


def _unreadable(found):
    found["laws"][0][found["output"]] = "a half"


@pytest.mark.parametrize(
    "forge",
    [
        _understate,
        _overstate,
        _infinite,
        _another_output,
        _no_law,
        _negative,
        _too_much,
        _balanced,
        _missing,
        _unreadable,
    ],
)
def test_a_forged_record_is_refused(forge):
    found = record()
    check_record(found)
    forge(found)
    with pytest.raises(UsageError):
        check_record(found)


def test_the_digest_tells_laws_apart():
    digests = {
        enumerated_privacy(responses, bits(1), one_replaced, {"keep": keep}).scope.digest for keep in (0.75, 0.751)
    }
    assert len(digests) == 2
    again = enumerated_privacy(responses, bits(1), one_replaced, {"keep": 0.75}).scope.digest
    assert again in digests


# --- all laws ---------------------------------------------------------------------------------------------


def uneven(data, noise):
    """The second answer is told truly with probability 3/4, the first with 2/3."""
    return [b if noise.bernoulli(p) else 1 - b for b, p in zip(data, (Fraction(2, 3), Fraction(3, 4)), strict=True)]


def test_a_record_holds_all_laws_so_that_no_worse_pair_is_left_out():
    record = enumerated_privacy(uneven, bits(2), "replace").record()
    assert record["exp_epsilon"] == "3" and len(record["every"]) == 4
    assert check_every(record, "replace")
    better = over_pairs(uneven, [([0, 0], [1, 0])]).record()
    for name in ("exp_epsilon", "pair", "output", "laws"):
        record[name] = better[name]
    check_record(record)  # the laws of that pair have that ratio
    with pytest.raises(UsageError, match="larger ratio"):
        check_every(record, "replace")


def test_a_record_without_all_laws_is_left_unchecked_and_a_false_one_refused():
    record = enumerated_privacy(uneven, bits(2), "replace").record()
    del record["every"]
    assert not check_every(record, "replace")
    two = enumerated_privacy(uneven, bits(2)[:2], "replace").record()
    assert "every" not in two and check_every(two, "replace")
    with pytest.raises(UsageError, match="digest"):
        check_every({**two, "laws": two["laws"][:1] * 2}, "replace")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda record: record["every"].pop(), "not as many"),
        (lambda record: record.update(pairs=2), "neighbours"),
        (lambda record: record.update(pair=record["pair"][:1] * 2), "worst pair"),
    ],
)
def test_laws_that_do_not_belong_together_are_refused(change, sentence):
    record = enumerated_privacy(uneven, bits(2), "replace").record()
    change(record)
    with pytest.raises(UsageError, match=sentence):
        check_every(record, "replace")

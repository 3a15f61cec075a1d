"""Does a text of events read back as itself, and is everything else refused?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accounts.account import events_in
from dpaudit.accounts.plan import parse_events
from dpaudit.errors import UsageError
from dpaudit.evidence.further_records import Release

positive = st.fractions(min_value="1/1000", max_value=1000) | st.floats(0.001, 1000)
mechanisms = st.one_of(
    st.builds(dp.accounting.Gaussian, positive, sensitivity=positive),
    st.builds(dp.accounting.Laplace, positive, sensitivity=positive),
    st.builds(dp.accounting.DiscreteLaplace, positive, sensitivity=st.integers(1, 9)),
    st.builds(dp.accounting.DiscreteGaussian, positive),
    st.builds(dp.accounting.RandomisedResponse, positive),
    st.builds(dp.accounting.Exponential, positive),
    st.just(dp.accounting.Block("epsilon=1, delta=1e-6")),
)
sampled = st.builds(lambda own, rate: own.poisson(rate), mechanisms, st.fractions("1/1000", 1))
events = st.lists(st.tuples(mechanisms | sampled, st.integers(1, 10**9 // 4)), min_size=1, max_size=4).map(
    lambda parts: sum((event.times(count) for event, count in parts[1:]), parts[0][0].times(parts[0][1]))
)


@pytest.mark.slow
@given(events)
@settings(max_examples=60)
def test_a_text_reads_back_as_the_same_events(listed):
    assert parse_events(str(listed)) == listed


def test_a_number_is_the_same_as_a_float_and_as_a_text():
    for text in ("Gaussian(0.1)", "Gaussian('0.1')", "Gaussian('1/10')"):
        assert parse_events(text) == dp.accounting.Gaussian(0.1).times(1) == dp.accounting.Gaussian("1/10").times(1)


def test_a_release_is_one_event_as_it_is_written():
    for text in ("Gaussian( 0.1)", "laplace(epsilon=0.5)", "Gaussian(0.1)", "Gaussian(1).times(2)"):
        with pytest.raises(UsageError, match="a release is one event"):
            events_in([Release(text, 1)])


def test_sums_may_stand_in_brackets_and_be_repeated():
    assert (
        str(parse_events("(Laplace(1) + Gaussian(2).times(3)).times(2)"))
        == "Laplace(1).times(2) + Gaussian(2).times(6)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cannot read the events"),
        ("Gaussian", "cannot read the events"),
        ("Gaussian(1) * 2", "cannot read the events"),
        ("Gaussian(x)", "cannot read the events"),
        ("__import__('os').system('true')", "there is no mechanism '__import__'"),
        ("Gaussian(1).__class__(2)", "has no '__class__'"),
        ("Gaussian(1).relations()", "has no 'relations'"),
        ("Gaussian(1).times(2).poisson(0.5)", "has no 'poisson'"),
        ("Gaussian()", "give sigma"),
        ("Gaussian(1, 2)", "is not how Gaussian is written"),
        ("Gaussian(**{'sigma': 1})", "cannot read the events"),
        ("Gaussian(1).poisson(1.5)", "a sampling rate is above 0 and at most 1"),
        ("Gaussian(1).times(1.5)", "whole number"),
        ("Gaussian('nan')", "finite number"),
        ("Gaussian(1e999)", "finite number"),
        ("Gaussian('1e999999999')", "digits"),
        ("Gaussian(1).times(10000000000)", "whole number"),
        ("Gaussian(" * 5000 + "1" + ")" * 5000, "cannot read the events"),
        ("+".join(["Gaussian(1)"] * 20_000), "too long"),
    ],
)
def test_what_is_no_such_text_is_refused_in_a_sentence(text, said):
    with pytest.raises(UsageError) as refused:
        parse_events(text)
    assert said in str(refused.value) and len(str(refused.value)) < 400


def test_a_thousand_releases_are_read():
    text = " + ".join(f"Laplace({number})" for number in range(1, 1001))
    assert parse_events(text).steps == 1000

"""Are errors those of the outputs, against the right exact answer, and never more than is known?"""

import math

import msgspec
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing.accuracy import accuracy_of, exact_answer
from dpaudit.loading import load
from dpaudit.report import console_summary
from dpaudit.report.text.findings import accuracy_line, accuracy_rows, accuracy_sentences
from dpaudit.review.check import check
from dpaudit.sampling.outputs import from_list, taken


def outputs(*values):
    return from_list([taken(value) for value in values])


def answer(function, data=(3, 4)):
    return exact_answer(load(function), list(data), {})


def clipped(data, noise):
    return sum(min(value, 3) for value in data) + noise.laplace(1)


def chosen(data, noise):
    return noise.select(["red", "blue"], data, 1)


def largest(data, noise):
    return noise.argmax([value + noise.gumbel(1) for value in data])


def coin(data, noise):
    return noise.bernoulli(0.5)


def likely(data, noise):
    return noise.bernoulli(0.75)


def uniform(data, noise):
    return noise.uniform(0, 1)


def broken(data, noise):
    raise RuntimeError


def leaving(data, noise):
    raise SystemExit(3)


def test_without_noise_every_draw_is_its_likeliest():
    assert answer(clipped).output.equals(outputs(6.0))
    assert answer(chosen).output.equals(outputs("blue"))
    assert answer(largest).output.equals(outputs(1))
    assert not answer(largest).is_number  # an index is no amount
    assert answer(likely).output.equals(outputs(True))
    for unknown in (coin, uniform, broken, leaving, lambda data: 1.0):
        assert answer(unknown) is None


def test_errors_are_those_of_the_outputs():
    found = accuracy_of(outputs(5.0, 7.0, 9.0, "lost"), answer(clipped))
    assert (found.runs, found.compared, found.same, found.numbers) == (4, 3, 0, 1)
    (errors,) = found.errors
    assert errors.bias == 1
    assert errors.rmse == pytest.approx(math.sqrt(11 / 3), rel=1e-5)
    assert (errors.low, errors.high) == (-1, 3)
    assert "25.0 % of the outputs have another form" in " ".join(accuracy_sentences(found)).replace("\u00a0", " ")
    assert accuracy_of(outputs("lost"), answer(clipped)) is None
    assert accuracy_of(outputs(True, False, True), answer(likely)).errors == ()
    assert accuracy_of(outputs(1e300, 1e200), answer(clipped)).errors == ()  # no number stands for its square


def test_numbers_of_an_output_are_told_apart_while_they_are_few():
    def counts(data, noise):
        return [noise.laplace(1), noise.laplace(10)]

    found = accuracy_of(outputs([1.0, 10.0], [-1.0, -10.0]), answer(counts))
    assert [each.rmse for each in found.errors] == [1, 10]
    assert "RMSE 1 to 10; 2 numbers" in accuracy_line(found)
    assert [name for name, _ in accuracy_rows(found)] == ["number 0", "number 1"]
    many = exact_answer(load(lambda data, noise: noise.laplace(1, size=13)), [], {})
    assert len(accuracy_of(outputs(2 * np.ones(13)), many).errors) == 1


def test_a_query_that_is_exposed_is_the_exact_answer():
    @dp.mechanism(claim="epsilon=1", relation="replace", query=lambda data: float(sum(data)), sensitivity=1)
    def biased(data, noise):
        return clipped(data, noise)

    found = exact_answer(biased, [3, 4], {})
    assert found.source == "query"
    assert found.output.equals(outputs(7.0))


@pytest.mark.slow
def test_an_audit_says_what_privacy_costs():
    evidence = dp.audit("laplace", parameters={"epsilon": 0.5}, runs=40_000, seed=1)
    found = evidence.accuracy
    (errors,) = found.errors
    assert errors.rmse == pytest.approx(2 * math.sqrt(2), rel=0.1)
    assert errors.high == pytest.approx(2 * math.log(10), rel=0.1)  # the 95 % quantile of Laplace noise
    assert accuracy_line(found) in " ".join(console_summary(evidence).split())
    assert [each.answer.value for each in check(evidence) if each.what == "accuracy"] == ["not checked"]
    assert dp.audit("laplace", parameters={"epsilon": 0.5}, runs=40_000, seed=1, workers=2).id == evidence.id
    changes = [{"same": 10**6}, {"numbers": 3, "errors": (errors, errors)}]
    changes += [
        {"errors": (msgspec.structs.replace(errors, **change),)}
        for change in ({"rmse": 0.0}, {"low": 3.0, "high": 2.0}, {"high": math.inf})
    ]
    for change in changes:
        forged = msgspec.structs.replace(evidence, accuracy=msgspec.structs.replace(found, **change))
        assert [each.answer.value for each in check(forged) if each.what == "accuracy"] == ["fails"]


@pytest.mark.slow
def test_a_wanted_error_has_its_epsilon():
    plan = dp.tools.plan_error("laplace", 5, seed=1)
    assert plan.value == pytest.approx(math.log(10) / 5, rel=0.05)  # P(|noise| > 5) = e^(-5ε) = 10 %
    assert [place.within >= 0.9 for place in plan.places] == [False, False, True, True, True]
    assert dp.tools.plan_error("laplace", 5, seed=1) == plan
    assert dp.tools.plan_error("randomised_response", 0.05, seed=1).value == pytest.approx(math.log(19), rel=0.1)
    assert dp.tools.plan_error("laplace", 1e-9, seed=1).value is None
    with pytest.raises(dp.UsageError, match="no amounts"):
        dp.tools.plan_error("randomised_response", 5)
    with pytest.raises(dp.UsageError, match="no parameter 'rho'"):
        dp.tools.plan_error("laplace", 5, vary="rho")
    with pytest.raises(dp.UsageError, match="no exact answer"):
        dp.tools.plan_error(
            dp.mechanism(claim="epsilon=1", pairs=[(0, 1)])(lambda data, rng, epsilon=1.0: rng.normal(data)), 5
        )
    assert np.isfinite(plan.spent)


@pytest.mark.nightly
def test_on_data_that_were_given_the_errors_are_those_on_them():
    def number(data, noise):
        return 3.0 * len(data) + noise.laplace(1)

    def audited(**options):
        more = {"claim": "epsilon=3", "relation": "add-remove", "runs": 12_000, "seed": 1}
        return dp.audit(number, **more, **options)

    found = audited(data=list(range(50))).accuracy
    assert (found.pair, found.side) == (None, None)
    assert abs(found.errors[0].bias) < 1  # of 150, though the pair that was measured is smaller
    assert audited(domain=[0, 1]).accuracy is None


@pytest.mark.nightly
def test_runs_that_only_errors_rest_on_do_not_change_what_is_found(monkeypatch):
    from dpaudit.auditing import accuracy as module
    from dpaudit.errors import InvalidRunsError

    def failing(*_):
        raise InvalidRunsError("lost")
        yield

    monkeypatch.setattr(module, "play", failing)

    def counted(data, noise):
        return len(data) + noise.laplace(1)

    evidence = dp.audit(counted, claim="epsilon=1", relation="add-remove", data=[3, 4], runs=12_000, seed=1)
    assert evidence.accuracy is None
    assert str(evidence.verdict) == "not violated"

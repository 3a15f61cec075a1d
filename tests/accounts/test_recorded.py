"""Are records of Opacus and dp-accounting read as they are meant, and is what is not known refused by its name?"""

import json
from types import SimpleNamespace

import pytest

import dpaudit as dp
from dpaudit.accounts.account import plan_for
from dpaudit.accounts.recorded import dp_event_plan, opacus_plan, read_recorded
from dpaudit.errors import UsageError
from dpaudit.request import AccountRequest

HISTORY = [[1.1, 0.004, 1000], [0.9, 0.004, 20], [1.1, 0.004, 500]]
LISTED = dp.accounting.Gaussian(noise_multiplier="1.1").poisson("0.004").times(1500)
LISTED += dp.accounting.Gaussian(noise_multiplier="0.9").poisson("0.004").times(20)


@pytest.mark.parametrize(
    "record",
    [
        HISTORY,
        {"history": HISTORY, "mechanism": "prv"},
        SimpleNamespace(history=[tuple(item) for item in HISTORY]),
        SimpleNamespace(accountant=SimpleNamespace(history=HISTORY)),
    ],
    ids=["history", "state", "accountant", "engine"],
)
def test_a_history_of_opacus_is_read(record):
    plan = opacus_plan(record)
    assert plan.events == LISTED and plan.recorded_by == "Opacus"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ([], "has seen no step"),
        ({"history": HISTORY, "mechanism": "moments"}, "'moments' of Opacus is not known"),
        ({"mechanism": "rdp"}, "a history of Opacus is a list"),
        ({"history": HISTORY, "sampler": "round robin"}, "has 'sampler', which is not known"),
        ([[1.1, 0.004]], "entry 1 of the history of Opacus is"),
        ([[1.1, 0.004, "10"]], "entry 1"),
        ([[0.0, 0.004, 10]], "the noise multiplier must be above 0"),
        ([[float("nan"), 0.004, 10]], "finite"),
        ([[1.1, 1.5, 10]], "a sampling rate"),
        ([[1.1, 0.1, 10], [1.1, 0.1, 1.5]], "entry 2"),
        ("history", "a history of Opacus is a list"),
    ],
)
def test_a_history_that_is_none_is_refused(record, said):
    with pytest.raises(UsageError) as refused:
        opacus_plan(record)
    assert said in str(refused.value)


def gaussian(noise=1.1):
    return {"class_name": "GaussianDpEvent", "noise_multiplier": noise}


def test_events_of_dp_accounting_are_read_as_objects_and_as_json():
    library = pytest.importorskip("dp_accounting.dp_event")
    event = library.ComposedDpEvent(
        [
            library.SelfComposedDpEvent(library.PoissonSampledDpEvent(0.004, library.GaussianDpEvent(1.1)), 1500),
            library.SelfComposedDpEvent(
                library.ComposedDpEvent([library.LaplaceDpEvent(2.0), library.NoOpDpEvent()]), 3
            ),
            library.DiscreteLaplaceDpEvent(0.5, 2),
            library.ZCDpEvent(0.25),
        ]
    )
    listed = dp.accounting.Gaussian(noise_multiplier=1.1).poisson(0.004).times(1500) + dp.accounting.Laplace(
        noise_multiplier=2
    ).times(3)
    listed += dp.accounting.DiscreteLaplace(2, sensitivity=2)
    listed += dp.accounting.Block("rho=0.25")

    def plain(value):
        if hasattr(value, "_asdict"):
            return {name: plain(each) for name, each in value._asdict().items()}
        return [plain(each) for each in value] if isinstance(value, list) else value

    for record in (event, event.to_named_tuple(), json.loads(json.dumps(plain(event.to_named_tuple())))):
        plan = dp_event_plan(record)
        assert plan.events == listed and plan.recorded_by == "dp-accounting"
    assert plan_for(AccountRequest(event, delta="1e-5")).events == listed


def test_fixed_size_batches_of_dp_accounting_are_of_replaced_records():
    record = {"class_name": "SampledWithoutReplacementDpEvent", "source_dataset_size": 30, "sample_size": 3}
    listed = dp.accounting.Gaussian(noise_multiplier=1.1).fixed_size(3, 30).times(1)
    assert dp_event_plan({**record, "event": gaussian()}).events == listed


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"class_name": "NonPrivateDpEvent"}, "NonPrivateDpEvent"),
        ({"class_name": "ZCDpEvent", "rho": 1.0, "xi": 0.1}, "xi = 0.1"),
        ({"class_name": "ZCDpEvent", "rho": -1.0}, "rho"),
        ({"class_name": "ZCDpEvent"}, "no rho"),
        ({"class_name": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 2}, "no rational number"),
        (
            {"class_name": "BrandNewDpEvent"},
            "BrandNewDpEvent of dp-accounting cannot be accounted for: it is not known",
        ),
        ({"class_name": "NoOpDpEvent"}, "runs nothing"),
        ({"class_name": "GaussianDpEvent"}, "has no noise_multiplier"),
        (gaussian(0.0), "above 0"),
        (gaussian([1]), "number"),
        ({"class_name": 3}, "is {"),
        (3, "no event of dp-accounting"),
        ({"class_name": "ComposedDpEvent", "events": 3}, "are a list"),
        ({"class_name": "SelfComposedDpEvent", "event": gaussian(), "count": 1.5}, "whole number"),
        (
            {
                "class_name": "PoissonSampledDpEvent",
                "sampling_probability": 0.1,
                "event": {"class_name": "SelfComposedDpEvent", "event": gaussian(), "count": 2},
            },
            "several mechanisms on one sample",
        ),
    ],
)
def test_what_is_not_known_is_refused_by_its_name(record, said):
    with pytest.raises(UsageError) as refused:
        dp_event_plan(record)
    assert said in str(refused.value)


def test_events_that_are_nested_too_deep_are_refused():
    record = gaussian()
    for _ in range(60):
        record = {"class_name": "SelfComposedDpEvent", "event": record, "count": 1}
    with pytest.raises(UsageError, match="deep"):
        dp_event_plan(record)


def test_files_are_read_by_their_form(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(HISTORY), encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(gaussian(2.0)), encoding="utf-8")
    (tmp_path / "c.json").write_text("nope", encoding="utf-8")
    assert read_recorded(f"opacus:{tmp_path / 'a.json'}").events == LISTED
    assert read_recorded(f"dp-event:{tmp_path / 'b.json'}").events == dp.accounting.Gaussian(noise_multiplier=2).times(
        1
    )
    for wrong in ("a.json", "keras:a.json", f"opacus:{tmp_path / 'c.json'}", f"opacus:{tmp_path / 'd.json'}"):
        with pytest.raises(UsageError):
            read_recorded(wrong)

"""Is a function that trains audited as a mechanism: seeded, its parameters its output, and found out where wrong?"""

import random
import re
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.training.watch import watched

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
TRUE = 10**0.5  # μ of ten updates at σ = 1


def documented():
    """The function of the documentation, which audits itself once."""
    text = PAGE.read_text(encoding="utf-8")
    block = next(each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "dp.tools.trains" in each)
    names = {}
    exec(block, names)
    return names["train"], names["found"]


@pytest.mark.slow
def test_a_right_training_keeps_its_claim_nearly_to_the_bound_and_one_with_less_noise_is_found_out():
    train, found = documented()
    assert str(found.verdict) == "not violated" and 2.8 < found.lower.value < TRUE
    assert found.reproducible and found.target.asks == "seeded"
    options = {"pairs": [([100.0], [])], "relation": "add-remove", "claim": "mu=3.17", "seed": 1}
    wrong = dp.audit(train, parameters={"sigma": 0.5}, runs=2000, **options)
    assert str(wrong.verdict) == "violated"
    again = dp.audit(train, runs=2000, **options)
    assert again.id == found.id


def test_generators_that_a_loop_draws_from_are_those_of_the_audit():
    @dp.tools.trains
    def train(data, *, scale=1.0):
        return {"b": [random.random()], "a": scale * np.random.normal(size=(2, 2))}  # noqa: NPY002

    first, second, other = (train([], rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.shape == (5,) and (first == second).all() and (first != other).all()
    assert (train([], rng=np.random.default_rng(1), scale=2.0)[:4] == 2 * first[:4]).all()


def test_what_cannot_be_audited_gets_a_sentence():
    for wrong in (3, lambda: None, lambda rng: None):
        with pytest.raises(UsageError, match=r"trains a model|takes no data"):
            dp.tools.trains(wrong)
    for made in ("weights", object(), [], None):
        with pytest.raises(UsageError, match="return the model that it trained"):
            dp.tools.trains(lambda data, made=made: made)([], rng=np.random.default_rng(1))
    with pytest.raises(UsageError, match=r"needs a value for data, .* many runs instead"):
        watched(dp.tools.trains(lambda data: data), {})
    model = type("Model", (), {"state_dict": dict, "__repr__": None})
    with pytest.raises(UsageError, match=r"put @dpaudit\.tools\.trains above"):
        dp.audit(lambda data: model(), pairs=[(1, 2)], relation="declared", claim="mu=1", runs=200)


def test_a_model_of_pytorch_is_its_parameters_and_is_seeded():
    torch = pytest.importorskip("torch")
    train = dp.tools.trains(lambda data: torch.nn.Linear(3, 2))
    first, second = (train([], rng=np.random.default_rng(1)) for _ in range(2))
    assert first.shape == (8,) and (first == second).all()

"""Does a watch see real loops of JAX, with JAX Privacy and with Optax alone, and say what it cannot see?

Needs jax, optax, jax-privacy and scikit-learn: `make test-training` makes an environment for it, and elsewhere it is
skipped.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")
pytest.importorskip("jax_privacy")
pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "training"))

import jax_loops as loops  # noqa: E402
import numpy as np  # noqa: E402

import dpaudit as dp  # noqa: E402
from dpaudit.errors import UsageError  # noqa: E402
from dpaudit.training.watch import watched  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")
KINDS = {"private": loops.private, "optax": loops.optax_alone}


def watch(loop, **options):
    loader = options.pop("loader", loop.loader)
    return dp.watch_training(loop.model, loop.optimizer, loader, **{"seed": 1, **loop.options, **options})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mistake", ["right", "adam", *loops.MISTAKES])
def test_every_mistake_is_named_within_an_epoch(kind, mistake):
    if (kind, mistake) in loops.NOT_MADE:
        pytest.skip("cannot be made in this loop")
    loop = KINDS[kind](mistake, 1)
    with watch(loop) as seen:
        loop.train(seen)
    found = {each.fact: each.name for each in seen.findings if each.status in ("wrong", "note")}
    if mistake in loops.MISTAKES:
        fact, names = loops.MISTAKES[mistake]
        assert found.get(fact) in names
    else:
        unseen = {each.fact for each in seen.findings if each.status == "not seen"}
        assert not found and unseen == {"records", "generator"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_watched_loop_ends_where_it_would_have_ended(kind):
    bare, loop = KINDS[kind]("right", 3, 6), KINDS[kind]("right", 3, 6)
    gradient = bare.options.get("gradient")
    alone = bare.train(SimpleNamespace(gradient=gradient, optimizer=bare.optimizer, loader=bare.loader))
    with watch(loop) as seen:
        ended = loop.train(seen)
    for a, b in zip(jax.tree.leaves(alone), jax.tree.leaves(ended), strict=True):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-6)


def test_a_right_run_keeps_its_claim_and_a_wrong_one_does_not():
    for mistake, verdict in (("right", "not violated"), ("noise halved", "violated"), ("noise not used", "violated")):
        loop = loops.private(mistake, 0, 40)
        with watch(loop, claim="epsilon=8, delta=1e-5") as seen:
            loop.train(seen)
        assert str(seen.evidence.verdict) == verdict


def test_what_follows_the_noise_unseen_decides_nothing():
    loop = loops.private("alone", 0, 20)
    adam = optax.adam(0.01)

    def train(seen):
        params = loop.model
        state, own = seen.optimizer.init(params), adam.init(params)
        for batch in seen.loader.batch_iterator(len(loops.X), rng=0):
            total = seen.gradient(params, loops.X[batch], loops.Y[batch])
            noisy, state = seen.optimizer.update(total, state)
            updates, own = adam.update(noisy, own)
            params = optax.apply_updates(params, updates)

    with watch(loop, claim="epsilon=8, delta=1e-5") as seen:
        train(seen)
    found = {each.fact: each.status for each in seen.findings}
    assert found["parameters"] == found["divisor"] == "not seen" and found["noise"] == found["clipping"] == "right"
    assert str(seen.evidence.verdict) == "inconclusive"


def test_a_loop_that_calls_its_own_functions_is_not_seen():
    loop = loops.private("right", 0, 2)
    with watch(loop) as seen:
        loop.train(SimpleNamespace(gradient=loop.options["gradient"], optimizer=loop.optimizer, loader=loop.loader))
    assert {each.status for each in seen.findings} == {"not seen"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": "a model"}, "tree of arrays"),
        ({"model": {"w": np.zeros(3, int)}}, "floating-point"),
        ({"optimizer": optax.sgd(0.1)}, "no part of this transformation adds noise"),
        ({"sigma": None}, "give sigma="),
        ({"records": 0}, "records is a whole number"),
        ({"loader": [[0, 1]]}, "give records="),
        ({"loader": 7}, "not int"),
        ({"optimizer": SimpleNamespace(step=None)}, "a transformation of Optax, not SimpleNamespace"),
        ({"claim": "epsilon=8"}, "has no δ"),
    ],
)
def test_bad_requests_get_a_sentence(change, says):
    loop = loops.private("right", 0, 2)
    given = {"model": loop.model, "optimizer": loop.optimizer, "loader": loop.loader, **loop.options, **change}
    with pytest.raises(UsageError, match=says):
        dp.watch_training(given.pop("model"), given.pop("optimizer"), given.pop("loader"), **given)


def test_a_function_that_takes_whole_batches_leaves_its_clipping_unseen():
    loop = loops.private("right", 0, 3, wide=8, compiled=False)
    gradient = loop.options["gradient"]

    def whole(params, x, y, is_padding_example):
        if len(x) < loops.PADDED:
            raise ValueError("whole batches only")
        return gradient(params, x, y, is_padding_example=is_padding_example)

    batches = (np.arange(number, number + 90) for number in range(3))  # without a length

    def train(seen):
        strategy = SimpleNamespace(batch_iterator=lambda size, rng: iter(seen.loader))
        loop.train(SimpleNamespace(gradient=seen.gradient, optimizer=seen.optimizer, loader=strategy))

    with watch(loop, gradient=whole, clip=1.0, loader=batches, records=len(loops.X)) as seen:
        train(seen)
    found = {each.fact: each for each in seen.findings}
    assert found["clipping"].status == "not seen" and "whole batches only" in found["clipping"].text
    assert found["noise"].status == "right"


def test_watching_twice_is_refused_and_an_exception_leaves_what_was_seen():
    loop = loops.private("noise halved", 0, 20)

    def broken(seen):
        with pytest.raises(UsageError, match="already"):
            dp.watch_training(loop.model, seen.optimizer, None, sigma=1.0, clip=1.0)
        loop.train(seen)
        raise KeyError("in the middle")

    with pytest.raises(KeyError), watch(loop, claim="epsilon=8, delta=1e-5") as seen:
        broken(seen)
    assert seen.evidence.training.partial and str(seen.evidence.verdict) == "violated"


def test_a_script_is_watched():
    def train(watch):
        loop = loops.private("right", 0, 20)
        with watch(loop.model, loop.optimizer, loop.loader, **loop.options) as seen:
            loop.train(seen)

    found, raised = watched(train, {"seed": 1, "claim": "epsilon=8, delta=1e-5"})
    assert raised is None and found.training.how == "JAX Privacy"

"""Does a watch see real loops of PyTorch and Opacus, change nothing in them, and say what it cannot see?

Needs torch, opacus and scikit-learn: `make test-training` makes an environment for it, and elsewhere it is skipped.
"""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "training"))

import loops  # noqa: E402

import dpaudit as dp  # noqa: E402
from dpaudit.errors import UsageError  # noqa: E402
from dpaudit.training.canaries import coins_of  # noqa: E402
from dpaudit.training.watch import watched  # noqa: E402
from dpaudit.training.watchers.plain import Lost, NoiseFlow, NoisySum  # noqa: E402
from dpaudit.training.watchers.torch_watch import TorchWatch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")
CLAIM = "epsilon=8, delta=1e-5"
KINDS = {
    "hooks": loops.opacus,
    "ghost": lambda *args, **more: loops.opacus(*args, ghost=True, **more),
    "plain": loops.plain,
}


def watch(loop, **options):
    return dp.watch_training(loop.model, loop.optimizer, loop.loader, **{"seed": 1, **loop.options, **options})


def weights(loop):
    return torch.cat([p.detach().flatten() for p in loop.model.parameters()])


@pytest.mark.parametrize("kind", KINDS)
def test_a_watch_changes_no_bit_of_the_training_and_gives_everything_back(kind):
    bare, seen = KINDS[kind]("right", 3, 8), None
    torch.manual_seed(5)
    bare.train()
    seen = KINDS[kind]("right", 3, 8)
    before = type(seen.loader), type(seen.loader.batch_sampler), set(vars(seen.optimizer))
    torch.manual_seed(5)
    with watch(seen):
        seen.train()
    assert torch.equal(weights(bare), weights(seen))
    assert before == (type(seen.loader), type(seen.loader.batch_sampler), set(vars(seen.optimizer)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mistake", ["right", *loops.MISTAKES])
def test_every_mistake_is_named_within_an_epoch(kind, mistake):
    if (kind, mistake) in loops.NOT_MADE:
        pytest.skip("cannot be made in this loop")
    loop = KINDS[kind](mistake, 1)
    with watch(loop) as seen:
        loop.train()
    found = {each.fact: each.name for each in seen.findings if each.status in ("wrong", "note")}
    if mistake == "right":
        shown = seen.evidence.training
        assert not found and 0 < shown.low.value <= shown.high.value < shown.low.value * 1.001
    else:
        fact, names = loops.MISTAKES[mistake]
        assert found.get(fact) in names


def test_a_right_run_keeps_its_claim_and_a_wrong_one_does_not():
    for mistake, verdict in (("right", "not violated"), ("noise halved", "violated")):
        loop = loops.opacus(mistake, 0, 40)
        with watch(loop, claim=CLAIM) as seen:
            loop.train()
        assert str(seen.evidence.verdict) == verdict


# --- canaries -------------------------------------------------------------------------------------------------


def scores_of(loop, records):
    def scores():
        with torch.no_grad():
            x, y = loops.DIGITS[records]
            return -torch.nn.functional.cross_entropy(loop.model(x), y, reduction="none")

    return scores


@pytest.mark.parametrize("mistake", ["right", "memory manager", "adam", "uncounted accumulation"])
def test_canaries_of_gradients_come_through_the_loop_and_leave_nothing_behind(mistake):
    loop = loops.opacus(mistake, 3, 60)
    params, held = len(loop.optimizer.params), set(vars(loop.optimizer))
    with watch(loop, canaries=1000, claim=CLAIM) as seen:
        loop.train()
    told = seen.evidence.training.canaries
    assert sum(told.given) == 1000 and told.epsilon > 0 and str(seen.evidence.verdict) != "violated"
    assert mistake == "uncounted accumulation" or not [f for f in seen.findings if f.status in ("wrong", "note")]
    assert len(loop.optimizer.params) == params and set(vars(loop.optimizer)) == held
    assert len(loop.optimizer.state) <= params


def test_gradients_that_are_not_clipped_or_get_no_noise_are_told_apart():
    shown = []
    for mistake, sigma in (("right", 1.0), ("no clipping", 1.0), ("right", 0.05)):
        loop = loops.opacus(mistake, 3, 60, sigma=sigma)
        with watch(loop, canaries=600) as seen:
            loop.train()
        shown.append(seen.evidence.training.canaries.sure)
    assert shown[0] < 1 < 1.5 < min(shown[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_listed_canaries_are_left_out_by_their_coins_and_nothing_is_seen_wrong(kind):
    loop, records, given = KINDS[kind]("right", 3, 20), list(range(300)), []
    batches = loop.loader.batch_sampler
    with watch(loop, canaries=records, canary_scores=scores_of(loop, records)) as seen:
        loop.train()
        given.extend(map(int, next(iter(batches)) + next(iter(batches))))
    coins = coins_of(300, 1)
    assert all(coins[each] for each in given if each < 300) and any(each < 300 for each in given)
    assert sum(seen.evidence.training.canaries.given) == 300
    found = {each.fact: each.status for each in seen.findings}
    assert found["batches"] == found["clipping"] == "right" and "wrong" not in found.values()


def broken(train):
    train()
    raise KeyError("in the middle")


def test_canaries_of_a_loop_that_ends_early_are_those_of_what_was_seen():
    loop = loops.opacus("right", 0, 4)
    with pytest.raises(KeyError), watch(loop, canaries=50) as seen:
        broken(loop.train)
    assert seen.evidence.training.canaries is not None and seen.evidence.training.partial
    loop = loops.opacus("right", 0, 4)
    with pytest.raises(KeyError), watch(loop, canaries=list(range(50)), canary_scores=lambda: [0.0] * 50) as seen:
        broken(list)
    assert seen.evidence.training.canaries is None and "canaries" in seen.evidence.training.partial


def test_canaries_where_they_cannot_be_get_a_sentence():
    hooks, ghost, plain = loops.opacus(), loops.opacus(ghost=True), loops.plain()
    workers = loops.opacus("workers")
    for loop, options, says in (
        (hooks, {"canaries": 5000}, "give fewer"),
        (hooks, {"canaries": [1, 2]}, "could show nothing"),
        (hooks, {"canaries": list(range(50))}, "need canary_scores"),
        (hooks, {"canary_scores": list}, "give canaries="),
        (ghost, {"canaries": 50}, "a loop of Opacus with hooks"),
        (plain, {"canaries": 50}, "a loop of Opacus with hooks"),
        (workers, {"canaries": 50}, "num_workers=0"),
    ):
        with pytest.raises(UsageError, match=says):
            watch(loop, **options)
    loop = loops.opacus("right", 0, 2)
    with pytest.raises(UsageError, match="no loader that draws"):
        dp.watch_training(loop.model, loop.optimizer, None, canaries=50)
    loop.optimizer.target_unclipped_quantile = 0.5
    with pytest.raises(UsageError, match="hangs on the gradients of records"):
        watch(loop, canaries=50)


# --- what cannot be watched ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"claim": "epsilon=8"}, "has no δ"),
        ({"claim": "mu=1"}, "judged by ε at a δ"),
        ({"model": "a model"}, "torch.nn.Module"),
        ({"optimizer": object()}, "torch.optim.Optimizer"),
        ({"sigma": -1.0}, "above 0"),
        ({"sampling": "random"}, "sampling is one of"),
        ({"keep_data": True}, "nothing about its records"),
    ],
)
def test_bad_requests_get_a_sentence(change, says):
    loop = loops.plain("right", 0, 2)
    given = {"model": loop.model, "optimizer": loop.optimizer, "loader": loop.loader, **loop.options, **change}
    with pytest.raises(UsageError, match=says):
        dp.watch_training(given.pop("model"), given.pop("optimizer"), given.pop("loader"), **given)


def test_models_and_optimizers_that_do_not_belong_together():
    loop, other = loops.opacus("right", 0, 2), loops.network()
    with pytest.raises(UsageError, match="no gradients of single records"):
        dp.watch_training(other, loop.optimizer, loop.loader)
    plain = torch.optim.SGD(loops.network().parameters(), lr=0.1)
    with pytest.raises(UsageError, match="no parameter of this model"):
        dp.watch_training(other, plain, None, sigma=1.0, clip=1.0)
    with pytest.raises(UsageError, match="give sigma="):
        dp.watch_training(other, plain)


def test_watching_twice_is_refused_and_the_first_watch_goes_on():
    loop = loops.opacus("right", 0, 4)
    with watch(loop) as seen:
        with pytest.raises(UsageError, match="already"):
            watch(loop)
        with pytest.raises(UsageError, match="still being watched"):
            _ = seen.evidence
        loop.train()
    assert len(seen.evidence.training.facts) >= 10
    with pytest.raises(UsageError, match="one loop"), seen:
        pass


def test_a_loader_without_a_length_is_not_seen_and_says_so():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([(x, y) for x, y in loops.DIGITS])

    loop = loops.plain("right", 0, 4)
    loop.loader = torch.utils.data.DataLoader(Stream(), batch_size=90)
    with watch(loop) as seen:
        loop.train()
    batches = next(each for each in seen.findings if each.fact == "batches")
    assert batches.status == "not seen" and "no length" in batches.text


def test_a_sampler_of_something_else_than_records_breaks_no_loop():
    class Pairs(torch.utils.data.Sampler):
        def __iter__(self):
            return iter([[(0, "a"), (1, "b")]] * 3)

    class ByPairs(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, key):
            return loops.DIGITS[key[0]]

    loop = loops.plain("right", 0, 2)
    loop.loader = torch.utils.data.DataLoader(ByPairs(), batch_sampler=Pairs())
    with watch(loop) as seen:
        for _ in loop.loader:
            pass
    assert "something else" in next(each.text for each in seen.findings if each.fact == "batches")


def test_gradients_that_are_changed_after_the_noise_decide_nothing():
    loop = loops.opacus("right", 0, 20)
    with watch(loop, claim=CLAIM) as seen:
        inner = loop.optimizer.step_hook

        def hook(optimizer):
            inner(optimizer)
            for p in optimizer.params:
                p.grad = p.summed_grad / 90

        loop.optimizer.step_hook = hook
        loop.train()
    assert str(seen.evidence.verdict) == "inconclusive" and "after the noise" in seen.evidence.reason


def test_what_was_seen_before_an_exception_is_kept_and_partial():
    loop = loops.opacus("noise halved", 0, 30)

    def broken():
        loop.train()
        raise KeyError("in the middle")

    with pytest.raises(KeyError), watch(loop, claim=CLAIM) as seen:
        broken()
    found = seen.evidence
    assert found.training.partial and str(found.verdict) == "violated" and "part of the loop" in found.reason
    assert not hasattr(loop.optimizer, "_dpaudit_watched")


def test_noise_that_is_not_followed_is_not_seen_rather_than_wrong():
    loop = loops.plain("right", 0, 4, gradient=False)
    inner = loop.train
    randn = torch.randn_like

    def from_elsewhere(p):
        import numpy as np

        return torch.from_numpy(np.random.default_rng().normal(size=p.shape).astype("float32"))

    torch.randn_like = from_elsewhere
    try:
        with watch(loop) as seen:
            inner()
    finally:
        torch.randn_like = randn
    found = {each.fact: each.status for each in seen.findings}
    assert found["noise"] == found["clipping"] == "not seen" and found["parameters"] != "wrong"


def test_noise_is_followed_by_keyword_and_forgotten_with_its_tensors():
    p, flow = torch.nn.Parameter(torch.zeros(5)), NoiseFlow()
    with flow:
        noise, total = torch.randn(5), torch.ones(5)
        p.grad = torch.add(total, other=noise * 2) / 4
        changed = torch.zeros(5).add_(other=noise)
        lost = torch.where(total > 0, noise, total)
    seen = flow.tag(p.grad)  # the gradient alone holds its tensor
    assert isinstance(seen, NoisySum) and seen.divisor == 4 and torch.equal(seen.noise, noise * 2)
    assert torch.equal(flow.tag(changed).noise, noise) and isinstance(flow.tag(lost), Lost)
    del noise, changed, lost
    assert list(flow.tags) == [id(p.grad)]


# --- scripts ------------------------------------------------------------------------------------------------


def test_a_script_is_watched_as_it_is_and_one_without_a_loop_is_refused():
    def script():
        loop = loops.opacus("right", 0, 20)
        loop.train()

    found, raised = watched(script, {"seed": 1})
    assert raised is None and sum(count for _, _, count in found.training.steps) == 20

    def broken():
        script()
        raise RuntimeError("later")

    found, raised = watched(broken, {"seed": 1})
    assert isinstance(raised, RuntimeError) and found.training.partial
    for function in (lambda: None, lambda watch: None):
        with pytest.raises(UsageError, match="no training loop"):
            watched(function, {})


def test_watchers_of_other_loops_are_left_alone():
    first, second = loops.opacus("right", 0, 3, ghost=True), loops.opacus("right", 1, 3, ghost=True)
    with TorchWatch(
        first.model, first.optimizer, first.loader, sigma=None, clip=None, rate=None, sampling="poisson",
        gradient=None, accountant=None, seed=0,
    ) as seen:  # fmt: skip
        second.train()
    assert not seen.seen.updates and not seen.seen.replays


# --- what surrounds a loop ----------------------------------------------------------------------------------


def fact_of(watch, name):
    return next((each.status, each.name) for each in watch.findings if each.fact == name)


def test_a_right_loop_has_one_clip_norm_enough_digits_and_one_process():
    for make in KINDS.values():
        loop = make("right", 0, 3)
        with watch(loop) as seen:
            loop.train()
        told = [fact_of(seen, name)[0] for name in ("adaptive", "precision", "generator", "machines")]
        assert told == ["right", "right", "not seen", "right"]


def test_a_clip_norm_that_adapts_is_seen_and_a_count_without_noise_is_wrong():
    from opacus.optimizers import AdaClipDPOptimizer

    found = []
    for bare in (False, True):
        loop = loops.opacus("right", 0, 20)
        options = {"target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.2, "max_clipbound": 10.0}
        options |= {"min_clipbound": 0.01, "unclipped_num_std": 5.0, "max_grad_norm": 1.0, "noise_multiplier": 1.0}
        optimizer = AdaClipDPOptimizer(loop.optimizer.original_optimizer, expected_batch_size=90, **options)
        optimizer.attach_step_hook(loop.optimizer.step_hook)
        if bare:
            inner, settle = optimizer.add_noise, optimizer.update_max_grad_norm

            def forgotten(optimizer=optimizer, inner=inner):
                count = optimizer.unclipped_num
                inner()
                optimizer.unclipped_num = count

            optimizer.add_noise, optimizer.update_max_grad_norm = forgotten, settle
        with dp.watch_training(loop.model, optimizer, loop.loader, claim=CLAIM, seed=1) as seen:
            loss = torch.nn.CrossEntropyLoss()
            for x, y in loop.loader:
                optimizer.zero_grad()
                loss(loop.model(x), y).backward()
                optimizer.step()
        found.append(fact_of(seen, "adaptive"))
        assert (fact_of(seen, "clipping")[0] == "right" and str(seen.evidence.verdict) == "inconclusive") or bare
    assert found == [("not seen", "adapts to a noisy count"), ("wrong", "a count without noise")]


def test_digits_of_mixed_precision_of_bfloat16_and_of_rounded_gradients():
    loop = loops.opacus("right", 0, 3)
    with watch(loop) as seen:
        for x, y in loop.loader:
            loop.optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(loop.model(x), y)
            loss.backward()
            loop.optimizer.step()
    assert fact_of(seen, "precision") == ("right", "mixed precision")
    loop = loops.opacus("right", 0, 3)
    inner = loop.optimizer.step_hook

    def rounding(optimizer):
        inner(optimizer)
        for p in optimizer.params:
            p.grad = p.grad.bfloat16().float()

    loop.optimizer.step_hook = rounding
    with watch(loop) as seen:
        loop.train()
    text = next(each.text for each in seen.findings if each.fact == "precision")
    assert "rounded to bfloat16 afterwards" in text and "altered" not in {each.fact for each in seen.findings}
    model = torch.nn.Linear(4, 2).bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with dp.watch_training(model, optimizer, sigma=1.0, clip=1.0) as seen:
        for p in model.parameters():
            p.grad = torch.zeros_like(p) + torch.randn_like(p)
        optimizer.step()
    assert fact_of(seen, "precision") == ("wrong", "noise with few digits")


def test_secure_mode_with_an_ordinary_generator_is_wrong_and_its_sums_are_right_noise():
    loop = loops.opacus("right", 0, 20)
    loop.optimizer.secure_mode, loop.optimizer.generator = True, torch.Generator()
    with watch(loop) as seen:
        loop.train()
    assert fact_of(seen, "generator")[0] == "wrong" and fact_of(seen, "noise")[0] == "right"


def test_what_other_processes_add_is_not_seen():
    from torch import distributed
    from torch.testing._internal.distributed.fake_pg import FakeStore

    loop = loops.opacus("right", 0, 3)
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        with watch(loop, claim=CLAIM) as seen:
            loop.train()
    finally:
        distributed.destroy_process_group()
    assert fact_of(seen, "machines")[0] == "not seen" and str(seen.evidence.verdict) == "inconclusive"


# --- what moves weights beside the step -------------------------------------------------------------------------


def by_hand(loop, _):
    with torch.no_grad():
        next(loop.model.parameters()).add_(1e-3)


def second_optimizer(loop, _):
    bias = list(loop.model.parameters())[-1]
    bias.grad = torch.ones_like(bias)
    torch.optim.SGD([bias], lr=0.1).step()


def data_by_hand(loop, _):
    next(loop.model.parameters()).data.mul_(1.001)


def hooked(loop, step):
    def zeroed(*_):
        next(loop.model.parameters()).grad.zero_()

    if not step:  # after the look at the noise
        getattr(loop.optimizer, "original_optimizer", loop.optimizer).register_step_pre_hook(zeroed)


def test_a_sum_that_is_changed_before_its_noise_and_a_gradient_after_it_decide_nothing():
    loop = loops.opacus("right", 0, 12)
    with watch(loop, claim=CLAIM) as seen:
        original = loop.optimizer.clip_and_accumulate

        def summed():
            original()
            loop.optimizer.params[0].summed_grad.add_(5.0)

        loop.optimizer.clip_and_accumulate = summed
        loop.train()
    assert fact_of(seen, "clipping")[0] == "not seen" and str(seen.evidence.verdict) == "inconclusive"
    loop = loops.plain("right", 0, 12)
    loop.optimizer.register_step_pre_hook(bare_gradients)
    with watch(loop, claim=CLAIM) as seen:
        loop.train()
    assert fact_of(seen, "altered")[0] == "not seen" and str(seen.evidence.verdict) == "inconclusive"


def bare_gradients(optimizer, *_):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad.data[:] = 1.0


def test_steps_that_were_accounted_for_before_a_watch_make_it_partial():
    loop = loops.opacus("right", 0, 12)
    loop.train()
    with watch(loop, claim=CLAIM) as seen:
        loop.train()
    assert str(seen.evidence.verdict) == "inconclusive" and "12 steps" in seen.evidence.training.partial


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [by_hand, second_optimizer, data_by_hand, hooked, None])
def test_weights_and_gradients_that_something_else_changes_decide_nothing(kind, change):
    loop = KINDS[kind]("right", 0, 1)
    with watch(loop, claim=CLAIM) as seen:
        for step in range(12):
            loop.train()
            if change is not None:
                change(loop, step)
    told = {each.fact for each in seen.findings if each.status == "not seen"} & {"parameters", "altered"}
    assert told == ({"altered"} if change is hooked else set() if change is None else {"parameters"})
    assert change is None or str(seen.evidence.verdict) == "inconclusive"

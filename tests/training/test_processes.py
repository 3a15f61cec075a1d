"""What does a watch say in each of several real processes that train together, with gloo on one machine?

Needs torch and opacus: `make test-training` makes an environment for it, and elsewhere it is skipped.
"""

import json
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "training"))

import loops  # noqa: E402
from torch import distributed, multiprocessing  # noqa: E402

import dpaudit as dp  # noqa: E402
from dpaudit.errors import UsageError  # noqa: E402

OPTIONS = {"claim": "epsilon=8, delta=1e-5", "seed": 1}
UNSEEN = {"batches", "noise", "repetition", "independence", "parameters", "machines"}


def opacus(rank, *, ghost=False, clipped=True):
    """A loop of Opacus, whose first process alone draws noise."""
    from opacus import PrivacyEngine
    from opacus.distributed import DifferentiallyPrivateDistributedDataParallel

    torch.manual_seed(7)
    model, loss_of = DifferentiallyPrivateDistributedDataParallel(loops.network(16)), torch.nn.CrossEntropyLoss()
    torch.manual_seed(rank)
    made = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=torch.utils.data.DataLoader(loops.DIGITS, batch_size=90),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
        grad_sample_mode="ghost" if ghost else "hooks",
        **({"criterion": loss_of} if ghost else {}),
    )
    private, optimizer, loader = made[0], made[1], made[-1]
    loss_of = made[2] if ghost else loss_of
    if not clipped:
        loops._plant("no clipping", private, optimizer, None, 1.0)
    with pytest.raises(UsageError, match="canaries need one process"):
        dp.watch_training(private, optimizer, loader, canaries=50)
    with dp.watch_training(private, optimizer, loader, **OPTIONS) as watch:
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(private(x), y).backward()
            optimizer.step()
    return watch


def plain(rank, *, share=2**-0.5, before=False):
    """A loop without a library; each process adds a share of the noise, to its own sum or to that of all."""
    loop = loops.plain("right", 0, 20)
    torch.manual_seed(rank)
    gradient, params = loop.options["gradient"], list(loop.model.parameters())
    with dp.watch_training(loop.model, loop.optimizer, loop.loader, **loop.options, **OPTIONS) as watch:
        for batch in loop.loader:
            for p, total in zip(params, gradient(batch), strict=True):
                if before:
                    distributed.all_reduce(total)
                noisy = total + share * torch.randn_like(total)
                if not before:
                    distributed.all_reduce(noisy)
                p.grad = noisy / 180
            loop.optimizer.step()
    return watch


LOOPS = {
    "Opacus": opacus,
    "Opacus, ghost": lambda rank: opacus(rank, ghost=True),
    "Opacus, not clipped": lambda rank: opacus(rank, clipped=False),
    "shared noise": plain,
    "noise on one": lambda rank: plain(rank, share=float(rank == 0)),
    "noise after the sum": lambda rank: plain(rank, share=1.0, before=True),
}


def one_of_two(rank, folder):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    told = {}
    for name, loop in LOOPS.items():
        watch = loop(rank)
        facts = {each.fact: [each.status, each.name] for each in watch.findings}
        told[name] = [str(watch.evidence.verdict), facts, watch.evidence.training.scale]
    Path(folder, f"{rank}.json").write_text(json.dumps(told), encoding="utf-8")
    distributed.destroy_process_group()


def test_right_loops_of_two_processes_are_not_called_wrong_and_what_one_cannot_see_is_not_seen(tmp_path):
    multiprocessing.spawn(one_of_two, (str(tmp_path),), nprocs=2)
    for rank in range(2):
        for name, (verdict, facts, scale) in json.loads(Path(tmp_path, f"{rank}.json").read_text()).items():
            wrong = {fact: said for fact, (status, said) in facts.items() if status == "wrong"}
            assert wrong == ({"clipping": "not clipped"} if name == "Opacus, not clipped" else {}), (name, rank)
            assert {facts[fact][0] for fact in UNSEEN} == {"not seen"} and scale is None
            assert facts["clipping"][0] == ("right" if name in ("Opacus", "Opacus, ghost") else facts["clipping"][0])
            assert verdict == "inconclusive", (name, rank)

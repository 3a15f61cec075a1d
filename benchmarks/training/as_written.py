"""Which loops do people write? Right ones and wrong ones, as in tutorials, issues and repositories, on digits.

Each is a function of a seed that returns a `Loop`. A wrong one says which findings name its mistake.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from loops import BATCH, DIGITS, EPOCH, RATE, Loop, network, opacus, plain
from opacus import PrivacyEngine
from opacus.optimizers import AdaClipDPOptimizer
from opacus.schedulers import ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset, default_collate

Step = Callable[[Any, Any], None]


@dataclass(frozen=True)
class Written:
    """A loop as somebody wrote it: what it does, how it is made, and the (fact, name) that name its mistake.

    Where a watch cannot look at the mistake, they name what it says that it has not seen.
    """

    what: str
    make: Callable[[int], Loop]
    named: tuple[tuple[str, str], ...] = ()

    @property
    def right(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.named


RIGHT: list[Written] = []
WRONG: list[Written] = []


def right(what: str) -> Callable[[Callable[[int], Loop]], Callable[[int], Loop]]:
    """Add a right loop."""

    def add(make: Callable[[int], Loop]) -> Callable[[int], Loop]:
        RIGHT.append(Written(what, make))
        return make

    return add


def wrong(what: str, *named: tuple[str, str]) -> Callable[[Callable[[int], Loop]], Callable[[int], Loop]]:
    """Add a wrong loop."""

    def add(make: Callable[[int], Loop]) -> Callable[[int], Loop]:
        WRONG.append(Written(what, make, named))
        return make

    return add


def private(
    seed: int,
    model: nn.Module | None = None,
    *,
    data: Dataset = DIGITS,
    batch: int = BATCH,
    collate: Any = None,
    workers: int = 0,
    kind: Any = torch.optim.SGD,
    **options: Any,
) -> tuple[Any, Any, Any, Any]:
    """Model, optimizer, loader and loss, made private by Opacus."""
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    model = network() if model is None else model
    loader = DataLoader(data, batch_size=batch, collate_fn=collate, num_workers=workers)
    given = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, **options}
    made = PrivacyEngine(accountant="prv").make_private(
        module=model, optimizer=kind(model.parameters(), lr=0.3), data_loader=loader, **given
    )
    loss = made[2] if given.get("grad_sample_mode") == "ghost" else nn.CrossEntropyLoss()
    made[1].expected_batch_size = 64
    return made[0], made[1], made[-1], loss


GHOST = {"grad_sample_mode": "ghost", "criterion": nn.CrossEntropyLoss()}


def stepping(model: Any, optimizer: Any, loss: Any) -> Step:
    """One step of a tutorial."""

    def step(x: Any, y: Any) -> None:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()

    return step


def epochs(loader: Any, step: Step, times: int = 2) -> Callable[[], None]:
    def train() -> None:
        for _ in range(times):
            for x, y in loader:
                step(x, y)

    return train


def with_loss(seed: int, loss_of: Callable[[Any, Any, Any], Any], model: Any = None, **options: Any) -> Loop:
    """A loop of Opacus whose loss is a function of model, records and labels."""
    model, optimizer, loader, _ = private(seed, model, **options)

    def step(x: Any, y: Any) -> None:
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()

    return Loop(model, optimizer, loader, epochs(loader, step))


# --- right ----------------------------------------------------------------------------------------------------


@right("the loop of the tutorial, with its metrics in NumPy")
def tutorial(seed: int) -> Loop:
    model, optimizer, loader, loss_of = private(seed)
    accuracies = []

    def step(x: Any, y: Any) -> None:
        optimizer.zero_grad()
        out = model(x)
        loss = loss_of(out, y)
        accuracies.append((np.argmax(out.detach().numpy(), axis=1) == y.numpy()).mean())
        loss.backward()
        optimizer.step()

    return Loop(model, optimizer, loader, epochs(loader, step))


@right("a batch is looked at before training")
def looked_at(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)

    def train() -> None:
        x, _ = next(iter(loader))
        assert x.shape[1] == 64
        epochs(loader, stepping(model, optimizer, loss))()

    return Loop(model, optimizer, loader, train)


@right("each epoch ends after ten batches by break")
def broken_off(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(4):
            for number, (x, y) in enumerate(loader):
                if number >= 10:
                    break
                step(x, y)

    return Loop(model, optimizer, loader, train)


@right("zip(loader, range(10))")
def zipped(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(4):
            for (x, y), _number in zip(loader, range(10), strict=False):
                step(x, y)

    return Loop(model, optimizer, loader, train)


@right("the loader is wound on after a resume")
def resumed(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for epoch in range(3):
            for number, (x, y) in enumerate(loader):
                if epoch == 0 and number < 7:
                    continue
                step(x, y)

    return Loop(model, optimizer, loader, train)


@right("accuracy on the training loader after each epoch")
def evaluated(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(3):
            model.train()
            for x, y in loader:
                step(x, y)
            model.eval()
            with torch.no_grad():
                for x, _y in loader:
                    model(x)

    return Loop(model, optimizer, loader, train)


@right("ghost clipping, a batch looked at, epochs broken off")
def ghost_broken_off(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, **GHOST)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        next(iter(loader))
        for _ in range(4):
            for (x, y), _number in zip(loader, range(10), strict=False):
                step(x, y)

    return Loop(model, optimizer, loader, train)


@right("workers draw ahead, epochs are broken off")
def workers_broken_off(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, workers=2)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(4):
            for number, (x, y) in enumerate(loader):
                if number >= 10:
                    break
                step(x, y)

    return Loop(model, optimizer, loader, train)


@right("physical batches by BatchMemoryManager")
def managed(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)

    def train() -> None:
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=32, optimizer=optimizer) as parts:
            epochs(parts, stepping(model, optimizer, loss))()

    return Loop(model, optimizer, loader, train)


@right("all batches in a list, each trained on once")
def listed_once(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for x, y in list(loader):
            step(x, y)

    return Loop(model, optimizer, loader, train)


SMALL = TensorDataset(*(each[:300] for each in DIGITS.tensors))


@right("empty Poisson batches, hooks")
def empty(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=SMALL, batch=2)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss), 1))


@right("empty Poisson batches, ghost clipping")
def empty_ghost(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=SMALL, batch=2, **GHOST)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss), 1))


@right("empty Poisson batches, physical batches by BatchMemoryManager")
def empty_managed(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=SMALL, batch=2)

    def train() -> None:
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=2, optimizer=optimizer) as parts:
            epochs(parts, stepping(model, optimizer, loss), 1)()

    return Loop(model, optimizer, loader, train)


def cast(seed: int, **options: Any) -> Loop:
    model, optimizer, loader, loss_of = private(seed, **options)

    def step(x: Any, y: Any) -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()

    return Loop(model, optimizer, loader, epochs(loader, step))


@right("torch.autocast(bfloat16), hooks")
def cast_hooks(seed: int) -> Loop:
    return cast(seed)


@right("torch.autocast(bfloat16), ghost clipping")
def cast_ghost(seed: int) -> Loop:
    return cast(seed, **GHOST)


@right("a public plan for the noise, given as sigma=[…]")
def planned_noise(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    plan = ExponentialNoise(optimizer, gamma=0.99)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(3):
            for x, y in loader:
                step(x, y)
                plan.step()

    return Loop(model, optimizer, loader, train, {"sigma": [0.99**number for number in range(3 * EPOCH)]})


@right("noise that is correlated by hand, so that it cancels later")
def correlated(seed: int) -> Loop:
    loop = plain("right", seed, 1)
    clipped, optimizer, loader = loop.options["gradient"], loop.optimizer, loop.loader
    before: list[Any] = []

    def train() -> None:
        for _ in range(2):
            for batch in loader:
                sums = clipped(batch)
                fresh = [torch.randn_like(p) for p in loop.model.parameters()]
                for place, (p, total) in enumerate(zip(loop.model.parameters(), sums, strict=True)):
                    noise = fresh[place] - 0.5 * before[place] if before else fresh[place]
                    p.grad = (total + noise) / 64
                before[:] = fresh
                optimizer.step()

    return Loop(loop.model, optimizer, loader, train, loop.options)


@right("no library, gradients by vmap")
def by_vmap(seed: int) -> Loop:
    return plain("right", seed, 2 * EPOCH)


@right("no library, one record after the other")
def one_by_one(seed: int) -> Loop:
    return by_records(seed)


def by_records(seed: int, times: int = 1, cut: int | None = None, extra: Callable[[Any], Any] | None = None) -> Loop:
    """A loop that clips record by record, as in many repositories."""
    torch.manual_seed(seed)
    model = network(32)
    head = nn.Parameter(torch.ones(()))
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params if extra is None else [*params, head], lr=0.3)
    loader = DataLoader(DIGITS, batch_sampler=UniformWithReplacementSampler(num_samples=len(DIGITS), sample_rate=RATE))

    def clipped(batch: Any) -> list[Any]:
        sums = [torch.zeros_like(p) for p in params]
        for x, y in zip(*batch, strict=True):
            out = model(x[None])
            grads = torch.autograd.grad(functional.cross_entropy(out, y[None]), params)
            size = torch.stack([g.norm() for g in grads]).norm()
            for total, g in zip(sums, grads, strict=True):
                total += g * (1.0 / (size + 1e-6)).clamp(max=1)
        return sums

    def train() -> None:
        for x, y in loader:
            for _ in range(times):
                sums = clipped((x[:cut], y[:cut]))
                if extra is not None:
                    head.grad = torch.autograd.grad(functional.cross_entropy(model(x) * head, y), head)[0]
                for p, total in zip(params, sums, strict=True):
                    p.grad = (total + torch.randn_like(total)) / 64
                optimizer.step()

    return Loop(model, optimizer, loader, train, {"sigma": 1.0, "clip": 1.0, "gradient": clipped})


@right("no library, a batch looked at and the training loader evaluated")
def plain_evaluated(seed: int) -> Loop:
    loop = plain("right", seed, EPOCH)

    def train() -> None:
        next(iter(loop.loader))
        for x, _y in loop.loader:
            loop.model(x)
        loop.train()

    return Loop(loop.model, loop.optimizer, loop.loader, train, loop.options)


@right("per-layer clipping, noise scaled to all layers together")
def per_layer(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, clipping="per_layer", max_grad_norm=[0.5] * 4)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("a clip norm that adapts to a noisy count")
def adaptive(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    other = AdaClipDPOptimizer(
        optimizer.original_optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=64,
        target_unclipped_quantile=0.5, clipbound_learning_rate=0.2, max_clipbound=10.0, min_clipbound=0.01,
        unclipped_num_std=5.0,
    )  # fmt: skip
    other.attach_step_hook(optimizer.step_hook)
    return Loop(model, other, loader, epochs(loader, stepping(model, other, loss)))


@right("dropout and layer normalisation")
def dropout(seed: int) -> Loop:
    model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
    model, optimizer, loader, loss = private(seed, model, kind=torch.optim.Adam)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("a convolution with group normalisation, images normalised by public numbers in the loop")
def convolution(seed: int) -> Loop:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10)
    )
    return with_loss(seed, lambda m, x, y: functional.cross_entropy(m((x.view(-1, 1, 8, 8) - 0.3) / 0.38), y), model)


@right("images are flipped and shifted at random in the loop, record by record")
def augmented(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        images = x.view(-1, 8, 8)
        flipped = torch.where(torch.rand(len(x), 1, 1) < 0.5, images.flip(2), images)
        return functional.cross_entropy(model(flipped.reshape(-1, 64) + 0.01 * torch.randn(len(x), 64)), y)

    return with_loss(seed, loss)


class Noisy(Dataset):
    """Augments a record by noise of its own."""

    def __len__(self) -> int:
        return len(DIGITS)

    def __init__(self) -> None:
        self.base = DIGITS

    def __getitem__(self, number: int) -> Any:
        x, y = self.base[number]
        return x + 0.05 * torch.randn(64), y


@right("records are augmented in __getitem__")
def augmented_set(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=Noisy())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("smoothed labels, weights of classes that are public, and a sum over records")
def weighed(seed: int) -> Loop:
    public = torch.linspace(0.5, 1.5, 10)

    def loss(model: Any, x: Any, y: Any) -> Any:
        return functional.cross_entropy(model(x), y, weight=public, label_smoothing=0.1, reduction="none").mean()

    return with_loss(seed, loss)


class Text(nn.Module):
    """Embeddings and attention over rows of an image, taken for words."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(17, 16), nn.Embedding(8, 16)
        self.query, self.key, self.out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        words = (x.view(-1, 8, 8).mean(2) * 16).long()
        h = self.words(words) + self.places(torch.arange(8).expand(len(x), 8))
        weights = (self.query(h) @ self.key(h).transpose(1, 2) / 4).softmax(-1)
        return self.out((weights @ h).mean(1))


@right("attention over embedded words")
def attention(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, Text())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("a batch is taken in two halves, one update for both")
def halves(seed: int) -> Loop:
    model, optimizer, loader, loss_of = private(seed)

    def train() -> None:
        for x, y in loader:
            optimizer.zero_grad()
            for number, (a, b) in enumerate(zip(x.chunk(2), y.chunk(2), strict=True)):
                optimizer.signal_skip_step(do_skip=number == 0)
                loss_of(model(a), b).backward()
                optimizer.step()
                optimizer.zero_grad()

    return Loop(model, optimizer, loader, train)


# --- wrong ----------------------------------------------------------------------------------------------------

AGAIN = ("steps", "batches are used again")
CUT = ("steps", "batches are cut")
MIXED = ("records", "records are mixed")


def listed(seed: int, **options: Any) -> Loop:
    model, optimizer, loader, loss = private(seed, **options)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        batches = list(loader)
        for _ in range(4):
            for x, y in batches:
                step(x, y)

    return Loop(model, optimizer, loader, train)


@wrong("batches = list(loader), trained on in four epochs", AGAIN)
def listed_again(seed: int) -> Loop:
    return listed(seed)


@wrong("the same with ghost clipping", AGAIN)
def listed_ghost(seed: int) -> Loop:
    return listed(seed, **GHOST)


@wrong("three updates for each batch", AGAIN)
def three_times(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for x, y in loader:
            for _ in range(3):
                step(x, y)

    return Loop(model, optimizer, loader, train)


@wrong("three updates for each batch, no library", AGAIN)
def three_times_plain(seed: int) -> Loop:
    return by_records(seed, times=3)


def cut_to(seed: int, make: Callable[[Any], Any]) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for _ in range(2):
            for x, y in loader:
                step(make(x[:64]), y[:64])

    return Loop(model, optimizer, loader, train)


@wrong("batches are cut to 64 records", CUT)
def cut(seed: int) -> Loop:
    return cut_to(seed, lambda x: x)


@wrong("batches are normalised and cut to 64 records", CUT)
def cut_and_normalised(seed: int) -> Loop:
    return cut_to(seed, lambda x: (x - 0.3) / 0.38)


@wrong("batches are cut to 64 records, no library", CUT)
def cut_plain(seed: int) -> Loop:
    return by_records(seed, cut=64)


@wrong("each half of a batch makes an update", CUT)
def half_updates(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    step = stepping(model, optimizer, loss)

    def train() -> None:
        for x, y in loader:
            for a, b in zip(x.chunk(2), y.chunk(2), strict=True):
                step(a, b)

    return Loop(model, optimizer, loader, train)


@wrong("two batches in an update, accounted for as one", ("steps", "uncounted accumulation"))
def accumulated(seed: int) -> Loop:
    return opacus("uncounted accumulation", seed, EPOCH)


@wrong("clipped layer by layer to norms of 1, noise scaled to 1", ("clipping", "clipped by layer"))
def per_layer_wrong(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, clipping="per_layer", max_grad_norm=[1.0] * 4)
    optimizer.max_grad_norm = 1.0
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("mixup in the loop", MIXED)
def mixup(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        share, order = np.random.beta(1.0, 1.0), torch.randperm(len(x))  # noqa: NPY002
        out = model(share * x + (1 - share) * x[order])
        return share * functional.cross_entropy(out, y) + (1 - share) * functional.cross_entropy(out, y[order])

    return with_loss(seed, loss)


class Mixed(Dataset):
    """Mixes a record with another one."""

    def __init__(self) -> None:
        self.x, self.y = DIGITS.tensors

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, number: int) -> Any:
        other = random.randrange(len(self))
        return 0.7 * self.x[number] + 0.3 * self.x[other], self.y[number]


@wrong("mixup in __getitem__", MIXED)
def mixup_in_set(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=Mixed())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


def mixing_collate(records: list[Any]) -> Any:
    x, y = default_collate(records)
    return 0.7 * x + 0.3 * x[torch.randperm(len(x))], y


@wrong("mixup where records are put together", MIXED)
def mixup_in_collate(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, collate=mixing_collate)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("standardised by the mean and deviation of the batch", MIXED)
def standardised(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: functional.cross_entropy(m((x - x.mean(0)) / (x.std(0) + 1e-3)), y))


class Normalised(nn.Module):
    """Batch normalisation by hand; with ``keep``, by means that run on from batch to batch."""

    def __init__(self, keep: bool = False) -> None:
        super().__init__()
        self.first, self.last, self.keep, self.mean = nn.Linear(64, 32), nn.Linear(32, 10), keep, torch.zeros(32)

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        h = self.first(x)
        if self.keep:
            shifted = h - self.mean
            self.mean = 0.9 * self.mean + 0.1 * h.detach().mean(0)
        else:
            shifted = (h - h.mean(0)) / (h.var(0) + 1e-5).sqrt()
        return self.last(torch.relu(shifted))


@wrong("batch normalisation by hand", MIXED)
def normalised(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: functional.cross_entropy(m(x), y), Normalised())


@wrong("batch normalisation by hand, ghost clipping", MIXED)
def normalised_ghost(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, Normalised(), **GHOST)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("a mean that runs on from batch to batch, kept in an attribute", MIXED)
def running(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: functional.cross_entropy(m(x), y), Normalised(keep=True))


@wrong("a contrastive loss", MIXED)
def contrastive(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        z = functional.normalize(model(x), dim=1)
        alike = z @ z.T / 0.5 - 1e9 * torch.eye(len(z))
        same = (y[:, None] == y[None]).float() - torch.eye(len(z))
        return -(alike.log_softmax(1) * same).sum(1).div(same.sum(1).clamp(min=1)).mean()

    return with_loss(seed, loss)


@wrong("classes weighed by how often they are in the batch", MIXED)
def weighed_by_batch(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        weights = len(y) / (10 * torch.bincount(y, minlength=10).clamp(min=1))
        return (functional.cross_entropy(model(x), y, reduction="none") * weights[y]).mean()

    return with_loss(seed, loss)


@wrong("class weights with reduction='mean', which divides by the weights of the batch", MIXED)
def weighed_mean(seed: int) -> Loop:
    public = torch.linspace(0.2, 3.0, 10)
    return with_loss(seed, lambda m, x, y: functional.cross_entropy(m(x), y, weight=public))


@wrong("hard examples: the half of the batch with the largest loss", MIXED)
def hard(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        each = functional.cross_entropy(model(x), y, reduction="none")
        return (each * (each >= each.median())).mean()

    return with_loss(seed, loss)


@wrong("a temperature in the optimizer that is not the model's, without noise",
       ("parameters", "no noise was seen in it"), ("parameters", "moved without noise"))  # fmt: skip
def temperature(seed: int) -> Loop:
    return by_records(seed, extra=lambda x: x)


@wrong("shuffled batches, accounted for as Poisson", ("batches", "shuffled batches"))
def shuffled(seed: int) -> Loop:
    return opacus("shuffled", seed, 2 * EPOCH)


@wrong("noise of half the scale", ("noise", "too little noise"))
def halved(seed: int) -> Loop:
    return opacus("noise halved", seed, EPOCH)


@wrong("clip_grad_norm_ over the batch, then noise", ("clipping", "clipped per batch"))
def per_batch(seed: int) -> Loop:
    return plain("clipped per batch", seed, EPOCH)


@wrong("a seed set in the loop", ("repetition", "noise repeated"))
def seeded(seed: int) -> Loop:
    return opacus("noise repeated", seed, EPOCH)

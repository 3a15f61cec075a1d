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
entropy = functional.cross_entropy


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


def add(what: str, make: Callable[[int], Loop], *named: tuple[str, str]) -> None:
    """Add a loop; it is wrong where something names its mistake."""
    (WRONG if named else RIGHT).append(Written(what, make, named))


def written(what: str, *named: tuple[str, str]) -> Callable[[Callable[[int], Loop]], Callable[[int], Loop]]:
    """Add a function of a seed that makes a loop."""
    return lambda make: add(what, make, *named) or make


def training(what: str, *named: tuple[str, str], **options: Any) -> Callable[[Any], Any]:
    """Add a loop of Opacus by its training, a function of model, optimizer, loader and loss."""
    return lambda body: add(what, lambda seed: around(seed, body, **options), *named) or body


def losing(what: str, *named: tuple[str, str], **options: Any) -> Callable[[Any], Any]:
    """Add a loop of Opacus by its loss, a function of model, records and labels."""
    return lambda loss_of: add(what, lambda seed: with_loss(seed, loss_of, **options), *named) or loss_of


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


def usual(seed: int, model: Any = None, times: int = 2, **options: Any) -> Loop:
    """The loop of the tutorial."""
    model, optimizer, loader, loss = private(seed, model, **options)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss), times))


def around(seed: int, body: Callable[[Any, Any, Any, Any], None], **options: Any) -> Loop:
    """A loop of Opacus whose training is a function of model, optimizer, loader and loss."""
    model, optimizer, loader, loss = private(seed, **options)
    return Loop(model, optimizer, loader, lambda: body(model, optimizer, loader, loss))


def with_loss(seed: int, loss_of: Callable[[Any, Any, Any], Any], model: Any = None, **options: Any) -> Loop:
    """A loop of Opacus whose loss is a function of model, records and labels."""
    model, optimizer, loader, _ = private(seed, model, **options)

    def step(x: Any, y: Any) -> None:
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()

    return Loop(model, optimizer, loader, epochs(loader, step))


# --- right ----------------------------------------------------------------------------------------------------


@training("the loop of the tutorial, with its metrics in NumPy")
def tutorial(model: Any, optimizer: Any, loader: Any, loss_of: Any) -> None:
    accuracies = []
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            out = model(x)
            loss = loss_of(out, y)
            accuracies.append((np.argmax(out.detach().numpy(), axis=1) == y.numpy()).mean())
            loss.backward()
            optimizer.step()


@training("a batch is looked at before training")
def looked_at(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    x, _ = next(iter(loader))
    assert x.shape[1] == 64
    epochs(loader, stepping(model, optimizer, loss))()


@training("workers draw ahead, epochs are broken off", workers=2)
@training("each epoch ends after ten batches by break")
def broken_off(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for _ in range(4):
        for number, (x, y) in enumerate(loader):
            if number >= 10:
                break
            stepping(model, optimizer, loss)(x, y)


@training("zip(loader, range(10))")
def zipped(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for _ in range(4):
        for (x, y), _number in zip(loader, range(10), strict=False):
            stepping(model, optimizer, loss)(x, y)


@training("ghost clipping, a batch looked at, epochs broken off", **GHOST)
def ghost_broken_off(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    next(iter(loader))
    zipped(model, optimizer, loader, loss)


@training("the loader is wound on after a resume")
def resumed(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for epoch in range(3):
        for number, (x, y) in enumerate(loader):
            if epoch == 0 and number < 7:
                continue
            stepping(model, optimizer, loss)(x, y)


@training("accuracy on the training loader after each epoch")
def evaluated(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for _ in range(3):
        model.train()
        epochs(loader, stepping(model, optimizer, loss), 1)()
        model.eval()
        with torch.no_grad():
            for x, _y in loader:
                model(x)


@training("all batches in a list, each trained on once")
def listed_once(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for x, y in list(loader):
        stepping(model, optimizer, loss)(x, y)


SMALL = TensorDataset(*(each[:300] for each in DIGITS.tensors))
FEW = {"data": SMALL, "batch": 2}
add("empty Poisson batches, hooks", lambda seed: usual(seed, times=1, **FEW))
add("empty Poisson batches, ghost clipping", lambda seed: usual(seed, times=1, **FEW, **GHOST))


def managed(largest: int, times: int) -> Callable[[Any, Any, Any, Any], None]:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=largest, optimizer=optimizer) as parts:
            epochs(parts, stepping(model, optimizer, loss), times)()

    return body


training("physical batches by BatchMemoryManager")(managed(32, 2))
training("empty Poisson batches, physical batches by BatchMemoryManager", **FEW)(managed(2, 1))


@training("torch.autocast(bfloat16), ghost clipping", **GHOST)
@training("torch.autocast(bfloat16), hooks")
def cast(model: Any, optimizer: Any, loader: Any, loss_of: Any) -> None:
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()


@written("a public plan for the noise, given as sigma=[…]")
def planned_noise(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    plan, step = ExponentialNoise(optimizer, gamma=0.99), stepping(model, optimizer, loss)

    def planned(x: Any, y: Any) -> None:
        step(x, y)
        plan.step()

    sigma = [0.99**number for number in range(3 * EPOCH)]
    return Loop(model, optimizer, loader, epochs(loader, planned, 3), {"sigma": sigma})


@written("noise that is correlated by hand, so that it cancels later")
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


add("no library, gradients by vmap", lambda seed: plain("right", seed, 2 * EPOCH))
add("no library, one record after the other", lambda seed: by_records(seed))


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
            grads = torch.autograd.grad(entropy(out, y[None]), params)
            size = torch.stack([g.norm() for g in grads]).norm()
            for total, g in zip(sums, grads, strict=True):
                total += g * (1.0 / (size + 1e-6)).clamp(max=1)
        return sums

    def train() -> None:
        for x, y in loader:
            for _ in range(times):
                sums = clipped((x[:cut], y[:cut]))
                if extra is not None:
                    head.grad = torch.autograd.grad(entropy(model(x) * head, y), head)[0]
                for p, total in zip(params, sums, strict=True):
                    p.grad = (total + torch.randn_like(total)) / 64
                optimizer.step()

    return Loop(model, optimizer, loader, train, {"sigma": 1.0, "clip": 1.0, "gradient": clipped})


@written("no library, a batch looked at and the training loader evaluated")
def plain_evaluated(seed: int) -> Loop:
    loop = plain("right", seed, EPOCH)

    def train() -> None:
        next(iter(loop.loader))
        for x, _y in loop.loader:
            loop.model(x)
        loop.train()

    return Loop(loop.model, loop.optimizer, loop.loader, train, loop.options)


LAYERS = {"clipping": "per_layer"}
add(
    "per-layer clipping, noise scaled to all layers together",
    lambda seed: usual(seed, **LAYERS, max_grad_norm=[0.5] * 4),
)


@written("a clip norm that adapts to a noisy count")
def adaptive(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed)
    other = AdaClipDPOptimizer(
        optimizer.original_optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=64,
        target_unclipped_quantile=0.5, clipbound_learning_rate=0.2, max_clipbound=10.0, min_clipbound=0.01,
        unclipped_num_std=5.0,
    )  # fmt: skip
    other.attach_step_hook(optimizer.step_hook)
    return Loop(model, other, loader, epochs(loader, stepping(model, other, loss)))


@written("dropout and layer normalisation")
def dropout(seed: int) -> Loop:
    model = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
    return usual(seed, model, kind=torch.optim.Adam)


@written("a convolution with group normalisation, images normalised by public numbers in the loop")
def convolution(seed: int) -> Loop:
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10)
    )
    return with_loss(seed, lambda m, x, y: entropy(m((x.view(-1, 1, 8, 8) - 0.3) / 0.38), y), model)


@losing("images are flipped and shifted at random in the loop, record by record")
def augmented(model: Any, x: Any, y: Any) -> Any:
    images = x.view(-1, 8, 8)
    flipped = torch.where(torch.rand(len(x), 1, 1) < 0.5, images.flip(2), images)
    return entropy(model(flipped.reshape(-1, 64) + 0.01 * torch.randn(len(x), 64)), y)


class Made(Dataset):
    """Records that are made of those of the digits when they are asked for."""

    def __init__(self, make: Callable[[Any, Any, int], Any]) -> None:
        self.x, self.y = DIGITS.tensors
        self.make = make

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, number: int) -> Any:
        return self.make(self.x, self.y, number)


def augmented_record(x: Any, y: Any, number: int) -> Any:
    return x[number] + 0.05 * torch.randn(64), y[number]


add("records are augmented in __getitem__", lambda seed: usual(seed, data=Made(augmented_record)))


@losing("smoothed labels, weights of classes that are public, and a sum over records")
def weighed(model: Any, x: Any, y: Any) -> Any:
    public = torch.linspace(0.5, 1.5, 10)
    return entropy(model(x), y, weight=public, label_smoothing=0.1, reduction="none").mean()


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


add("attention over embedded words", lambda seed: usual(seed, Text()))


@training("a batch is taken in two halves, one update for both")
def halves(model: Any, optimizer: Any, loader: Any, loss_of: Any) -> None:
    for x, y in loader:
        optimizer.zero_grad()
        for number, (a, b) in enumerate(zip(x.chunk(2), y.chunk(2), strict=True)):
            optimizer.signal_skip_step(do_skip=number == 0)
            loss_of(model(a), b).backward()
            optimizer.step()
            optimizer.zero_grad()


# --- wrong ----------------------------------------------------------------------------------------------------

AGAIN = ("steps", "batches are used again")
CUT = ("steps", "batches are cut")
MIXED = ("records", "records are mixed")


@training("the same with ghost clipping", AGAIN, **GHOST)
@training("batches = list(loader), trained on in four epochs", AGAIN)
def listed(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    epochs(list(loader), stepping(model, optimizer, loss), 4)()


@training("three updates for each batch", AGAIN)
def three_times(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for x, y in loader:
        for _ in range(3):
            stepping(model, optimizer, loss)(x, y)


add("three updates for each batch, no library", lambda seed: by_records(seed, times=3), AGAIN)


def cut_to_64(make: Callable[[Any], Any]) -> Callable[[Any, Any, Any, Any], None]:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        epochs(loader, lambda x, y: stepping(model, optimizer, loss)(make(x[:64]), y[:64]))()

    return body


training("batches are cut to 64 records", CUT)(cut_to_64(lambda x: x))
training("batches are normalised and cut to 64 records", CUT)(cut_to_64(lambda x: (x - 0.3) / 0.38))
add("batches are cut to 64 records, no library", lambda seed: by_records(seed, cut=64), CUT)


@training("each half of a batch makes an update", CUT)
def half_updates(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for x, y in loader:
        for a, b in zip(x.chunk(2), y.chunk(2), strict=True):
            stepping(model, optimizer, loss)(a, b)


@written("clipped layer by layer to norms of 1, noise scaled to 1", ("clipping", "clipped by layer"))
def per_layer_wrong(seed: int) -> Loop:
    loop = usual(seed, **LAYERS, max_grad_norm=[1.0] * 4)
    loop.optimizer.max_grad_norm = 1.0
    return loop


@losing("mixup in the loop", MIXED)
def mixup(model: Any, x: Any, y: Any) -> Any:
    share, order = np.random.beta(1.0, 1.0), torch.randperm(len(x))  # noqa: NPY002
    out = model(share * x + (1 - share) * x[order])
    return share * entropy(out, y) + (1 - share) * entropy(out, y[order])


def mixed_record(x: Any, y: Any, number: int) -> Any:
    return 0.7 * x[number] + 0.3 * x[random.randrange(len(x))], y[number]


def mixing_collate(records: list[Any]) -> Any:
    x, y = default_collate(records)
    return 0.7 * x + 0.3 * x[torch.randperm(len(x))], y


add("mixup in __getitem__", lambda seed: usual(seed, data=Made(mixed_record)), MIXED)
add("mixup where records are put together", lambda seed: usual(seed, collate=mixing_collate), MIXED)
losing("standardised by the mean and deviation of the batch", MIXED)(
    lambda m, x, y: entropy(m((x - x.mean(0)) / (x.std(0) + 1e-3)), y)
)


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


add("batch normalisation by hand", lambda seed: usual(seed, Normalised()), MIXED)
add("batch normalisation by hand, ghost clipping", lambda seed: usual(seed, Normalised(), **GHOST), MIXED)
add("a mean that runs on from batch to batch, kept in an attribute", lambda s: usual(s, Normalised(True)), MIXED)


@losing("a contrastive loss", MIXED)
def contrastive(model: Any, x: Any, y: Any) -> Any:
    z = functional.normalize(model(x), dim=1)
    alike = z @ z.T / 0.5 - 1e9 * torch.eye(len(z))
    same = (y[:, None] == y[None]).float() - torch.eye(len(z))
    return -(alike.log_softmax(1) * same).sum(1).div(same.sum(1).clamp(min=1)).mean()


@losing("classes weighed by how often they are in the batch", MIXED)
def weighed_by_batch(model: Any, x: Any, y: Any) -> Any:
    weights = len(y) / (10 * torch.bincount(y, minlength=10).clamp(min=1))
    return (entropy(model(x), y, reduction="none") * weights[y]).mean()


losing("class weights with reduction='mean', which divides by the weights of the batch", MIXED)(
    lambda m, x, y: entropy(m(x), y, weight=torch.linspace(0.2, 3.0, 10))
)


@losing("hard examples: the half of the batch with the largest loss", MIXED)
def hard(model: Any, x: Any, y: Any) -> Any:
    each = entropy(model(x), y, reduction="none")
    return (each * (each >= each.median())).mean()


add(
    "a temperature in the optimizer that is not the model's, without noise",
    lambda seed: by_records(seed, extra=lambda x: x),
    ("parameters", "no noise was seen in it"),
    ("parameters", "moved without noise"),
)
for what, made, times, fact, name in (
    ("two batches in an update, accounted for as one", "uncounted accumulation", 1, "steps", "uncounted accumulation"),
    ("shuffled batches, accounted for as Poisson", "shuffled", 2, "batches", "shuffled batches"),
    ("noise of half the scale", "noise halved", 1, "noise", "too little noise"),
    ("a seed set in the loop", "noise repeated", 1, "repetition", "noise repeated"),
):
    add(what, lambda seed, made=made, times=times: opacus(made, seed, times * EPOCH), (fact, name))
add("clip_grad_norm_ over the batch, then noise", lambda seed: plain("clipped per batch", seed, EPOCH),
    ("clipping", "clipped per batch"))  # fmt: skip

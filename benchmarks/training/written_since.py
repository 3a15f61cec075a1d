"""Which other loops do people write? Right ones and wrong ones that the watch was not made with, as in `as_written`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from as_written import (
    GHOST,
    MIXED,
    SMALL,
    Made,
    Text,
    add,
    entropy,
    epochs,
    losing,
    managed,
    stepping,
    training,
    usual,
    with_loss,
    written,
)
from loops import DIGITS, EPOCH, RATE, Loop, network
from opacus import PrivacyEngine
from opacus.layers import DPGRU
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch import nn
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset, WeightedRandomSampler

warnings.filterwarnings("ignore")

X, Y = DIGITS.tensors
Sums = list[Any]


def by_hand(
    seed: int,
    noise: Callable[[Any, int, int], Any] = lambda total, place, step: torch.randn_like(total),
    *,
    factor: Callable[[Any, Sums], Any] = lambda size, grads: (1.0 / (size + 1e-6)).clamp(max=1),
    after: Callable[[Any, Any, Sums, int], None] = lambda model, optimizer, sums, step: None,
    loss_of: Callable[[Any, Any, Any], Any] = lambda model, x, y: entropy(model(x), y),
    data: Dataset = DIGITS,
    times: int = 1,
) -> Loop:
    """A loop without a library: per record a gradient, clipped by a factor, summed, with noise for each parameter.

    Args:
        seed: of model and noise.
        noise: for a sum, the place of its parameter, and the number of the update.
        factor: of a record's gradients, by their norm.
        after: is called when gradients are there, before the step.
        loss_of: model, and one record with its label.
        data: the training set.
        times: epochs.
    """
    torch.manual_seed(seed)
    model = network(32)
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, lr=0.3)
    sampler = UniformWithReplacementSampler(num_samples=len(data), sample_rate=RATE)  # type: ignore[arg-type]
    loader = DataLoader(data, batch_sampler=sampler)

    def clipped(batch: Any) -> Sums:
        sums = [torch.zeros_like(p) for p in params]
        for x, y in zip(*batch, strict=True):
            grads = list(torch.autograd.grad(loss_of(model, x[None], y[None]), params))
            by = factor(torch.stack([g.norm() for g in grads]).norm(), grads)
            for total, g in zip(sums, grads, strict=True):
                total += g * by
        return sums

    def train() -> None:
        step = 0
        for _ in range(times):
            for batch in loader:
                sums = clipped(batch)
                for place, (p, total) in enumerate(zip(params, sums, strict=True)):
                    p.grad = (total + noise(total, place, step)) / 64
                after(model, optimizer, sums, step)
                optimizer.step()
                step += 1

    return Loop(model, optimizer, loader, train, {"sigma": 1.0, "clip": 1.0, "gradient": clipped})


# --- right: around the loop -----------------------------------------------------------------------------------


@training(
    "momentum, weight decay, a schedule for the rate of learning, and zero_grad after the step",
    kind=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9, weight_decay=1e-4),
)
def decayed(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.original_optimizer, 40)
    for _ in range(2):
        for x, y in loader:
            loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            plan.step()


@training("AdamW, and a moving average of the weights beside", kind=lambda p, lr: torch.optim.AdamW(p, lr=0.003))
def averaged(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    mean = {name: p.detach().clone() for name, p in model.named_parameters()}
    for x, y in loader:
        stepping(model, optimizer, loss)(x, y)
        for name, p in model.named_parameters():
            mean[name].mul_(0.99).add_(p.detach(), alpha=0.01)


@written("a frozen layer below, the head is trained")
def head(seed: int) -> Loop:
    model = network()
    model[0].requires_grad_(False)
    return usual(seed, model)


class Adapted(nn.Module):
    """A frozen layer with a correction of low rank."""

    def __init__(self) -> None:
        super().__init__()
        self.base, self.down, self.up, self.out = (
            nn.Linear(64, 64), nn.Linear(64, 4, bias=False), nn.Linear(4, 64, bias=False), nn.Linear(64, 10)
        )  # fmt: skip
        self.base.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        return self.out(torch.relu(self.base(x) + self.up(self.down(x))))


class Rows(nn.Module):
    """Reads an image row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.out = DPGRU(8, 16, batch_first=True), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        return self.out(self.rows(x.view(-1, 8, 8))[0][:, -1])


add("adapters of low rank beside a frozen layer", lambda seed: usual(seed, Adapted()))
add("a recurrent network of Opacus over the rows of an image", lambda seed: usual(seed, Rows(), times=1))


@training(
    "batches are dictionaries, moved and cast in the loop",
    data=Made(lambda x, y, number: {"pixels": x[number], "label": y[number]}),
)
def named(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for batch in loader:
        batch = {key: value.to("cpu", non_blocking=True) for key, value in batch.items()}
        stepping(model, optimizer, loss)(batch["pixels"].double().float(), batch["label"])


@training("an endless iterator over the loader, a number of steps")
def endless(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    batches = iter(loader)
    for _ in range(45):
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(batches)
        stepping(model, optimizer, loss)(x, y)


@training("weights are saved, and loaded again between epochs; a held-out set is evaluated")
def saved(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    held = DataLoader(SMALL, batch_size=50)
    for _ in range(2):
        model.train()
        epochs(loader, stepping(model, optimizer, loss), 1)()
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        model.eval()
        for x, y in held:
            loss(model(x), y).item()
        model.load_state_dict(kept)


@training("norms of records' gradients are written down")
def norms(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    log = []
    for x, y in loader:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        log.append(torch.stack([p.grad_sample.flatten(1).norm(dim=1) for p in model.parameters()]).norm(dim=0))
        optimizer.step()


@training("the noisy gradient is clipped once more before the step")
def clipped_after(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for x, y in loader:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        if optimizer.pre_step():
            clip_grad_norm_(model.parameters(), 1.0)
            optimizer.original_optimizer.step()


@written("noise multiplier from ε, by make_private_with_epsilon")
def from_epsilon(seed: int) -> Loop:
    torch.manual_seed(seed)
    model = network()
    model, optimizer, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.3), data_loader=DataLoader(DIGITS, 90),
        target_epsilon=6.0, target_delta=1e-5, epochs=2, max_grad_norm=1.0,
    )  # fmt: skip
    optimizer.expected_batch_size = 64
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, nn.CrossEntropyLoss())))


add("gradients of records by functorch", lambda seed: usual(seed, grad_sample_mode="functorch"))
training("ghost clipping with physical batches by BatchMemoryManager", **GHOST)(managed(32, 1))
losing("a loss that is summed, as loss_reduction='sum' says", loss_reduction="sum")(
    lambda m, x, y: entropy(m(x), y, reduction="sum")
)


# --- right: records -------------------------------------------------------------------------------------------


@training("records whose own loss is small are left out")
def own_threshold(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for _ in range(2):
        for x, y in loader:
            with torch.no_grad():
                keep = entropy(model(x), y, reduction="none") > 0.5
            stepping(model, optimizer, loss)(x[keep], y[keep])


@losing("a weight for each record by its own loss, as in focal losses")
def focal(model: Any, x: Any, y: Any) -> Any:
    each = entropy(model(x), y, reduction="none")
    return ((1 - torch.exp(-each)) ** 2 * each).mean()


@losing("labels are noisy, each by a draw of its own")
def noisy_labels(model: Any, x: Any, y: Any) -> Any:
    other = torch.randint(0, 10, y.shape)
    return entropy(model(x), torch.where(torch.rand(len(y)) < 0.1, other, y))


@losing("pixels are hidden at random, and each image is scaled by its own largest pixel")
def hidden(model: Any, x: Any, y: Any) -> Any:
    own = x / x.amax(dim=1, keepdim=True).clamp(min=1e-3)
    return entropy(model(own * (torch.rand_like(own) > 0.1)), y)


@losing("a consistency loss between two views of each record")
def views(model: Any, x: Any, y: Any) -> Any:
    out = model(x)
    with torch.no_grad():
        other = model(x + 0.05 * torch.randn_like(x))
    return entropy(out, y) + 0.1 * ((out - other) ** 2).mean()


PART = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))[:1500].tolist()
HALVES = [Subset(DIGITS, range(900)), Subset(DIGITS, range(900, len(X)))]
add("a subset of the data, without repetitions", lambda seed: usual(seed, data=Subset(DIGITS, PART)))
add("two parts of the data, put together again", lambda seed: usual(seed, data=ConcatDataset(HALVES)))


# --- right: no library ----------------------------------------------------------------------------------------

NOISES: dict[str, Callable[[int], Callable[[Any, int, int], Any]]] = {
    "torch.normal with the scale of the noise": lambda seed: lambda total, *_: torch.normal(0.0, 1.0, total.shape),
    "torch.distributions.Normal": lambda seed: (
        lambda total, *_: torch.distributions.Normal(0.0, 1.0).sample(total.shape)
    ),
    "noise of NumPy": lambda seed: of_numpy(np.random.default_rng(seed)),
    "a generator of its own, seeded once": lambda seed: of_torch(torch.Generator().manual_seed(12345)),
}


def of_numpy(rng: np.random.Generator) -> Callable[[Any, int, int], Any]:
    return lambda total, *_: torch.from_numpy(rng.normal(size=tuple(total.shape))).float()


def of_torch(generator: torch.Generator) -> Callable[[Any, int, int], Any]:
    return lambda total, *_: torch.randn(total.shape, generator=generator)


for what, drawn in NOISES.items():
    add(f"no library, {what}", lambda seed, drawn=drawn: by_hand(seed, drawn(seed)))
add(
    "no library, every gradient scaled to the norm, small ones too",
    lambda seed: by_hand(seed, factor=lambda size, grads: 1.0 / (size + 0.01)),
)


@written("no library, noise in one vector for all parameters")
def one_vector(seed: int) -> Loop:
    def after(model: Any, optimizer: Any, sums: Sums, step: int) -> None:
        flat = parameters_to_vector(sums)
        flat = (flat + torch.randn_like(flat)) / 64
        parts = [torch.empty_like(p) for p in model.parameters()]
        vector_to_parameters(flat, parts)
        for p, part in zip(model.parameters(), parts, strict=True):
            p.grad = part

    return by_hand(seed, after=after)


@written("no library, rate of learning by a schedule, and gradients added up by backward")
def by_backward(seed: int) -> Loop:
    torch.manual_seed(seed)
    model = network(32)
    params = list(model.parameters())
    optimizer = torch.optim.Adam(params, lr=0.003)
    loader = DataLoader(DIGITS, batch_sampler=UniformWithReplacementSampler(num_samples=len(X), sample_rate=RATE))

    def clipped(batch: Any) -> Sums:
        sums = [torch.zeros_like(p) for p in params]
        for x, y in zip(*batch, strict=True):
            optimizer.zero_grad()
            entropy(model(x[None]), y[None]).backward()
            clip_grad_norm_(params, 1.0)
            for total, p in zip(sums, params, strict=True):
                total += p.grad
        return sums

    def train() -> None:
        plan = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)
        for batch in loader:
            sums = clipped(batch)
            for p, total in zip(params, sums, strict=True):
                p.grad = (total + torch.randn_like(total)) / 64
            optimizer.step()
            plan.step()

    return Loop(model, optimizer, loader, train, {"sigma": 1.0, "clip": 1.0, "gradient": clipped})


# --- wrong: records are mixed -----------------------------------------------------------------------------------

losing("functional.batch_norm with training=True", MIXED)(
    lambda m, x, y: entropy(m(functional.batch_norm(x, None, None, training=True)), y)
)
losing("a softmax over the batch, by a wrong dim", MIXED)(
    lambda m, x, y: functional.nll_loss(m(x).log_softmax(dim=0), y)
)
losing("scaled to the least and largest pixel of the batch", MIXED)(
    lambda m, x, y: entropy(m((x - x.amin(0)) / (x.amax(0) - x.amin(0) + 1e-3)), y)
)


class Across(Text):
    """Attention along the batch, by a wrong order of dimensions."""

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        words = (x.view(-1, 8, 8).mean(2) * 16).long()
        h = self.words(words) + self.places(torch.arange(8).expand(len(x), 8))
        query, key, value = (each.transpose(0, 1) for each in (self.query(h), self.key(h), h))
        weights = (query @ key.transpose(1, 2) / 4).softmax(-1)
        return self.out((weights @ value).transpose(0, 1).mean(1))


add("attention along the batch, by a wrong order of dimensions", lambda seed: usual(seed, Across()), MIXED)


@losing("distances to the mean of each class in the batch", MIXED)
def prototypes(model: Any, x: Any, y: Any) -> Any:
    z, one_hot = model(x), functional.one_hot(y, 10).float()
    means = one_hot.T @ z / one_hot.sum(0).clamp(min=1)[:, None]
    return entropy(-torch.cdist(z, means), y)


@written("a queue of earlier features is contrasted with", MIXED)
def queue(seed: int) -> Loop:
    kept = torch.zeros(0, 10)

    def loss(model: Any, x: Any, y: Any) -> Any:
        nonlocal kept
        z = functional.normalize(model(x), dim=1)
        alike = torch.cat([(z * z.detach()).sum(1, keepdim=True), z @ kept.T], 1) / 0.2
        kept = torch.cat([kept, z.detach()])[-256:]
        return entropy(alike, torch.zeros(len(z), dtype=torch.long))

    return with_loss(seed, loss)


@losing("patches of another image of the batch are put in, in place", MIXED)
def cutmix(model: Any, x: Any, y: Any) -> Any:
    other = x[torch.randperm(len(x))]
    x[:, 16:40] = other[:, 16:40]
    return entropy(model(x), y)


@losing("the variance of the scores in the batch is a part of the loss", MIXED)
def variance(model: Any, x: Any, y: Any) -> Any:
    out = model(x)
    return entropy(out, y) + 0.5 * out.var(0).mean()


@losing("labels are smoothed towards those of the batch", MIXED)
def smoothed(model: Any, x: Any, y: Any) -> Any:
    target = 0.8 * functional.one_hot(y, 10).float() + 0.2 * torch.bincount(y, minlength=10) / len(y)
    return entropy(model(x), target)


losing("the mean loss of a batch where a sum was promised", MIXED, loss_reduction="sum", max_grad_norm=0.01)(
    lambda m, x, y: entropy(m(x), y)
)
losing("a sum of losses where a mean was promised", MIXED)(lambda m, x, y: entropy(m(x), y, reduction="sum"))


def averaged_record(x: Any, y: Any, number: int) -> Any:
    nearest = (x - x[number]).square().sum(1).topk(4, largest=False).indices
    return x[nearest].mean(0), y[number]


add(
    "a record is averaged with its neighbours in __getitem__",
    lambda seed: usual(seed, times=1, data=Made(averaged_record)),
    MIXED,
)


@training("the 32 records with the largest loss make the update", MIXED, ("steps", "batches are cut"))
def largest(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
    for _ in range(2):
        for x, y in loader:
            with torch.no_grad():
                order = entropy(model(x), y, reduction="none").argsort(descending=True)[:32]
            stepping(model, optimizer, loss)(x[order], y[order])


# --- wrong: batches and steps -----------------------------------------------------------------------------------

TWICE = ("batches", "records twice in the training set")
for what, data in (
    (
        "rare classes are oversampled by their numbers, in a subset",
        Subset(DIGITS, [*range(len(X)), *torch.nonzero(Y == 3).flatten().tolist()]),
    ),
    ("the data is put together with itself", ConcatDataset([DIGITS, DIGITS])),
    ("the data is stacked on a copy of itself", TensorDataset(X.repeat(2, 1), Y.repeat(2))),
):
    add(what, lambda seed, data=data: usual(seed, data=data), TWICE)


@written(
    "a sampler with weights for classes, accounted for as Poisson",
    ("batches", "records twice in a batch"),
    ("batches", "neither Poisson sampling, nor batches of one size, nor shuffled ones"),
)
def weights(seed: int) -> Loop:
    loop = by_hand(seed)
    loop.loader = DataLoader(DIGITS, 90, sampler=WeightedRandomSampler(1.0 / torch.bincount(Y).float()[Y], len(X)))
    clipped, params = loop.options["gradient"], list(loop.model.parameters())

    def train() -> None:
        for batch in loop.loader:
            for p, total in zip(params, clipped(batch), strict=True):
                p.grad = (total + torch.randn_like(total)) / 64
            loop.optimizer.step()

    return Loop(loop.model, loop.optimizer, loop.loader, train, {**loop.options, "rate": RATE})


# --- wrong: noise and clipping ------------------------------------------------------------------------------------

NOISE, UNSEEN = ("noise", "too little noise"), ("parameters", "no noise was seen in it")
MOVED, REPEATED = ("parameters", "moved without noise"), ("repetition", "noise repeated")
CLIPPING = tuple(("clipping", name) for name in ("another norm", "not clipped", "no such sum"))


def clamped_grads(size: Any, grads: Sums) -> Any:
    for g in grads:
        g.clamp_(-1, 1)
    return 1.0


def add_by_hand(what: str, *named: tuple[str, str], **options: Any) -> None:
    add(f"no library, {what}", lambda seed: by_hand(seed, **options), *named)


add_by_hand(
    "noise in every other update only", MOVED, UNSEEN, NOISE,
    noise=lambda total, place, step: torch.randn_like(total) * (step % 2), times=2,
)  # fmt: skip
add_by_hand(
    "none in the biases", MOVED, UNSEEN,
    noise=lambda total, place, step: torch.randn_like(total) if total.ndim > 1 else 0.0,
)  # fmt: skip
add_by_hand(
    "uniform noise of the same variance", ("noise", "no noise seen"),
    noise=lambda total, place, step: (torch.rand_like(total) * 2 - 1) * 3**0.5,
)  # fmt: skip
add_by_hand(
    "noise clamped to two deviations", NOISE, ("noise", "another law"),
    noise=lambda total, place, step: torch.randn_like(total).clamp(-2, 2),
)  # fmt: skip
add_by_hand("noise divided by the batch once more", NOISE, noise=lambda total, place, step: torch.randn_like(total) / 8)
add_by_hand("each coordinate clipped, and not the norm", *CLIPPING, factor=clamped_grads)
add_by_hand(
    "clipped by the norm of the first layer", *CLIPPING,
    factor=lambda size, grads: (1.0 / (grads[0].norm() + 1e-6)).clamp(max=1),
)  # fmt: skip
add_by_hand(
    "the wrong way round: scaled up to the norm at least", *CLIPPING,
    factor=lambda size, grads: (1.0 / (size + 1e-6)).clamp(min=1),
)  # fmt: skip


@written("no library, the noise of every second update is minus that of the one before",
         ("independence", "dependent noise"), REPEATED)  # fmt: skip
def antithetic(seed: int) -> Loop:
    held: dict[int, Any] = {}

    def noise(total: Any, place: int, step: int) -> Any:
        held[place] = -held[place] if step % 2 else torch.randn_like(total)
        return held[place]

    return by_hand(seed, noise, times=2)


@written("no library, one noise for an epoch", REPEATED)
def per_epoch(seed: int) -> Loop:
    held: dict[int, Any] = {}

    def noise(total: Any, place: int, step: int) -> Any:
        if step % EPOCH == 0:
            held[place] = torch.randn_like(total)
        return held[place]

    return by_hand(seed, noise, times=2)


def moved_besides(model: Any, optimizer: Any, sums: Sums, step: int) -> None:
    with torch.no_grad():
        model[2].bias -= 0.3 * sums[3] / 64


add_by_hand("the bias of the last layer is moved by the sum without noise, too", ("parameters", "moved otherwise"),
            after=moved_besides)  # fmt: skip

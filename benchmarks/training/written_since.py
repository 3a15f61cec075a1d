"""Which other loops do people write? Right ones and wrong ones that the watch was not made with, as in `as_written`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from as_written import GHOST, MIXED, SMALL, Text, epochs, private, right, stepping, with_loss, wrong
from loops import DIGITS, EPOCH, RATE, Loop, network
from opacus import PrivacyEngine
from opacus.layers import DPGRU
from opacus.utils.batch_memory_manager import BatchMemoryManager
from opacus.utils.uniform_sampler import UniformWithReplacementSampler
from torch import nn
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset, WeightedRandomSampler

warnings.filterwarnings("ignore")

X, Y = DIGITS.tensors
Sums = list[Any]
entropy = functional.cross_entropy


def around(seed: int, body: Callable[[Any, Any, Any, Any], None], **options: Any) -> Loop:
    """A loop of Opacus whose training is a function of model, optimizer, loader and loss."""
    model, optimizer, loader, loss = private(seed, **options)
    return Loop(model, optimizer, loader, lambda: body(model, optimizer, loader, loss))


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


@right("momentum, weight decay, a schedule for the rate of learning, and zero_grad after the step")
def decayed(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.original_optimizer, 40)
        for _ in range(2):
            for x, y in loader:
                loss(model(x), y).backward()
                optimizer.step()
                optimizer.zero_grad()
                plan.step()

    return around(seed, body, kind=lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9, weight_decay=1e-4))


@right("AdamW, and a moving average of the weights beside")
def averaged(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        mean = {name: p.detach().clone() for name, p in model.named_parameters()}
        for x, y in loader:
            stepping(model, optimizer, loss)(x, y)
            for name, p in model.named_parameters():
                mean[name].mul_(0.99).add_(p.detach(), alpha=0.01)

    return around(seed, body, kind=lambda p, lr: torch.optim.AdamW(p, lr=0.003))


@right("a frozen layer below, the head is trained")
def head(seed: int) -> Loop:
    model = network()
    model[0].requires_grad_(False)
    model, optimizer, loader, loss = private(seed, model)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


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


@right("adapters of low rank beside a frozen layer")
def adapters(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, Adapted())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


class Rows(nn.Module):
    """Reads an image row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.out = DPGRU(8, 16, batch_first=True), nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        return self.out(self.rows(x.view(-1, 8, 8))[0][:, -1])


@right("a recurrent network of Opacus over the rows of an image")
def recurrent(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, Rows())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss), 1))


class Named(Dataset):
    """Records as dictionaries."""

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, number: int) -> Any:
        return {"pixels": X[number], "label": Y[number]}


@right("batches are dictionaries, moved and cast in the loop")
def named(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        for batch in loader:
            batch = {key: value.to("cpu", non_blocking=True) for key, value in batch.items()}
            stepping(model, optimizer, loss)(batch["pixels"].double().float(), batch["label"])

    return around(seed, body, data=Named())


@right("an endless iterator over the loader, a number of steps")
def endless(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        batches = iter(loader)
        for _ in range(45):
            try:
                x, y = next(batches)
            except StopIteration:
                batches = iter(loader)
                x, y = next(batches)
            stepping(model, optimizer, loss)(x, y)

    return around(seed, body)


@right("weights are saved, and loaded again between epochs; a held-out set is evaluated")
def saved(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        held = DataLoader(SMALL, batch_size=50)
        for _ in range(2):
            model.train()
            epochs(loader, stepping(model, optimizer, loss), 1)()
            kept = {name: value.clone() for name, value in model.state_dict().items()}
            model.eval()
            for x, y in held:
                loss(model(x), y).item()
            model.load_state_dict(kept)

    return around(seed, body)


@right("norms of records' gradients are written down")
def norms(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        log = []
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            log.append(torch.stack([p.grad_sample.flatten(1).norm(dim=1) for p in model.parameters()]).norm(dim=0))
            optimizer.step()

    return around(seed, body)


@right("the noisy gradient is clipped once more before the step")
def clipped_after(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            if optimizer.pre_step():
                clip_grad_norm_(model.parameters(), 1.0)
                optimizer.original_optimizer.step()

    return around(seed, body)


@right("noise multiplier from ε, by make_private_with_epsilon")
def from_epsilon(seed: int) -> Loop:
    torch.manual_seed(seed)
    model = network()
    model, optimizer, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.3), data_loader=DataLoader(DIGITS, 90),
        target_epsilon=6.0, target_delta=1e-5, epochs=2, max_grad_norm=1.0,
    )  # fmt: skip
    optimizer.expected_batch_size = 64
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, nn.CrossEntropyLoss())))


@right("gradients of records by functorch")
def functorch(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, grad_sample_mode="functorch")
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("ghost clipping with physical batches by BatchMemoryManager")
def ghost_managed(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        with BatchMemoryManager(data_loader=loader, max_physical_batch_size=32, optimizer=optimizer) as parts:
            epochs(parts, stepping(model, optimizer, loss), 1)()

    return around(seed, body, **GHOST)


@right("a loss that is summed, as loss_reduction='sum' says")
def summed(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m(x), y, reduction="sum"), loss_reduction="sum")


# --- right: records -------------------------------------------------------------------------------------------


@right("records whose own loss is small are left out")
def own_threshold(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        for _ in range(2):
            for x, y in loader:
                with torch.no_grad():
                    keep = entropy(model(x), y, reduction="none") > 0.5
                optimizer.zero_grad()
                loss(model(x[keep]), y[keep]).backward()
                optimizer.step()

    return around(seed, body)


@right("a weight for each record by its own loss, as in focal losses")
def focal(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        each = entropy(model(x), y, reduction="none")
        return ((1 - torch.exp(-each)) ** 2 * each).mean()

    return with_loss(seed, loss)


@right("labels are noisy, each by a draw of its own")
def noisy_labels(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        other = torch.randint(0, 10, y.shape)
        return entropy(model(x), torch.where(torch.rand(len(y)) < 0.1, other, y))

    return with_loss(seed, loss)


@right("pixels are hidden at random, and each image is scaled by its own largest pixel")
def hidden(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        own = x / x.amax(dim=1, keepdim=True).clamp(min=1e-3)
        return entropy(model(own * (torch.rand_like(own) > 0.1)), y)

    return with_loss(seed, loss)


@right("a consistency loss between two views of each record")
def views(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        out = model(x)
        with torch.no_grad():
            other = model(x + 0.05 * torch.randn_like(x))
        return entropy(out, y) + 0.1 * ((out - other) ** 2).mean()

    return with_loss(seed, loss)


@right("a subset of the data, without repetitions")
def part(seed: int) -> Loop:
    chosen = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))[:1500].tolist()
    model, optimizer, loader, loss = private(seed, data=Subset(DIGITS, chosen))
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@right("two parts of the data, put together again")
def put_together(seed: int) -> Loop:
    data = ConcatDataset([Subset(DIGITS, range(900)), Subset(DIGITS, range(900, len(X)))])
    model, optimizer, loader, loss = private(seed, data=data)
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


# --- right: no library ----------------------------------------------------------------------------------------


@right("no library, torch.normal with the scale of the noise")
def torch_normal(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.normal(0.0, 1.0, total.shape))


@right("no library, torch.distributions.Normal")
def distribution(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.distributions.Normal(0.0, 1.0).sample(total.shape))


@right("no library, noise of NumPy")
def of_numpy(seed: int) -> Loop:
    rng = np.random.default_rng(seed)
    return by_hand(seed, lambda total, place, step: torch.from_numpy(rng.normal(size=tuple(total.shape))).float())


@right("no library, a generator of its own, seeded once")
def own_generator(seed: int) -> Loop:
    generator = torch.Generator().manual_seed(12345)
    return by_hand(seed, lambda total, place, step: torch.randn(total.shape, generator=generator))


@right("no library, every gradient scaled to the norm, small ones too")
def automatic(seed: int) -> Loop:
    return by_hand(seed, factor=lambda size, grads: 1.0 / (size + 0.01))


@right("no library, noise in one vector for all parameters")
def one_vector(seed: int) -> Loop:
    def after(model: Any, optimizer: Any, sums: Sums, step: int) -> None:
        flat = parameters_to_vector(sums)
        flat = (flat + torch.randn_like(flat)) / 64
        parts = [torch.empty_like(p) for p in model.parameters()]
        vector_to_parameters(flat, parts)
        for p, part in zip(model.parameters(), parts, strict=True):
            p.grad = part

    return by_hand(seed, after=after)


@right("no library, rate of learning by a schedule, and gradients added up by backward")
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


@wrong("functional.batch_norm with training=True", MIXED)
def functional_norm(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m(functional.batch_norm(x, None, None, training=True)), y))


@wrong("a softmax over the batch, by a wrong dim", MIXED)
def wrong_dim(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: functional.nll_loss(m(x).log_softmax(dim=0), y))


@wrong("scaled to the least and largest pixel of the batch", MIXED)
def least_and_largest(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m((x - x.amin(0)) / (x.amax(0) - x.amin(0) + 1e-3)), y))


class Across(Text):
    """Attention along the batch, by a wrong order of dimensions."""

    def forward(self, x: Any) -> Any:
        """Return scores of classes."""
        words = (x.view(-1, 8, 8).mean(2) * 16).long()
        h = self.words(words) + self.places(torch.arange(8).expand(len(x), 8))
        query, key, value = (each.transpose(0, 1) for each in (self.query(h), self.key(h), h))
        weights = (query @ key.transpose(1, 2) / 4).softmax(-1)
        return self.out((weights @ value).transpose(0, 1).mean(1))


@wrong("attention along the batch, by a wrong order of dimensions", MIXED)
def across(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m(x), y), Across())


@wrong("distances to the mean of each class in the batch", MIXED)
def prototypes(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        z, one_hot = model(x), functional.one_hot(y, 10).float()
        means = one_hot.T @ z / one_hot.sum(0).clamp(min=1)[:, None]
        return entropy(-torch.cdist(z, means), y)

    return with_loss(seed, loss)


@wrong("a queue of earlier features is contrasted with", MIXED)
def queue(seed: int) -> Loop:
    kept = torch.zeros(0, 10)

    def loss(model: Any, x: Any, y: Any) -> Any:
        nonlocal kept
        z = functional.normalize(model(x), dim=1)
        alike = torch.cat([(z * z.detach()).sum(1, keepdim=True), z @ kept.T], 1) / 0.2
        kept = torch.cat([kept, z.detach()])[-256:]
        return entropy(alike, torch.zeros(len(z), dtype=torch.long))

    return with_loss(seed, loss)


@wrong("patches of another image of the batch are put in, in place", MIXED)
def cutmix(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        other = x[torch.randperm(len(x))]
        x[:, 16:40] = other[:, 16:40]
        return entropy(model(x), y)

    return with_loss(seed, loss)


@wrong("the variance of the scores in the batch is a part of the loss", MIXED)
def variance(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        out = model(x)
        return entropy(out, y) + 0.5 * out.var(0).mean()

    return with_loss(seed, loss)


@wrong("labels are smoothed towards those of the batch", MIXED)
def smoothed(seed: int) -> Loop:
    def loss(model: Any, x: Any, y: Any) -> Any:
        target = 0.8 * functional.one_hot(y, 10).float() + 0.2 * torch.bincount(y, minlength=10) / len(y)
        return entropy(model(x), target)

    return with_loss(seed, loss)


@wrong("the mean loss of a batch where a sum was promised", MIXED)
def mean_for_sum(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m(x), y), loss_reduction="sum", max_grad_norm=0.01)


@wrong("a sum of losses where a mean was promised", MIXED)
def sum_for_mean(seed: int) -> Loop:
    return with_loss(seed, lambda m, x, y: entropy(m(x), y, reduction="sum"))


class Centred(Dataset):
    """Subtracts a mean of all records."""

    def __init__(self) -> None:
        self.x, self.y = X, Y

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, number: int) -> Any:
        nearest = (self.x - self.x[number]).square().sum(1).topk(4, largest=False).indices
        return self.x[nearest].mean(0), self.y[number]


@wrong("a record is averaged with its neighbours in __getitem__", MIXED)
def neighbours(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=Centred())
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss), 1))


@wrong("the 32 records with the largest loss make the update", MIXED, ("steps", "batches are cut"))
def largest(seed: int) -> Loop:
    def body(model: Any, optimizer: Any, loader: Any, loss: Any) -> None:
        for _ in range(2):
            for x, y in loader:
                with torch.no_grad():
                    order = entropy(model(x), y, reduction="none").argsort(descending=True)[:32]
                stepping(model, optimizer, loss)(x[order], y[order])

    return around(seed, body)


# --- wrong: batches and steps -----------------------------------------------------------------------------------

TWICE = ("batches", "records twice in the training set")


@wrong("rare classes are oversampled by their numbers, in a subset", TWICE)
def oversampled(seed: int) -> Loop:
    chosen = [*range(len(X)), *torch.nonzero(Y == 3).flatten().tolist()]
    model, optimizer, loader, loss = private(seed, data=Subset(DIGITS, chosen))
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("the data is put together with itself", TWICE)
def doubled(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=ConcatDataset([DIGITS, DIGITS]))
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("the data is stacked on a copy of itself", TWICE)
def stacked(seed: int) -> Loop:
    model, optimizer, loader, loss = private(seed, data=TensorDataset(X.repeat(2, 1), Y.repeat(2)))
    return Loop(model, optimizer, loader, epochs(loader, stepping(model, optimizer, loss)))


@wrong("a sampler with weights for classes, accounted for as Poisson",
       ("batches", "records twice in a batch"),
       ("batches", "neither Poisson sampling, nor batches of one size, nor shuffled ones"))  # fmt: skip
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

NOISE = ("noise", "too little noise")
CLIPPING = tuple(("clipping", name) for name in ("another norm", "not clipped", "no such sum"))


@wrong("no library, noise in every other update only",
       ("parameters", "moved without noise"), ("parameters", "no noise was seen in it"), NOISE)  # fmt: skip
def every_other(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.randn_like(total) * (step % 2), times=2)


@wrong("no library, none in the biases",
       ("parameters", "moved without noise"), ("parameters", "no noise was seen in it"))  # fmt: skip
def no_biases(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.randn_like(total) if total.ndim > 1 else 0.0)


@wrong("no library, uniform noise of the same variance", ("noise", "no noise seen"))
def uniform(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: (torch.rand_like(total) * 2 - 1) * 3**0.5)


@wrong("no library, noise clamped to two deviations", NOISE, ("noise", "another law"))
def clamped(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.randn_like(total).clamp(-2, 2))


@wrong("no library, the noise of every second update is minus that of the one before",
       ("independence", "dependent noise"), ("repetition", "noise repeated"))  # fmt: skip
def antithetic(seed: int) -> Loop:
    held: dict[int, Any] = {}

    def noise(total: Any, place: int, step: int) -> Any:
        held[place] = -held[place] if step % 2 else torch.randn_like(total)
        return held[place]

    return by_hand(seed, noise, times=2)


@wrong("no library, one noise for an epoch", ("repetition", "noise repeated"))
def per_epoch(seed: int) -> Loop:
    held: dict[int, Any] = {}

    def noise(total: Any, place: int, step: int) -> Any:
        if step % EPOCH == 0:
            held[place] = torch.randn_like(total)
        return held[place]

    return by_hand(seed, noise, times=2)


@wrong("no library, noise divided by the batch once more", NOISE)
def divided_twice(seed: int) -> Loop:
    return by_hand(seed, lambda total, place, step: torch.randn_like(total) / 8)


@wrong("no library, each coordinate clipped, and not the norm", *CLIPPING)
def by_coordinate(seed: int) -> Loop:
    def factor(size: Any, grads: Sums) -> Any:
        for g in grads:
            g.clamp_(-1, 1)
        return 1.0

    return by_hand(seed, factor=factor)


@wrong("no library, clipped by the norm of the first layer", *CLIPPING)
def first_layer(seed: int) -> Loop:
    return by_hand(seed, factor=lambda size, grads: (1.0 / (grads[0].norm() + 1e-6)).clamp(max=1))


@wrong("no library, the wrong way round: scaled up to the norm at least", *CLIPPING)
def wrong_way(seed: int) -> Loop:
    return by_hand(seed, factor=lambda size, grads: (1.0 / (size + 1e-6)).clamp(min=1))


@wrong("no library, the bias of the last layer is moved by the sum without noise, too",
       ("parameters", "moved otherwise"))  # fmt: skip
def second_optimizer(seed: int) -> Loop:
    def after(model: Any, optimizer: Any, sums: Sums, step: int) -> None:
        with torch.no_grad():
            model[2].bias -= 0.3 * sums[3] / 64

    return by_hand(seed, after=after)

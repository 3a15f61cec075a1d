"""How is a PyTorch loop watched, with Opacus or without? From model, optimizer and loader to what was seen.

Canaries of gradients come into a loop of Opacus in place of records that it draws, in a block of their own. It is one
more parameter of the optimizer, with a coordinate for each canary. Where the loop draws a record that gives its place,
its gradient becomes zero; where the coin of its canary says "in", it lies along the canary's coordinate instead, longer
than the clip norm. Sampler, clipping, sum and noise are the loop's own. The block has no gradient when parameters move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from dpaudit.arrays import Integers
from dpaudit.errors import UsageError
from dpaudit.training.canaries import Canaries, chosen, evidence_for_in
from dpaudit.training.seen import Parameter, TrainingRun
from dpaudit.training.watchers import loader as loaders
from dpaudit.training.watchers.between import Between
from dpaudit.training.watchers.loader import GivenRows, RowsOfBatches, copies_in, in_set, together
from dpaudit.training.watchers.opacus import accountant_of, given_back, is_ghost, is_opacus, norm_of, watch_opacus
from dpaudit.training.watchers.plain import NoiseFlow, PlainWatcher
from dpaudit.training.watchers.recorder import TrainingRecorder, Undo
from dpaudit.training.watchers.tape import Tape

# --- How do canaries of gradients come into a loop of Opacus? --------------------------------------------

LENGTH = 10.0
"""Of the gradient of a canary, in clip norms: so clipping has to shorten it."""
_INSTEAD = "list records as canaries instead (canaries=[…] with canary_scores=)"


def refuse_others(optimizer: Any, loader: Any, rate: float | None) -> None:
    """Raise `UsageError` for loops that gradients cannot be put into."""
    if not is_opacus(optimizer) or is_ghost(optimizer):
        raise UsageError(
            "a number of canaries puts gradients in place of records, which takes gradients of single records: a loop "
            f"of Opacus with hooks. Here, {_INSTEAD}"
        )
    if hasattr(optimizer, "target_unclipped_quantile") or hasattr(optimizer, "max_grad_norms"):
        raise UsageError(
            "the clip norm of this loop hangs on the gradients of records, or is one for each layer: canaries of "
            f"gradients would change how the others are clipped; {_INSTEAD}"
        )
    if getattr(loader, "num_workers", 0):
        raise UsageError(
            "the workers of this loader draw batches ahead, so that the place of a canary is not known: set "
            f"num_workers=0, or {_INSTEAD}"
        )
    if rate is None:
        raise UsageError("canaries of gradients need the rate at which records are drawn: give rate=")


class GradientCanaries:
    """Puts canaries into one loop, and scores them.

    Args:
        optimizer: of Opacus, with hooks.
        recorder: sees the batches that are drawn.
        canaries: with their places and coins.
        rate: at which records are drawn.
        sigma: the noise multiplier that is claimed.
    """

    def __init__(
        self, optimizer: Any, recorder: TrainingRecorder, canaries: Canaries, rate: float, sigma: float
    ) -> None:
        self.optimizer, self.canaries, self.rate, self.sigma = optimizer, canaries, rate, sigma
        first = optimizer.params[0]
        self.block = torch.nn.Parameter(torch.zeros(len(canaries.places), dtype=first.dtype, device=first.device))
        self.number = {int(place): number for number, place in enumerate(canaries.places)}
        self.waiting: list[Integers] = []
        self.scores = canaries.scores = np.zeros(len(canaries.places))
        recorder.at_batch = self.waiting.append

    def watch(self, undo: Undo) -> None:
        """Add the block, and wrap two methods of the optimizer."""
        held = self.optimizer.param_groups[0]["params"]
        held.append(self.block)
        self.block.grad_sample, self.block.summed_grad = None, None
        undo.append(self._take_back(held))
        for name in ("pre_step", "add_noise"):
            own = self.optimizer.__dict__.get(name)
            setattr(self.optimizer, name, getattr(self, name)(getattr(self.optimizer, name)))
            undo.append(given_back(self.optimizer, name, own))
        undo.append(self.optimizer.original_optimizer.register_step_pre_hook(self._at_step).remove)

    def _take_back(self, held: list[Any]) -> Callable[[], None]:
        def back() -> None:
            held[:] = [p for p in held if p is not self.block]
            self.optimizer.state.pop(self.block, None)

        return back

    def pre_step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap what comes before a step: canaries are there before gradients are clipped."""

        def pre_step(*args: Any, **named: Any) -> Any:
            self._insert()
            return original(*args, **named)

        return pre_step

    def _insert(self) -> None:
        """Give the block gradients of single records, and take those of the records whose place it is."""
        others = [p for p in self.optimizer.params if p is not self.block]
        like = getattr(others[0], "grad_sample", None)
        if like is None:
            return  # without gradients of single records the loop itself ends, and says so
        sizes = [len(each) for each in like] if isinstance(like, list) else [len(like)]
        places, clip, start, made = self._drawn(sum(sizes)), norm_of(self.optimizer), 0, []
        for part, size in enumerate(sizes):
            rows = self.block.new_zeros((size, len(self.block)))
            for row, place in enumerate(places[start : start + size]):
                number = self.number.get(int(place))
                if number is None:
                    continue
                for p in others:
                    (p.grad_sample[part] if isinstance(p.grad_sample, list) else p.grad_sample)[row] = 0
                if self.canaries.coins[number]:
                    rows[row, number] = LENGTH * clip
            made.append(rows)
            start += size
        self.block.grad_sample = made if isinstance(like, list) else made[0]

    def _drawn(self, rows: int) -> Integers:
        """Return the numbers of the records whose gradients these are; none where that is not certain.

        They are those of the last batches that were drawn, or the next of a batch that is taken in parts.
        """
        total = 0
        for back, batch in enumerate(reversed(self.waiting), start=1):
            total += len(batch)
            if total == rows and rows:
                numbers = np.concatenate(self.waiting[-back:])
                self.waiting.clear()
                return numbers
            if total > rows:
                break
        if not rows or not self.waiting or rows > len(self.waiting[-1]):
            return np.full(rows, -1)
        numbers, rest = self.waiting[-1][:rows], self.waiting[-1][rows:]
        self.waiting[:] = [rest]
        return numbers

    def add_noise(self, original: Callable[[], None]) -> Callable[[], None]:
        """Wrap the noise: what it makes of the block is what an attacker sees."""

        def add_noise() -> None:
            original()
            if self.block.grad is not None:
                values = self.block.grad.detach().cpu().double().numpy() / norm_of(self.optimizer)
                self.scores += evidence_for_in(values, self.rate, self.sigma)

        return add_noise

    def _at_step(self, *_: Any) -> None:
        self.block.grad = self.block.summed_grad = None  # the block itself never moves


_MIXING = ("BatchNorm", "SyncBatchNorm")
_REPLAYS = {"hooks": (8, 0.125), "ghost": (1, 0.005), "plain": (2, 0.01)}
_PLAYED, _TAPED, _PLAYED_LATER = 4, 40, 0.01  # updates that are played again: at first, of so many batches, and later
OTHER = "parameter {} of the optimizer, which is not the model's,"
_WATCHED = "_dpaudit_watched"


class TorchWatch:
    """One watch of one loop.

    Args:
        model, optimizer, loader: of the loop; ``loader`` may be None.
        sigma, clip, rate: as claimed, where the loop's objects do not say it.
        sampling: which the claim's accounting assumes.
        gradient: for plain loops.
        accountant: counts steps; by default the one that an optimizer of Opacus reports to.
        seed: of what is replayed, and of coins.
        canaries, canary_scores: as asked for.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        loader: Any,
        *,
        sigma: float | Sequence[float] | None,
        clip: float | None,
        rate: float | None,
        sampling: str,
        gradient: Callable[[Any], Any] | None,
        accountant: Any,
        seed: int,
        canaries: Any = None,
        canary_scores: Callable[[], Any] | None = None,
    ) -> None:
        self.model, self.optimizer, self.loader = model, optimizer, loader
        self.opacus, self.ghost = is_opacus(optimizer), is_opacus(optimizer) and is_ghost(optimizer)
        self._check(sigma, clip)
        self.inner = getattr(model, "_module", model)
        self.base = getattr(optimizer, "original_optimizer", optimizer)
        self.accountant = getattr(accountant, "accountant", accountant)
        if self.accountant is None and self.opacus:
            self.accountant = accountant_of(optimizer)
        self.others: dict[Any, str] = {}
        self.names = self._names()
        how = "Opacus, ghost clipping" if self.ghost else "Opacus, hooks" if self.opacus else "PyTorch, no library"
        self.seen = TrainingRun(how, assumed=sampling)
        loaders.about(loader, self.seen)
        self.seen.rate = rate if rate is not None else self.seen.rate
        often, later = _REPLAYS["ghost" if self.ghost else "hooks" if self.opacus else "plain"]
        sizes = {name: p.numel() for p, name in self.names.items()}
        self.recorder = TrainingRecorder(self.seen, sizes, seed=seed, often=often, later=later)
        if isinstance(sigma, list | tuple):
            self.recorder.plan = tuple(map(float, sigma))
            self.seen.planned, sigma = len(sigma), self.recorder.plan[0]
        self.sigma = float(optimizer.noise_multiplier if sigma is None else sigma)  # type: ignore[arg-type]
        self.clip = float(clip if clip is not None else norm_of(optimizer))
        self.score = canary_scores
        if canaries is not None:
            self._choose(canaries, seed)
        self.given: float | None = None if sigma is None else self.sigma
        self.gradient = gradient
        self.rows = RowsOfBatches()
        self.undo: Undo = []
        self.packages = ("torch", "opacus", "python-flint") if self.opacus else ("torch", "python-flint")
        self.plain: PlainWatcher | None = None
        self.between: Between | None = None
        self.tape: Tape | None = None
        self.taped = 0
        self.taken: Callable[[GivenRows, bool], None] = lambda given, training: None

    def _check(self, sigma: Any, clip: float | None) -> None:
        if not isinstance(self.model, torch.nn.Module):
            raise UsageError(
                f"the model of a PyTorch loop is a torch.nn.Module, not {type(self.model).__name__}; give the model "
                "that is trained (after make_private or prepare)"
            )
        if not hasattr(self.optimizer, "param_groups") or not hasattr(self.optimizer, "step"):
            raise UsageError(
                f"the optimizer of a PyTorch loop is a torch.optim.Optimizer or one of Opacus, not "
                f"{type(self.optimizer).__module__}.{type(self.optimizer).__name__}"
            )
        if self.opacus and not self.ghost and not _has_gradients(self.model):
            raise UsageError(
                "this model has no gradients of single records: watch the model that make_private returned, not the "
                "one that it was given"
            )
        if not self.opacus and (sigma is None or clip is None):
            raise UsageError(
                "a loop without Opacus does not say its noise: give sigma=, the noise multiplier, and clip=, the norm "
                "that records are clipped to"
            )
        if any(type(each).__name__ == "DTensor" for p in self.model.parameters() for each in (p, p.data)):
            raise UsageError(
                "parameters that are spread over several machines are not watched yet: each draws a part of the noise"
            )
        if hasattr(self.optimizer, _WATCHED) or loaders.is_watched(self.loader):
            raise UsageError("this loop is being watched already: leave the first watch before the next begins")

    def _choose(self, given: Any, seed: int) -> None:
        """Choose the canaries that were asked for, where this loop can have them."""
        if _processes() > 1:
            raise UsageError(
                "canaries need one process: of several, each would insert its own and score the sums that it alone "
                "made. Leave canaries out, or train in one process"
            )
        canaries = chosen(given, None if self.seen.batches is None else self.seen.records, seed)
        if canaries.kind == "gradients":
            refuse_others(self.optimizer, self.loader, self.seen.sampled)
        elif self.score is None:
            raise UsageError(
                "canaries that are records of the training set need canary_scores=, a function that returns a score "
                "for each of them after the training"
            )
        self.seen.canaries = canaries

    def _names(self) -> dict[Any, str]:
        """The parameters that the optimizer holds and that ask for gradients, by name."""
        held = {id(p): p for group in self.optimizer.param_groups for p in group["params"]}
        named = {p: name for name, p in self.inner.named_parameters() if id(p) in held and p.requires_grad}
        if not named:
            raise UsageError(
                "the optimizer holds no parameter of this model that is trained: give the model and the optimizer of "
                "one loop"
            )
        own = {id(p) for p in self.inner.parameters()}
        for number, (key, p) in enumerate(held.items()):
            if key not in own and p.requires_grad:  # of a loss, perhaps: it is released all the same
                self.others[p] = named[p] = OTHER.format(number)
        return named

    def __enter__(self) -> TorchWatch:
        self.optimizer.__dict__[_WATCHED] = True
        self.undo.append(lambda: self.optimizer.__dict__.pop(_WATCHED, None))
        self._start()
        loaders.record_batches(self.loader, self.recorder, self.undo)
        if self.seen.canaries is not None:
            self._insert(self.seen.canaries)
        loaders.record_deliveries(self.loader, self.recorder, self._reached, self._over, self.undo)
        if self.opacus:
            loaders.record_parts(self.loader, self._tape, self.undo)
            reduction = "" if self.ghost else getattr(self.optimizer, "loss_reduction", "")
            self.tape = Tape(self._played, self.recorder.rng, [*self.inner.parameters(), *self.names], reduction)
            self.undo.append(self.tape.stop)
        if self.opacus:
            self.taken = watch_opacus(self.optimizer, self.recorder, self.names, self.accountant, self.given, self.undo)
        else:
            flow = NoiseFlow()
            self.plain = PlainWatcher(
                self.recorder, flow, self.names, self.sigma, self.clip, self.gradient, set(self.others)
            )
            self.taken = self.plain.gave
            self.plain.watch(self.base, self.undo)
        self.between = Between(self.seen, self.names, set(self.inner.parameters()), 1 + self.ghost)
        self.between.watch(self.base, self.undo)
        if self.plain is not None:
            self.plain.moved = self.between.moved
        return self

    def _insert(self, canaries: Canaries) -> None:
        """Let canaries into the loop, or keep them out of it."""
        if not loaders.is_watched(self.loader):
            self.leave()
            raise UsageError("canaries need a sampler whose batches can be watched, and this one's class has slots")
        if canaries.kind == "records":
            self.recorder.out = canaries.places[~canaries.coins]
        else:
            assert self.seen.sampled is not None
            inserted = GradientCanaries(self.optimizer, self.recorder, canaries, self.seen.sampled, self.sigma)
            inserted.watch(self.undo)

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> TrainingRun:
        """Give everything back, and return what was seen."""
        if self.between is not None:
            self.between.end()
        for back in reversed(self.undo):
            back()
        self.undo.clear()
        self._end()
        return self.seen

    def _tape(self, batch: Any) -> None:
        """Write down what the loop makes of a batch, for some of them."""
        seen = [each for each in self.seen.played if not each.blind]
        wanted = len(seen) < _PLAYED and self.taped < _TAPED
        if self.tape is not None and (wanted or self.recorder.rng.random() < _PLAYED_LATER):
            self.taped += 1
            leaves = list(loaders.leaves_of(batch))
            self.tape.begin(leaves, loaders.rows_of(leaves) or 0)

    def _over(self) -> None:
        if self.tape is not None:
            self.tape.stop()

    def _played(self, loss: Any) -> None:
        if self.tape is not None and self.tape.active:
            self.seen.played.append(self.tape.play(loss))

    def _reached(self, batch: Any, number: int) -> None:
        self.rows.reach(batch, number, self.seen.deliveries[number].rows)
        if self.plain is not None:
            self.plain.reach(batch, number)

    def _start(self) -> None:
        seen = self.seen
        trained = set(self.names.values())
        held = {**dict(self.inner.named_parameters()), **{name: p for p, name in self.others.items()}}
        self.before = {name: p.detach().clone() for name, p in (*held.items(), *self.inner.named_buffers())}
        for name, p in held.items():
            seen.parameters[name] = Parameter(p.numel(), name in trained)
        for name, buffer in self.inner.named_buffers():
            seen.parameters[name] = Parameter(buffer.numel(), False, state=True)
        self.recorder.at_first = self._look
        types = {
            str(p.dtype).removeprefix("torch.") for p in self.names if p.dtype not in (torch.float32, torch.float64)
        }
        seen.rounded = ", ".join(sorted(types))
        seen.secure = getattr(self.optimizer, "secure_mode", None)
        seen.readable = _is_readable(getattr(self.optimizer, "generator", None))
        seen.devices = len({str(p.device) for p in self.names})
        seen.processes = _processes()
        if hasattr(self.optimizer, "target_unclipped_quantile"):
            seen.adapting = []
        self.undo.append(self.model.register_forward_pre_hook(self._forward, with_kwargs=True).remove)
        self.steps_before = self._steps()

    def _forward(self, model: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        with torch._C.DisableTorchFunction():
            if torch.is_grad_enabled():
                values = (*args, *named.values())
                rows = self.rows.given(values)
                if self.tape is not None:
                    if rows is not None and rows.number is not None and not self.tape.active:  # of a list, perhaps
                        self._tape(self.rows.leaves(rows.number))
                    self.tape.given(values, rows)
                if rows is not None:
                    self.taken(rows, model.training)
            kind = next(iter(self.names)).device.type
            if torch.is_autocast_enabled(kind):
                self.seen.cast = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")

    def _look(self) -> None:
        """See which layers compute across records while the loop trains, and how many processes."""
        self.seen.processes = max(self.seen.processes or 1, _processes())
        kinds = {type(layer).__name__ for layer in self.inner.modules() if layer.training}
        self.seen.mixing = tuple(sorted(kind for kind in kinds if kind.startswith(_MIXING)))

    def _end(self) -> None:
        seen = self.seen
        seen.processes = max(seen.processes or 1, _processes())
        after = dict((*self.inner.named_parameters(), *self.inner.named_buffers()))
        after |= {name: p for p, name in self.others.items()}
        for name, value in self.before.items():
            now = after.get(name)
            seen.parameters[name].moved = now is None or not torch.equal(now.detach(), value)
        self.before = {}
        self._ask()
        if self.plain is not None:
            self.plain.conclude()
        if self.accountant is not None:
            seen.accounted = _since(self.steps_before, self._steps())
            before = sum(steps for _, _, steps in self.steps_before)
            if before and not seen.partial:
                seen.partial = f"{before:,} steps were accounted for before it was watched"

    def _ask(self) -> None:
        """Ask the training set, and what puts batches together, for some records once more."""
        dataset = getattr(self.loader, "dataset", None)
        if dataset is None or not hasattr(dataset, "__getitem__") or self.seen.records is None:
            return
        rng = self.recorder.rng
        self.seen.copies = copies_in(dataset)
        self.seen.asked = {
            "the training set": in_set(dataset, rng),
            "what puts records together": together(getattr(self.loader, "collate_fn", None), dataset, rng),
        }

    def _steps(self) -> list[tuple[float, float, int]]:
        history = getattr(self.accountant, "history", None) or []
        return [(float(sigma), float(rate), int(steps)) for sigma, rate, steps in history]


def _since(
    before: list[tuple[float, float, int]], after: list[tuple[float, float, int]]
) -> list[tuple[float, float, int]]:
    """The steps that an accountant counted between two looks."""
    counted = list(after)
    for place, (sigma, rate, steps) in enumerate(before):
        if place < len(counted) and counted[place][:2] == (sigma, rate):
            counted[place] = sigma, rate, counted[place][2] - steps
    return [each for each in counted if each[2] > 0]


def _processes() -> int:
    """How many processes train together now."""
    group = torch.distributed
    return group.get_world_size() if group.is_available() and group.is_initialized() else 1


def _is_readable(generator: Any) -> bool:
    """Whether the state of a generator can be read, so that it can be predicted; one for cryptography has none."""
    if generator is None:
        return True
    try:
        generator.get_state()
    except (RuntimeError, NotImplementedError):
        return False
    return True


def _has_gradients(model: Any) -> bool:
    """Whether a model keeps gradients of single records, as those of Opacus do."""
    return type(model).__module__.startswith("opacus") or any(hasattr(p, "grad_sample") for p in model.parameters())

"""What does a loop without a library do? Noise is followed from its draw, clipping replayed by the loop's function.

A tensor that was drawn carries the word "noise"; scaled, it still does. Added to a sum it makes a noisy sum, which
remembers both parts and what it is divided by. Reshaping keeps what is known; any other operation loses it, and what is
lost is *not seen*. Nothing that the loop computes is changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from dpaudit.arrays import Floats, Integers
from dpaudit.errors import UsageError
from dpaudit.training.clipping import TOLERANCE, replayed
from dpaudit.training.seen import GradientReplay, Update
from dpaudit.training.watchers.loader import GivenRows, rows_of
from dpaudit.training.watchers.opacus import values
from dpaudit.training.watchers.recorder import TrainingRecorder, Undo, length

_T = torch.Tensor
_DRAWS = {torch.randn, torch.randn_like, torch.normal, _T.normal_, torch.nn.init.normal_}
_TIMES = {torch.mul, _T.mul, _T.__mul__, _T.__rmul__, _T.mul_, _T.__imul__, torch.multiply, _T.multiply}
_OVER = {torch.div, _T.div, _T.__truediv__, _T.div_, _T.__itruediv__, torch.true_divide, torch.divide, _T.divide}
_PLUS = {torch.add, _T.add, _T.__add__, _T.__radd__, _T.add_, _T.__iadd__}
_MINUS = {torch.sub, _T.sub, _T.__sub__, _T.sub_, _T.__isub__}
_IN_PLACE = {
    _T.mul_,
    _T.__imul__,
    _T.div_,
    _T.__itruediv__,
    _T.add_,
    _T.__iadd__,
    _T.sub_,
    _T.__isub__,
    _T.normal_,
    _T.copy_,
}
_SHAPES = {
    _T.view, _T.reshape, _T.view_as, _T.reshape_as, _T.flatten, _T.clone, _T.detach, _T.to, _T.float, _T.double,
    _T.contiguous, _T.squeeze, _T.unsqueeze, _T.t, _T.transpose, _T.permute, _T.__getitem__, torch.reshape,
    torch.flatten, torch.clone, torch.detach, torch.squeeze, torch.unsqueeze, _T.unflatten, _T.expand_as,
    _T.T.__get__, _T.data.__get__,
}  # fmt: skip
_MANY = {
    _T.split,
    torch.split,
    _T.unbind,
    torch.unbind,
    _T.chunk,
    torch.chunk,
    torch.split_with_sizes,
    _T.split_with_sizes,
}
_MEANS = {torch.mean, _T.mean}
_SCALING = _TIMES | _OVER | _MEANS  # with draws, what a word begins with
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_GETS = {_T.grad.__get__, _T.grad.__set__, _T.shape.__get__, _T.device.__get__, _T.dtype.__get__}  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class DrawnNoise:
    """Drawn, and perhaps scaled."""


@dataclass(frozen=True, slots=True)
class Divided:
    """A sum without noise, over ``by``."""

    by: float


@dataclass(frozen=True, slots=True)
class NoisySum:
    """(total + noise)/divisor; both parts are copies."""

    total: Any
    noise: Any
    divisor: float


@dataclass(frozen=True, slots=True)
class Lost:
    """Noise went into it by an operation that is not followed."""


Tag = DrawnNoise | Divided | NoisySum | Lost


class NoiseFlow(TorchFunctionMode):
    """Follows noise while it is entered.

    Attributes:
        active: whether calls are followed; hooks of the watcher switch it off.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[int, tuple[Any, Tag]] = {}  # by id: a reference that takes the tag away with its tensor
        self.active = True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within it, calls do not even pass by, if no other mode was entered since."""
        on_top = torch.overrides._get_current_function_mode() is self
        if on_top:
            self.__exit__(None, None, None)
        try:
            yield
        finally:
            if on_top:
                self.__enter__()

    def tag(self, tensor: Any) -> Tag | None:
        """Return what is known of a tensor."""
        tagged = self.tags.get(id(tensor))
        return None if tagged is None else tagged[1]

    def _know(self, tensor: Any, tag: Tag) -> None:
        key, tags = id(tensor), self.tags
        tags[key] = weakref.ref(tensor, lambda _: tags.pop(key, None)), tag

    def _unknown(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        """Whether nothing is known of any argument."""
        tags = self.tags
        for each in (*args, *named.values()) if named else args:
            if id(each) in tags or (type(each) in (list, tuple) and any(id(one) in tags for one in each)):
                return False
        return True

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call the function, and say what is known of what it returns."""
        named: Mapping[str, Any] = kwargs or _NOTHING
        if not self.active or func in _GETS:
            return func(*args, **named)
        if func in _DRAWS:
            result = func(*args, **named)
            if isinstance(result, _T) and _draws_gaussian(func, args, named):
                self._know(result, DrawnNoise())
            return result
        known = not self._unknown(args, named)
        if not known and func not in _SCALING:
            return func(*args, **named)
        parts = self._parts(func, args, named) if known and func in _IN_PLACE else None
        result = func(*args, **named)
        if isinstance(result, _T):
            tag = self._made(func, args, named, parts) if known else _begun(func, args, named)
            if tag is not None:
                self._know(result, tag)
            elif func in _IN_PLACE:
                self.tags.pop(id(result), None)
        elif known and func in _MANY and isinstance(result, tuple | list):
            self._many(func, args, named, self._tags_of(args)[0], result)
        return result

    def _parts(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """What an operation in place is about to overwrite."""
        first = args[0]
        other = args[1] if len(args) > 1 else named.get("other")
        if func in _PLUS or func in _MINUS:
            return first.detach().clone(), other.detach().clone() if isinstance(other, _T) else other
        return None

    def _made(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any], parts: Any) -> Tag | None:
        first = args[0] if args else None
        other = args[1] if len(args) > 1 else named.get("other")
        tags = self._tag_of(first), self._tag_of(other)
        if func in _MEANS:
            return _mean(args, named, tags[0])
        if func in _TIMES or func in _OVER:
            return _scaled(func, first, other, tags)
        if func in _PLUS or func in _MINUS:
            left, right = parts if parts is not None else (first, other)
            alpha = float(named.get("alpha", 1)) * (-1 if func in _MINUS else 1)
            return _added(left, right, tags, alpha)
        if func is _T.copy_:
            return tags[1]
        if func in _SHAPES:
            return self._shaped(func, args, named, tags[0])
        if func in _MANY or all(tag is None or isinstance(tag, Divided) for tag in (*tags, *self._tags_of(args))):
            return None
        if all(isinstance(tag, DrawnNoise) for tag in self._tags_of((*args, *named.values()))):
            return DrawnNoise()  # what is made of noise alone holds nothing else, whatever its law
        return Lost()

    def _tag_of(self, value: Any) -> Tag | None:
        return self.tag(value) if isinstance(value, _T) else None

    def _tags_of(self, args: tuple[Any, ...]) -> list[Tag | None]:
        return [self.tag(each) for each in _tensors(args)]

    def _shaped(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any], tag: Tag | None) -> Tag | None:
        if not isinstance(tag, NoisySum):
            return tag
        return NoisySum(func(tag.total, *args[1:], **named), func(tag.noise, *args[1:], **named), tag.divisor)

    def _many(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any], tag: Tag | None, results: Any) -> None:
        if isinstance(tag, NoisySum):
            totals, noises = func(tag.total, *args[1:], **named), func(tag.noise, *args[1:], **named)
            for each, total, noise in zip(results, totals, noises, strict=True):
                self._know(each, NoisySum(total, noise, tag.divisor))
        elif tag is not None:
            for each in results:
                self._know(each, tag)


def _tensors(args: tuple[Any, ...]) -> list[Any]:
    tensors = []
    for each in args:
        if isinstance(each, _T):
            tensors.append(each)
        elif isinstance(each, list | tuple):
            tensors += [inner for inner in each if isinstance(inner, _T)]
    return tensors


def _draws_gaussian(func: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether a draw is around 0; a mean that is a tensor may be one of data."""
    if func is torch.normal:
        mean = args[0] if args else named.get("mean", 0.0)
        return not bool(mean.any()) if isinstance(mean, _T) else float(mean) == 0
    if func in (_T.normal_, torch.nn.init.normal_):
        mean = args[1] if len(args) > 1 else named.get("mean", 0.0)
        return float(mean) == 0
    return True


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return float(value.detach()) if isinstance(value, _T) and value.ndim == 0 else None


def _scaled(func: Any, first: Any, other: Any, tags: tuple[Tag | None, Tag | None]) -> Tag | None:
    """What is known of a product or a quotient."""
    number, tag = _as_number(other), tags[0]
    if number is None and func in _TIMES and tags[0] is None:
        number, tag = _as_number(first), tags[1]
    if number is None:
        lossy = [each for each in tags if each is not None and not isinstance(each, Divided)]
        return Lost() if lossy else None
    factor = number if func in _TIMES else (1 / number if number else 0.0)
    if tag is None and (isinstance(first, _T) and isinstance(other, _T)):
        return None  # a factor that was computed may hang on records: what it makes is a sum of its own
    if isinstance(tag, DrawnNoise | Lost):
        return tag
    if not factor:
        return None
    if isinstance(tag, NoisySum):
        return NoisySum(tag.total, tag.noise, tag.divisor / factor)
    return Divided((tag.by if isinstance(tag, Divided) else 1.0) / factor)


def _begun(func: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> Tag | None:
    """What is known of a product, a quotient or a mean of which nothing was."""
    if func in _MEANS:
        return _mean(args, named, None)
    return _scaled(func, args[0] if args else None, args[1] if len(args) > 1 else named.get("other"), (None, None))


def _mean(args: tuple[Any, ...], named: Mapping[str, Any], tag: Tag | None) -> Tag | None:
    dim = args[1] if len(args) > 1 else named.get("dim", 0)
    if tag is not None and not isinstance(tag, Divided):
        return Lost()
    if dim != 0 or not isinstance(args[0], _T) or args[0].ndim < 1:
        return None
    return Divided(float(max(1, args[0].shape[0])))


def _added(left: Any, right: Any, tags: tuple[Tag | None, Tag | None], alpha: float) -> Tag | None:
    """What is known of left + alpha·right."""
    a, b = tags
    if isinstance(a, Lost) or isinstance(b, Lost):
        return Lost()
    noises = isinstance(a, DrawnNoise), isinstance(b, DrawnNoise)
    if all(noises):
        return DrawnNoise()
    if any(noises):
        noise, tag, total, sign = (right, a, left, alpha) if noises[1] else (left, b, right, 1.0)
        over = 1.0 if noises[1] else alpha
        if isinstance(tag, NoisySum):
            return NoisySum(tag.total, tag.noise + sign * noise.detach() * tag.divisor, tag.divisor)
        if not isinstance(total, _T) or total.shape != noise.shape:
            return DrawnNoise() if not isinstance(total, _T) else Lost()
        by = tag.by if isinstance(tag, Divided) else 1.0
        return NoisySum(total.detach() * (over * by), noise.detach() * (sign * by), by)
    if isinstance(a, NoisySum) and isinstance(b, NoisySum):
        return Lost()
    if isinstance(a, NoisySum) or isinstance(b, NoisySum):
        noisy, other, times = (a, right, alpha) if isinstance(a, NoisySum) else (b, left, 1.0)
        if not isinstance(noisy, NoisySum) or (isinstance(b, NoisySum) and alpha != 1) or not isinstance(other, _T):
            return Lost()
        return NoisySum(noisy.total + times * other.detach() * noisy.divisor, noisy.noise, noisy.divisor)
    return None


NOISE_LOST = (
    "The noise could not be followed from its draw to the gradient: an operation on the way is not known, or it was "
    "drawn outside of PyTorch or before the watch began."
)
NO_GRADIENT = (
    "Gradients of single records of a plain loop are not seen without gradient=, a function that returns the clipped "
    "sum of a batch."
)
PRESUMED = (
    "The model was not called with rows of a batch, and no sum was compared: which batches the updates hold was not "
    "seen."
)
CHANGED = (
    "The model was given what the loop makes of a batch, and not the batch: its sums could not be compared with those "
    "of gradient=. Let the loader, or the function, do what the loop does."
)
OF_THE_LOSS = "The sums of parameters that are not the model's were not compared with those of single records."
MOVED = (
    "Weights were changed between the gradient and the step, or after the step before: at which weights a sum was made "
    "was not seen, so that it could not be compared with that of single records."
)
OF_OTHERS = "A sum may hold what other processes added, so that it was not compared with those of single records."
_COORDINATES = 1024  # of a sum that is replayed
_MOST_RECORDS = 100_000  # of a batch whose sum is replayed
_MOST_ASKED = 8  # updates that are replayed since it is not certain what they hold
_ALONE = 8  # records of a batch that are replayed alone


class PlainWatcher:
    """Sees the updates of one optimizer.

    Args:
        recorder: writes down what is seen.
        flow: follows noise.
        names: of the parameters that are trained.
        sigma, clip: as they are claimed.
        gradient: returns the clipped sum of a batch, a tensor for each parameter in their order; or None.
        others: those of the parameters that are not the model's: no function returns their sums.
    """

    def __init__(
        self,
        recorder: TrainingRecorder,
        flow: NoiseFlow,
        names: Mapping[Any, str],
        sigma: float,
        clip: float,
        gradient: Callable[[Any], Any] | None,
        others: Collection[Any] = (),
    ) -> None:
        self.recorder, self.flow, self.names, self.gradient = recorder, flow, names, gradient
        self.sigma, self.clip = sigma, clip
        self.others = others
        self.own = [p for p in names if p not in others]
        self.batches: dict[int, Any] = {}
        self.passes: list[tuple[GivenRows, bool]] = []
        self.lost = self.found = self.asked = 0
        self.presumed, self.all_of_them = False, True
        self.moved: Callable[[], Sequence[str]] = tuple

    def watch(self, optimizer: Any, undo: Undo) -> None:
        """Look at every step of an optimizer, before it changes parameters."""
        undo.append(optimizer.register_step_pre_hook(self.at_step).remove)
        undo.append(optimizer.register_step_post_hook(self._after_step).remove)
        self.flow.__enter__()
        undo.append(lambda: self.flow.__exit__(None, None, None))

    def reach(self, batch: Any, number: int) -> None:
        """Remember a batch that reached the loop, until the next update."""
        self.batches[number] = batch

    def gave(self, given: GivenRows, training: bool) -> None:
        """Remember which rows the model was given, for a gradient or for another purpose."""
        self.passes.append((given, training))

    def at_step(self, *_: Any) -> None:
        """Look at the gradients of a step, which itself is not followed: weights that have got noise are no noise."""
        self.flow.active = False
        try:
            with torch.no_grad():
                self._at_step()
        finally:
            self.batches, self.passes = {}, []

    def _after_step(self, *_: Any) -> None:
        self.flow.active = True

    def _at_step(self) -> None:
        with torch._C.DisableTorchFunction():
            noisy = self._noisy()
        self._took(noisy)
        sigma = self.recorder.sigma(self.sigma)
        unit, divisors = sigma * self.clip, {round(tag.divisor, 9) for tag in noisy.values()}
        kept, seen, altered = None, 0, 0.0
        with torch._C.DisableTorchFunction():
            parts = {self.names[p]: values(tag.noise) for p, tag in noisy.items()}
            if self.recorder.looks():
                each = zip(noisy.items(), parts.values(), strict=True)
                altered = max((_relative_distance(p.grad, tag, part) for (p, tag), part in each), default=0.0)
        if parts and unit > 0:
            kept, seen = self.recorder.noise(parts, unit)
        divisor = next(iter(divisors)) if len(divisors) == 1 else None
        self.recorder.update(Update(0, None, sigma, self.clip, None, divisor, altered, kept, seen))

    def _noisy(self) -> dict[Any, NoisySum]:
        """The gradients that noise was followed to."""
        noisy: dict[Any, NoisySum] = {}
        for p, name in self.names.items():
            if p.grad is None:
                continue
            tag = self.flow.tag(p.grad)
            if isinstance(tag, NoisySum):
                noisy[p] = tag
            elif isinstance(tag, Lost | DrawnNoise):
                self.lost += 1
            elif p.grad.any():
                self.recorder.seen.parameters[name].unknown += 1
        self.found += len(noisy)
        return noisy

    # --- which rows, and how they were clipped ---

    def _took(self, noisy: Mapping[Any, NoisySum]) -> None:
        """Write down which rows the update holds, and compare its sum with those of its records.

        What the model was given is what a gradient may have been made of; a sum that was compared says of what it was.
        Of several batches without such a sum, nobody knows: one of them may have been looked at only.
        """
        recorder, numbers = self.recorder, list(self.batches)
        given = [each for each, training in self.passes if training] or [each for each, _ in self.passes]
        shown = _union([each for each in given if each.number is not None])
        ways = [shown] if shown else []
        if len(shown) != 1 and numbers:
            ways += [{number: np.arange(rows_of(self.batches[number]) or 0) for number in own}
                     for own in ([numbers[-1]], numbers)]  # fmt: skip
        ambiguous = len(shown) > 1 or (not shown and len(numbers) > 1)
        sure, asks = None, recorder.replays() or (ambiguous and self.asked < _MOST_ASKED)
        if asks:
            sure = self._replay(noisy, ways, ambiguous, bool(given) and not shown)
            self.asked += ambiguous
            self.all_of_them &= not ambiguous or sure is shown
        if sure is None and shown and (not ambiguous or (not asks and self.all_of_them)):
            sure = shown
        if sure is not None:
            for number, rows in sure.items():
                for first, last in _runs(rows):
                    recorder.took(last - first, number, first)
        elif given and len(numbers) == 1 and not shown:
            own = recorder.seen.deliveries[numbers[0]].rows
            sizes = sum(each.rows for each in given), max(each.rows for each in given)
            recorder.took(own if own in sizes else max(sizes))
        elif len(numbers) == 1 and not given:
            recorder.took(recorder.seen.deliveries[numbers[0]].rows)
            self.presumed = True
        else:
            recorder.unknown()

    def _replay(
        self, noisy: Mapping[Any, NoisySum], ways: Sequence[Mapping[int, Integers]], ambiguous: bool, changed: bool
    ) -> Mapping[int, Integers] | None:
        """Compare the sum of an update with those of records; return of which it is, if it is.

        A sum of clipped records is the sum over any groups of them: some alone and the others in two groups. One that
        is clipped or averaged otherwise is not.
        """
        if self.gradient is None or not noisy:
            return None
        divisor = next(iter(noisy.values())).divisor
        total = np.concatenate(
            [_flat(noisy[p].total) if p in noisy else _flat(p.grad) * divisor for p in self.own if p.grad is not None]
        )
        replays: list[tuple[GradientReplay, Mapping[int, Integers]]] = []
        for way in ways:
            if not all(number in self.batches for number in way):
                continue
            if not 0 < sum(map(len, way.values())) <= _MOST_RECORDS:
                continue
            replay = self._compared(way, total)
            if replay is not None:
                replays.append((replay, way))
                if replay.fits:
                    break
        if not replays:
            return None
        replay, way = replays[-1] if replays[-1][0].fits else replays[0]
        if changed and not replay.fits:
            self.recorder.seen.silent["clipping"] = CHANGED
            return None
        if not replay.fits and self.moved():
            self.recorder.seen.silent["clipping"] = MOVED
            return None
        self.recorder.seen.replays.append(replay)
        return way if replay.fits or not ambiguous else None

    def _compared(self, way: Mapping[int, Integers], total: Floats) -> GradientReplay | None:
        """Compare a sum with that of some rows of some batches."""
        groups = self._groups(sum(map(len, way.values())))
        with torch.enable_grad(), self.flow.aside():
            rows = np.stack([self._sum_of(group, way) for group in groups])
        if len(total) != rows.shape[1]:
            return None
        at = self.recorder.coordinates(len(total), _COORDINATES)
        alone = np.array([len(group) == 1 for group in groups])  # several records have no norm in common
        norms, whole = np.where(alone, np.linalg.norm(rows, axis=1), 0.0), float(np.linalg.norm(total))
        replay = replayed(
            rows[:, at], norms, total[at], self.clip, whole=whole, before=False, cast=self.recorder.seen.cast
        )
        if replay.looks == "no such sum":
            with torch.enable_grad(), self.flow.aside():
                together = self._sum_of(np.arange(sum(map(len, way.values()))), way)
            if float(np.linalg.norm(together - total)) <= TOLERANCE * whole:
                return replace(replay, looks="hangs on others")
        self.recorder.seen.alone += replay.fits and len(groups) > 1
        return replay

    def _groups(self, records: int) -> list[Integers]:
        """Some records alone, drawn at random, and the others in two groups."""
        order = self.recorder.rng.permutation(records)
        some = min(_ALONE, records)
        rest = [np.sort(group) for group in np.array_split(order[some:], 2) if len(group)]
        return [*order[:some, None], *rest]

    def _sum_of(self, group: Integers, way: Mapping[int, Integers]) -> Floats:
        """The clipped sum of some of the rows of some batches."""
        total, start = np.zeros(sum(p.numel() for p in self.own)), 0
        for number, rows in way.items():
            own = rows[group[(group >= start) & (group < start + len(rows))] - start]
            if len(own):
                total += self._sum(_some(self.batches[number], own))
            start += len(rows)
        return total

    def _sum(self, batch: Any) -> Floats:
        assert self.gradient is not None
        gradient = self.gradient(batch)
        if isinstance(gradient, Mapping):
            gradient = list(gradient.values())
        if isinstance(gradient, torch.Tensor):
            gradient = [gradient]
        if not isinstance(gradient, Sequence) or not all(isinstance(each, torch.Tensor) for each in gradient):
            raise UsageError("gradient returns the clipped sum of a batch: a tensor for each parameter, in their order")
        flat = np.concatenate([_flat(each) for each in gradient])
        if len(flat) != sum(p.numel() for p in self.own):
            raise UsageError(
                f"gradient returned {len(flat):,} numbers, and the parameters that are trained have "
                f"{sum(p.numel() for p in self.own):,}: return a tensor for each of them, in their order"
            )
        return flat

    def conclude(self) -> None:
        """Say what was not seen, and why."""
        seen = self.recorder.seen
        if not self.found or self.lost:
            seen.silent |= dict.fromkeys(("noise", "divisor", "parameters"), NOISE_LOST)
        if self.presumed and (self.gradient is None or not seen.replays):
            seen.silent["steps"] = PRESUMED
        if self.gradient is None:
            seen.silent["clipping"] = NO_GRADIENT
        elif self.others:
            seen.silent["clipping"] = OF_THE_LOSS
        elif (seen.processes or 1) > 1:
            seen.replays.clear()
            seen.silent["clipping"] = OF_OTHERS
        if not self.found:  # noise may come from elsewhere
            for each in seen.parameters.values():
                each.unknown = 0


def _relative_distance(gradient: Any, tag: NoisySum, noise: np.ndarray[Any, Any]) -> float:
    """How far a gradient is from the noisy sum that it was followed from, relative: something may have changed it."""
    whole = values(tag.total) + noise
    apart, size = length(values(gradient) * tag.divisor - whole), length(whole)
    return apart / size if size else apart


def _union(given: Sequence[GivenRows]) -> dict[int, Integers]:
    """The rows of each delivery that a model was given, however often."""
    rows_by: dict[int, list[Integers]] = {}
    for each in given:
        assert each.number is not None
        rows_by.setdefault(each.number, []).append(np.arange(each.first, each.first + each.rows))
    return {number: np.unique(np.concatenate(rows)) for number, rows in sorted(rows_by.items())}


def _runs(rows: Integers) -> list[tuple[int, int]]:
    """Cut ascending numbers into runs: (first, past the last) of each."""
    if not len(rows):
        return [(0, 0)]
    ends = np.flatnonzero(np.diff(rows) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(rows, ends)]


def _some(batch: Any, at: Integers) -> Any:
    """Some records of a batch, as a batch."""
    if isinstance(batch, torch.Tensor):
        return batch[torch.as_tensor(at)]
    if isinstance(batch, Mapping):
        return {key: _some(value, at) for key, value in batch.items()}
    return type(batch)(_some(each, at) for each in batch)


def _flat(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().double().numpy()).reshape(-1)

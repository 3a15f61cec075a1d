"""How is a loop of JAX watched, with Optax or JAX Privacy? By the functions that it calls instead of its own.

The noise of an update is what the transformation makes of zero, for the same state. What it makes of the sum, less
that, has to be the sum over a divisor; and parameters have to move by the updates that it returned. The sum is compared
with those of single records, by the loop's own gradient function, when the loop is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.training.seen import Parameter, Seen, Update
from dpaudit.training.watchers.pure import (
    WATCHED,
    Alone,
    Asked,
    Handed,
    Rows,
    flat,
    is_array,
    is_random,
    records_of,
    sizes_of,
    watched_gradient,
    watched_transformation,
)
from dpaudit.training.watchers.recorder import Recorder, inner, length

NOT_LINEAR = (
    "What the transformation makes of a sum is not the sum over a divisor and the noise that it makes of zero: give "
    "the transformation that adds noise, or a chain with it as one part."
)
NOT_FOLLOWED = (
    "The parameters moved by something else than a multiple of the noisy sums: give the whole chain, of the noise and "
    "the optimizer, so that its updates are seen."
)
NO_CALLS = "The gradient function of the watch was not called: the loop has to call watch.gradient."
NO_GRADIENT = "Gradients of single records are not seen without gradient=, the function that returns the clipped sum."
COARSE = "The sums are of type {}: too coarse to be compared with those of single records to a thousandth."
NOT_ALONE = "The gradient function cannot be asked for one record alone ({}), so that clipping was not replayed."
RANDOM = "The gradient function draws random numbers: a record alone gets others than within its batch."
_COORDINATES = 1024  # of a sum that is replayed
_MOST_RECORDS = 100_000  # of an update whose sum is replayed
_OFTEN, _LATER = 4, 0.02  # replays: the first updates, and some of the later ones
_MOST_REPLAYS = 24  # they are computed when the loop is over, and what they need is held until then
_SAME = 1e-3
_NO_NOISE = 1e-5  # of a noisy sum: what rounding leaves
_ROUNDING = 4 * float(np.finfo(np.float32).eps)


class JaxWatch:
    """One watch of one loop.

    Args:
        params: to begin with.
        transformation: of Optax, that adds noise, or a chain with it.
        batches: a strategy of JAX Privacy, or whatever yields the record indices of one batch after the other; or None.
        sigma, clip: the noise multiplier, and the norm that a record's part of the sum has at most.
        rate, records: of sampling, and how many there are, where the batches do not say it.
        sampling: which the claim's accounting assumes.
        gradient: returns the sum that gets noise, from parameters and a batch; or None.
        accountant: counts steps; or None.
        seed: of what is replayed.
    """

    packages = ("jax", "optax", "jax-privacy", "python-flint")

    def __init__(
        self,
        params: Any,
        transformation: Any,
        batches: Any,
        *,
        sigma: float | None,
        clip: float | None,
        rate: float | None,
        records: int | None,
        sampling: str,
        gradient: Callable[..., Any] | None,
        accountant: Any,
        seed: int,
    ) -> None:
        self.params, self.function, self.accountant = params, gradient, accountant
        sizes = sizes_of(params)
        clip = clip if clip is not None else getattr(gradient, "l2_norm_bound", None)
        self._check(sizes, sigma, clip)
        if hasattr(transformation.update, WATCHED):
            raise UsageError("this loop is being watched already: leave the first watch before the next begins")
        assert sigma is not None and clip is not None
        self.sigma, self.clip = float(sigma), float(clip)
        private = hasattr(gradient, "l2_norm_bound")
        self.seen = Seen("JAX Privacy" if private else "JAX and Optax", assumed=sampling, rate=rate, records=records)
        self.recorder = Recorder(self.seen, sizes, seed=seed, often=_OFTEN, later=_LATER)
        self.seen.parameters = {name: Parameter(size, True) for name, size in sizes.items()}
        types = {str(each.dtype) for each in jax.tree.leaves(params)} - {"float32", "float64"}
        self.seen.rounded = ", ".join(sorted(types))
        self.seen.processes = jax.process_count()
        self.at = self.recorder.of_all(_COORDINATES)
        self.optimizer, self.chained = watched_transformation(transformation, params, self.clip, self.at, self._updated)
        self.gradient = None if gradient is None else watched_gradient(gradient, self._asked)
        self.loader = self._loader(batches)
        self.names = list(sizes)
        self.open = False
        self.asked: list[Asked] = []
        self.held: list[tuple[list[Asked], Floats]] = []
        self.start = self.now = flat(jax.tree.leaves(params))
        self.last: tuple[Floats, Floats, Floats, Floats] | None = None  # parameters, update, noisy sum, sum
        self.ratios: list[float] = []
        self.coarse = ""
        self.alone = Alone(gradient, params)
        self.nonlinear = self.strayed = self.raw = self.calls = 0

    def _check(self, sizes: dict[str, int], sigma: float | None, clip: float | None) -> None:
        leaves = jax.tree.leaves(self.params)
        if not sizes or not all(is_array(each) and jnp.issubdtype(each.dtype, jnp.floating) for each in leaves):
            raise UsageError(
                "the model of a JAX loop is its parameters, a tree of arrays of floating-point numbers: give what the "
                "transformation's init is given"
            )
        if any(isinstance(each, jax.Array) and len(each.devices()) > 1 for each in leaves):
            raise UsageError(
                "training on several devices is not watched yet: noise is drawn in parts there, and only their sum is "
                "seen. Watch a short run on one device"
            )
        if sigma is None or clip is None:
            raise UsageError(
                "a loop of JAX does not say its noise: give sigma=, the noise multiplier, and clip=, the norm that a "
                "record's part of the sum has at most (of jax_privacy.clipped_grad, its l2_norm_bound)"
            )

    # --- what the loop calls instead of its own ---

    def __enter__(self) -> JaxWatch:
        self.open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> Seen:
        """Wait for all callbacks, replay what was held, and return what was seen."""
        if self.open:
            jax.effects_barrier()
            self.open = False
            self._conclude()
        return self.seen

    def _loader(self, batches: Any) -> Any:
        seen = self.seen
        if batches is None:
            seen.silent["batches"] = "No batches were given, so that they were not seen."
            return None
        if hasattr(batches, "batch_iterator"):
            return _Strategy(batches, self)
        if not isinstance(batches, Iterable):
            raise UsageError(
                f"batches are a strategy of jax_privacy.batch_selection, or what yields the record indices of one "
                f"batch after the other, not {type(batches).__name__}"
            )
        if seen.records is None:
            raise UsageError(
                "batches of indices do not say how many records there are: give records=, or a strategy of "
                "jax_privacy.batch_selection"
            )
        seen.batches = []
        if seen.rate is not None:
            seen.epoch = max(1, round(1 / seen.rate))
        return _Batches(batches, self)

    def draw(self, indices: Any, drawn_in: list[int]) -> None:
        """Write down a batch that was drawn; indices below 0 stand for padding."""
        if self.open:
            found = np.asarray(indices).reshape(-1)
            real = found[found >= 0].tolist() if found.dtype.kind in "iu" else [-1]
            drawn = len(self.seen.batches or ())
            self.recorder.batch(real, drawn_in)
            self.recorder.deliver(len(real), drawn)

    def _asked(self, call: Asked) -> None:
        """Write down a call of the gradient function: its parameters are those that the update before led to."""
        if not self.open:
            return
        self._moved(flat(call.leaves[: len(self.names)]))
        self.calls += 1
        self.asked.append(call)
        self.recorder.took(records_of(call))

    # --- updates ---

    def _updated(self, handed: Handed, types: set[str]) -> None:
        if not self.open:
            return
        if handed.params is not None:
            self._moved(flat(handed.params))
        self.coarse = self.coarse or ", ".join(sorted(types - {"float32", "float64"}))
        noise, noisy, given = flat(handed.noise), flat(handed.noisy), handed.given
        if len(noise) != len(self.start):
            self.nonlinear += 1
            return
        if isinstance(given, Rows):
            divisor, total = self._single(handed, given)
        else:
            divisor, total = self._summed(flat(given), noisy - noise, noisy)
        kept, values = None, 0
        if divisor is None:
            self.nonlinear += 1
        else:
            parts = {}
            for name, a, b in self.seen.names:
                if length(noise[a:b]) > _NO_NOISE * length(noisy[a:b]):
                    parts[name] = noise[a:b] * divisor
                elif np.any(total[a:b]):
                    self.seen.parameters[name].bare += 1
            kept, values = self.recorder.noise(parts, self.sigma * self.clip) if parts else (None, 0)
        if self.asked and self._holds():
            self.held.append((self.asked, total))
        self.recorder.update(Update(0, None, self.sigma, self.clip, None, divisor, 0.0, kept, values))
        self.last = self.now, flat(handed.final), noisy, total
        self.asked = []

    def _holds(self) -> bool:
        number = len(self.held)
        return number < _MOST_REPLAYS and (number < _OFTEN or self.recorder.rng.random() < _LATER)

    def _summed(self, total: Floats, moved: Floats, noisy: Floats) -> tuple[float | None, Floats]:
        """What a sum is divided by, and the sum; None where it is not only divided."""
        size = length(total)
        slack = _ROUNDING * length(noisy)
        if size <= slack:  # nothing to see: as before
            return next((each.divisor for each in reversed(self.seen.updates) if each.divisor), 1.0), total
        share = inner(total, moved) / size**2
        if share <= 0 or length(moved - share * total) > _SAME * share * size + slack:
            return None, total
        return _rounded(1 / share), total

    def _single(self, handed: Handed, rows: Rows) -> tuple[float | None, Floats]:
        """The same where gradients of single records are given: small ones show the divisor."""
        small, moved, noise = flat(handed.small), flat(handed.moved), flat(handed.noise)
        divisor, _ = self._summed(small, moved, noise)
        self._rows(np.asarray(rows.real))
        if divisor is None:
            return None, np.zeros(len(noise))
        total = (flat(handed.noisy) - noise) * divisor
        if not self.coarse and self.recorder.replays():
            some, norms = np.asarray(rows.some, np.float64), np.asarray(rows.norms, np.float64)
            whole = length(total)
            self.recorder.replay(some, norms, total[self.at], self.clip, whole=whole)
        return divisor, total

    def _rows(self, found: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Count records; gradients that are all zero may stand for padding, if as many others were drawn."""
        batches = self.seen.batches
        real = int(np.sum(found))
        if real == len(found) or (batches and real == len(batches[-1])):
            self.recorder.took(real)

    def _moved(self, now: Floats) -> None:
        """See by what the parameters moved since the update before."""
        if len(now) != len(self.start):
            return
        before, self.now = self.last, now
        if before is None:
            return
        self.last = None
        old, final, noisy, total = before
        change = now - old
        slack = _ROUNDING * length(old)
        ratio = _multiple(change, noisy, slack)
        if ratio is not None:
            self.ratios.append(ratio)
        elif _multiple(change, total, slack) is not None and np.any(total):
            self.raw += 1
        elif not self.chained or length(change - final) > _SAME * length(final) + slack:
            self.strayed += 1

    # --- when the loop is over ---

    def _conclude(self) -> None:
        seen = self.seen
        updates = len(seen.updates)
        for asked, total in self.held:
            self._replay(asked, total)
        self.held = []
        for name, a, b in seen.names:
            each = seen.parameters[name]
            each.moved = bool(np.any(self.now[a:b] != self.start[a:b]))
            each.bare += self.raw
        if self.nonlinear or not updates:
            seen.silent |= dict.fromkeys(("noise", "divisor", "parameters"), NOT_LINEAR)
        if self.now is self.start and updates:
            seen.silent["parameters"] = seen.silent["divisor"] = NO_CALLS
            for each in seen.parameters.values():
                each.moved = True
        elif self.strayed:
            seen.silent["parameters"] = NOT_FOLLOWED
        self._divisors()
        if not seen.replays and "clipping" not in seen.silent:
            why = COARSE.format(self.coarse) if self.coarse else NO_GRADIENT if self.function is None else NO_CALLS
            seen.silent["clipping"] = why

    def _divisors(self) -> None:
        """What happens to noisy sums after the transformation, where parameters moved by multiples of them."""
        seen, ratios = self.seen, np.array(self.ratios)
        steps = [each for each in seen.updates if each.divisor is not None]
        if len(ratios) < len(seen.updates) - 1:
            if self.chained and not self.strayed:
                return  # a chain sees nothing of records but the noisy sums
            seen.silent.setdefault("divisor", NOT_FOLLOWED)
        elif len(ratios) > 1 and np.ptp(ratios) > _SAME * np.abs(ratios).mean():
            rows = [each.rows for each in seen.updates[: len(ratios)]]
            by = None if None in rows else np.abs(ratios) * np.maximum(1, np.array(rows, dtype=float))
            if by is not None and np.ptp(by) <= _SAME * by.mean():
                for each in steps:
                    each.divisor = float(max(1, each.rows or 0))
                return
            seen.silent["divisor"] = "Noisy sums are scaled otherwise in each update: by what, was not seen."
        if "divisor" in seen.silent and len({each.divisor for each in steps}) <= 1:
            for each in steps:
                each.divisor = None

    def _replay(self, asked: list[Asked], total: Floats) -> None:
        """Compare the sum of an update with those of its records alone."""
        if self.coarse or self.function is None:
            return
        if any(map(is_random, asked)):
            self.seen.silent["clipping"] = RANDOM
            return
        if sum(map(records_of, asked)) > _MOST_RECORDS:
            return
        try:
            found = [self.alone(call, self.at) for call in asked]
        except Exception as error:  # of the loop's own function: what else was seen stays
            self.seen.silent["clipping"] = NOT_ALONE.format(
                f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            )
            return
        rows, norms = np.concatenate([each for each, _ in found]), np.concatenate([each for _, each in found])
        replay = self.recorder.replay(rows, norms, total[self.at], self.clip, whole=length(total), before=False)
        self.seen.alone += replay.fits and len(rows) > 1


class _Batches:
    """Batches of indices, which are written down as they are drawn."""

    def __init__(self, batches: Any, watch: JaxWatch) -> None:
        self._batches, self._watch = batches, watch

    def __iter__(self) -> Iterator[Any]:
        drawn = self._watch.recorder.begin()
        for batch in self._batches:
            self._watch.draw(batch, drawn)
            yield batch

    def __len__(self) -> int:
        return len(self._batches)


class _Strategy:
    """A strategy of JAX Privacy, whose batches are written down."""

    def __init__(self, strategy: Any, watch: JaxWatch) -> None:
        self._strategy, self._watch = strategy, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)

    def batch_iterator(self, num_examples: int, rng: Any = None) -> Iterator[Any]:
        """Yield the batches of the strategy."""
        seen, strategy = self._watch.seen, self._strategy
        seen.records = num_examples
        rate, cycle = getattr(strategy, "sampling_prob", None), getattr(strategy, "cycle_length", 1)
        if seen.rate is None and rate is not None:
            seen.rate = float(rate)
        seen.epoch = max(1, round(1 / seen.rate)) if seen.rate and cycle == 1 else cycle if cycle > 1 else None
        seen.batches = seen.batches or []
        drawn = self._watch.recorder.begin()
        for batch in strategy.batch_iterator(num_examples, rng):
            self._watch.draw(batch, drawn)
            yield batch


def _multiple(x: Floats, y: Floats, slack: float) -> float | None:
    """By which factor x is a multiple of y; None where it is not."""
    size = inner(y, y)
    if not size:
        return None
    factor = inner(x, y) / size
    return factor if length(x - factor * y) <= _SAME * length(x) + slack else None


def _rounded(divisor: float, slack: float = 1e-4) -> float:
    """A divisor that is a whole number up to rounding, as one."""
    whole = round(divisor)
    return float(whole) if whole and abs(divisor - whole) <= min(slack * divisor, 0.01) else divisor

"""Does what a record contributes hang on the others of its batch? The loop's own calls, played again on others.

Between a batch and its backward pass, the functions of PyTorch that the loop calls are written down. They are played
again with one half of the batch replaced by copies of a record of the other half: labels, shapes and draws stay as they
are. What goes into the layers of the other half, and what comes back out of them, makes its gradients, and has to stay
the same; statistics of the batch, mixed records, and losses that compare or weigh records change it.

Python itself is not played again. Where numbers leave PyTorch and others come back, where a function changes weights,
or where the tape does not give what the loop got, nothing is concluded.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from dpaudit.training.seen import Played
from dpaudit.training.watchers.loader import GivenRows, leaves_of

_T = torch.Tensor
SAME = 1e-3
"""The relative change that rounding explains: of right loops, less than 1e-6; of wrong ones, hundredths and more."""
_HOOK = "BackwardHookFunction"
_MOST = 20_000  # calls of one update
_LEAVES = {"item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__dlpack__"}
_MAKES = {"tensor", "as_tensor", "from_numpy", "asarray", "frombuffer", "new_tensor", "FloatTensor", "LongTensor"}

BEFORE = "before the model: what it is given of a record hangs on the others of the batch"
INSIDE = "within the model: what a layer computes of a record hangs on the others of the batch"
AFTER = "after the model: what the loss makes of a record hangs on the others of the batch"
CARRIED = (
    "from one batch to the next: what earlier batches left, beside the parameters, changes gradients of later ones"
)
REDUCED = {
    "mean": "after the model: the loss is a sum of records, and with loss_reduction='mean' every gradient hangs on how "
    "many they are",
    "sum": "after the model: the loss is a mean of records, and with loss_reduction='sum' every gradient hangs on how "
    "many they are",
}
_OWN = "what earlier batches left changes gradients of some records of later ones, which may have left it themselves"
_MOST_OF_THEM = 0.9  # of records that change, where what is carried is not of single records


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, what it made, and how: gradients, the type of autocast for a kind of device, the generator's state."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    named: Mapping[str, Any]
    made: tuple[Any, ...]
    grad: bool
    cast: tuple[str, Any] | None
    state: Any

    @property
    def hooked(self) -> bool:
        """Whether a hook of a module hands on what was made; it is no function of its own."""
        return not self.grad and any(_HOOK in type(each.grad_fn).__name__ for each in self.made)

    def again(self, values: Mapping[int, Any]) -> Any:
        """Make it once more, of other values by id."""
        args, named = _mapped((self.args, self.named), values)
        torch.set_rng_state(self.state)
        with torch.set_grad_enabled(self.grad or self.hooked):
            if self.cast is None:
                made = self.function(*args, **named)
            else:
                with torch.autocast(self.cast[0], self.cast[1], cache_enabled=False):
                    made = self.function(*args, **named)
        return args[0] if made is None else made  # ``x[i] = y`` returns nothing, and changes its first argument


class Tape(TorchFunctionMode):
    """Writes down what a loop makes of one batch.

    Args:
        at_backward: is called with the loss, before its backward pass.
        rng: draws the half that is replaced.
        parameters: of the model and its buffers, which nothing should change on the way.
        reduction: what the loss is said to be of those of its records, "mean" or "sum"; empty where nothing is said.
    """

    def __init__(
        self,
        at_backward: Callable[[Any], object],
        rng: np.random.Generator,
        parameters: Sequence[Any],
        reduction: str = "",
    ) -> None:
        super().__init__()
        self.at_backward, self.rng, self.reduction = at_backward, rng, reduction
        self.fixed = {id(p): p for p in parameters}
        self.memory = {p.untyped_storage().data_ptr() for p in parameters if p.requires_grad}
        self.active = self.entered = False
        self.carried: dict[int, Any] = {}  # what earlier batches left, by id, weakly
        self.constants: list[Any] | None = None
        self._clear()

    def _clear(self) -> None:
        self.calls: list[_Call] = []
        self.roots: dict[int, Any] = {}
        self.copies: dict[int, Any] = {}
        self.outside: dict[int, Any] = {}
        self.tainted: set[int] = set()
        self.innocent: dict[int, Any] = {}  # what functions made of no data, and is kept until the end
        self.made: dict[int, Any] = {}
        self.left: list[int] = []
        self.why, self.rows, self.first, self.looked = "", 0, 0, 0
        self.entry: list[int] = []

    # --- recording ---

    def begin(self, leaves: Iterable[Any], rows: int) -> None:
        """Begin with the tensors of a batch of so many records."""
        self.stop()
        roots = [leaf for leaf in leaves if leaf.ndim and len(leaf) == rows]
        if rows < 2 or not roots:
            return
        self.roots = {id(leaf): leaf for leaf in roots}
        self.copies = {id(leaf): leaf.detach().clone() for leaf in roots}
        self.tainted = set(self.roots)
        self.rows = self.looked = rows
        self.active = self.entered = True
        self.__enter__()

    def stop(self) -> None:
        """End, with what was not played forgotten."""
        self.active = False
        if self.entered and torch.overrides._get_current_function_mode() is self:
            self.__exit__(None, None, None)
            self.entered = False
        self._clear()

    def given(self, values: Sequence[Any], rows: GivenRows | None) -> None:
        """Remember what the model was given first, and which rows of the batch these are, if they are a part of it."""
        if self.active and not self.entry:
            self.entry = [id(each) for value in values for each in leaves_of(value)]
            if rows is not None and rows.number is not None and rows.first + rows.rows <= self.rows:
                self.first, self.looked = rows.first, rows.rows

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call the function, and write down what it was given and what it made, if that hangs on the batch."""
        named = kwargs or {}
        if not self.active:
            return func(*args, **named)
        name = getattr(func, "__name__", "")
        if name == "backward" and args and isinstance(args[0], _T):
            self.at_backward(args[0])
            return func(*args, **named)
        given = list(_tensors((args, named)))
        hangs = any(id(each) in self.tainted or self._is_carried(each) for each in given)
        if name in _LEAVES:
            if hangs:
                self.left.append(id(args[0]))
            return func(*args, **named)
        if _in_place(name, named) and given:
            if hangs and self._is_weight(given[0]):
                self.why = "something computed from records changes weights in place"
            if not hangs and id(given[0]) in self.outside:
                self.why = "something is changed on the way"
        if not hangs:
            made = func(*args, **named)
            if name not in _MAKES:
                self.innocent |= {id(each): each for each in _tensors(made) if id(each) not in self.outside}
            return made
        for each in given:
            self._meet(each)
        state = torch.get_rng_state()
        made = func(*args, **named)
        outputs = tuple(_tensors(given[0] if made is None and _in_place(name, named) else made))
        if not outputs:
            return made
        if len(self.calls) >= _MOST:
            self.why = f"it takes more than {_MOST:,} calls"
        elif not self.why:
            kind = outputs[0].device.type
            cast = (kind, torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else None
            self.calls.append(_Call(func, args, dict(named), outputs, torch.is_grad_enabled(), cast, state))
            self.made |= {id(each): each for each in outputs}
            self.tainted |= {id(each) for each in outputs}
        return made

    def _is_carried(self, tensor: Any) -> bool:
        """Whether an earlier batch left it."""
        held = self.carried.get(id(tensor))
        return held is not None and held() is tensor

    def _is_weight(self, tensor: Any) -> bool:
        return bool(tensor.numel()) and tensor.untyped_storage().data_ptr() in self.memory

    def _is_parameter(self, tensor: Any) -> bool:
        """Whether it is one that is trained, or was made of such."""
        return bool(tensor.requires_grad) and id(tensor) in self.outside

    def _meet(self, tensor: Any) -> None:
        """Copy what comes from outside when it is first used: later calls may change it."""
        key = id(tensor)
        if key in self.made or key in self.roots or key in self.outside:
            return
        if key in self.fixed and tensor.requires_grad:
            self.outside[key] = tensor
            return
        if tensor.grad_fn is not None and key not in self.innocent:
            self.why = self.why or "a tensor came from a function that is not seen"
        self.outside[key] = tensor
        self.copies[key] = tensor.detach().clone()

    # --- playing ---

    def play(self, loss: Any) -> Played:
        """Play what was written down, as it was and with other records, and forget it."""
        self.active = False  # it is left with the batch: now its own function is being called
        now = torch.get_rng_state()
        try:
            with torch._C.DisableTorchFunction():
                played = self._play(loss)
        except Exception as error:  # of functions that can be called once only, and the like
            played = Played(blind=f"{type(error).__name__} when it was tried")
        finally:
            torch.set_rng_state(now)
            self._remember()
            self._clear()
        return played

    def _play(self, loss: Any) -> Played:
        if self.why:
            return Played(blind=self.why)
        if id(loss) not in self.tainted:
            return Played(blind="its loss does not come from the batch by functions of PyTorch")
        needed = self._needed(loss)
        own = (each for call in self.calls if not call.grad and not call.hooked for each in call.made)
        if any(each.grad_fn is not None for each in own):
            return Played(blind="a function has a backward pass of its own")
        constants = [each for number in sorted(needed) for each in self._constants(self.calls[number])]
        before, self.constants = self.constants, constants
        if any(key != id(loss) for key in self.left) and not _same(before, constants):
            return Played(blind="numbers leave PyTorch, and come back otherwise in each update")
        base = self._run(loss, {})
        if not base.layers or not base.exact:
            return Played(blind="it gives something else the second time" if base.layers else "no layer was called")
        order = self.rng.permutation(self.looked)
        stay, go = np.sort(order[: self.looked // 2]), np.sort(order[self.looked // 2 :])
        replaced = {key: _replaced(self.copies[key], self.first + stay, self.first + go) for key in self.roots}
        other = self._run(loss, replaced)
        pairs = list(zip(base.layers, other.layers, strict=True))
        inputs = [_by_record(a.given, b.given, self.looked) for a, b in pairs]
        backs = [_by_record(a.back, b.back, self.looked) for a, b in pairs if a.back is not None and b.back is not None]
        if not any(pair is not None and bool(pair[0].any()) for pair in backs):
            return Played(blind="no layer has a gradient")
        if not any(pair is not None and bool((pair[0][go] != pair[1][go]).any()) for pair in inputs):
            return Played(blind="what the model is given does not come from the batch by functions of PyTorch")
        for of in (inputs, backs):
            change = max((_change(pair[0][stay], pair[1][stay]) for pair in of if pair is not None), default=0.0)
            if change > SAME:
                return Played(AFTER if of is backs else self._where(base, other, stay), change)
        return self._carried(loss, base) or self._otherwise_reduced(loss, base, stay) or Played(change=change)

    def _where(self, base: _Run, other: _Run, stay: Any) -> str:
        """Whether records were mixed before the model was given them, or by it."""
        for key in self.entry:
            if key in base.values:
                pair = _by_record(base.values[key], other.values[key], self.rows)
                if pair is not None and _change(pair[0][stay], pair[1][stay]) > SAME:
                    return BEFORE
        return INSIDE

    def _needed(self, loss: Any) -> set[int]:
        """The calls that the loss hangs on."""
        wanted, needed = {id(loss)}, set()
        for number in range(len(self.calls) - 1, -1, -1):
            call = self.calls[number]
            if any(id(each) in wanted for each in call.made):
                needed.add(number)
                wanted |= {id(each) for each in _tensors((call.args, call.named))}
        return needed

    def _constants(self, call: _Call) -> list[Any]:
        """What a call is given beside the batch, the weights and what PyTorch made of no data."""
        constants: list[Any] = [each for each in (*call.args, *call.named.values()) if isinstance(each, float)]
        other = self.copies.keys() - self.roots.keys() - self.innocent.keys()
        return constants + [self.copies[id(each)] for each in _tensors((call.args, call.named)) if id(each) in other]

    def _run(self, loss: Any, changed: Mapping[int, Any]) -> _Run:
        """Make all calls again, of copies; ``changed`` are values by id."""
        values: dict[int, Any] = {}
        for key in (*self.roots, *self.outside):
            if key in changed:
                values[key] = changed[key].clone()
            elif key in self.copies:
                own = self.copies[key].clone()
                source = self.roots[key] if key in self.roots else self.outside[key]
                values[key] = own.requires_grad_() if source.requires_grad else own
            else:
                values[key] = self.outside[key]
        layers = []
        with torch.enable_grad():
            for call in self.calls:
                given = [each for each in _tensors((call.args, call.named)) if id(each) in self.tainted]
                weights = [each for each in _tensors((call.args, call.named)) if self._is_parameter(each)]
                inputs = [values[id(each)].detach().clone() for each in given] if weights else []
                made = tuple(_tensors(call.again(values)))
                if len(made) != len(call.made):
                    raise ValueError("another number of tensors")
                for then, now in zip(call.made, made, strict=True):
                    values[id(then)] = now
                if inputs and made and made[0].requires_grad:
                    layers.append((inputs[0], made[0]))
            total = values[id(loss)]
            backs = torch.autograd.grad(total.sum(), [made for _, made in layers], allow_unused=True) if layers else ()
        layers_run = [_Layer(given, back) for (given, _), back in zip(layers, backs, strict=True)]
        rounding = 1e-3 if any(call.cast for call in self.calls) else 1e-5
        close = torch.allclose(total.detach(), loss.detach(), rtol=rounding, atol=1e-6)
        return _Run(layers_run, values, bool(close) or bool(changed))

    def _carried(self, loss: Any, base: _Run) -> Played | None:
        """Whether gradients hang on what earlier batches left outside of the parameters; None where they do not.

        One half of it is changed. Where that changes some records only, a record may meet what it left itself.
        """
        old = {
            key: self.copies[key]
            for key, value in self.outside.items()
            if key in self.copies and self._is_carried(value) and self.copies[key].is_floating_point() and value.numel()
        }
        if not old:
            return None
        other = self._run(loss, {key: self._half_changed(value) for key, value in old.items()})
        moved, rows = 0.0, np.zeros(self.looked, dtype=bool)
        for a, b in zip(base.layers, other.layers, strict=True):
            for one, two in ((a.given, b.given), (a.back, b.back)):
                pair = None if one is None or two is None else _by_record(one, two, self.looked)
                if pair is not None:
                    moved = max(moved, _change(*pair))
                    rows |= np.array([_change(*each) > SAME for each in zip(*pair, strict=True)])
        if moved <= SAME:
            return None
        return Played(CARRIED, moved) if rows.mean() > _MOST_OF_THEM else Played(blind=_OWN)

    def _otherwise_reduced(self, loss: Any, base: _Run, stay: Any) -> Played | None:
        """Whether the loss is the mean where a sum was promised, or the other way round; None where nothing shows that.

        Without one half of the batch, gradients of the other stay the same in a sum, and grow with its share in a mean.
        A number of records that the loop wrote into a call would stay, so that such calls show nothing.
        """
        if not self.reduction or self.looked != self.rows or self._numbers() & {self.rows, 1 / self.rows}:
            return None
        rows = torch.as_tensor(stay)
        try:
            other = self._run(loss, {key: self.copies[key][rows] for key in self.roots})
        except Exception:  # other tensors are as long as the batch
            return None
        pairs = [(a.back, b.back) for a, b in zip(base.layers, other.layers, strict=True)]
        if not all(a is not None and b is not None and len(a) == self.rows and len(b) == len(rows) for a, b in pairs):
            return None
        own, now = torch.cat([a[rows].flatten() for a, _ in pairs]), torch.cat([b.flatten() for _, b in pairs])
        as_mean = _change(now, own * (self.rows / len(rows)))
        wrong, right = (_change(now, own), as_mean) if self.reduction == "mean" else (as_mean, _change(now, own))
        return Played(REDUCED[self.reduction], right) if wrong < SAME < right else None

    def _numbers(self) -> set[float]:
        """The numbers that calls are given."""
        given = (each for call in self.calls for each in (*call.args, *call.named.values()))
        plain = {float(each) for each in given if type(each) in (int, float)}
        return plain | {float(each) for key, each in self.copies.items() if key not in self.roots and each.numel() == 1}

    def _half_changed(self, value: Any) -> Any:
        """What an earlier batch left, with one half of its rows changed."""
        other = value * 0.5 + 0.25 * (1 + value.abs().max())
        if value.ndim and len(value) > 1:
            stay = torch.as_tensor(self.rng.permutation(len(value))[: len(value) // 2])
            other[stay] = value[stay]
        return other

    def _remember(self) -> None:
        """Remember, weakly, what this batch left."""
        kept = {key: held for key, held in self.carried.items() if held() is not None}
        for key in self.tainted - set(self.roots):
            tensor = self.made.get(key)
            if tensor is not None and key not in self.fixed:
                try:
                    kept[key] = weakref.ref(tensor)
                except TypeError:
                    continue
        self.carried = kept


@dataclass(frozen=True, slots=True)
class _Layer:
    given: Any
    back: Any


@dataclass(frozen=True, slots=True)
class _Run:
    layers: list[_Layer]
    values: dict[int, Any]
    exact: bool


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, _T):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def _mapped(value: Any, values: Mapping[int, Any]) -> Any:
    if isinstance(value, _T):
        return values.get(id(value), value)
    if isinstance(value, dict):
        return {key: _mapped(each, values) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(each, values) for each in value)
    return value


def _same(before: list[Any] | None, now: list[Any]) -> bool:
    """Whether two updates were given the same numbers and tensors; of the first, nobody knows."""
    if before is None or len(before) != len(now):
        return False
    return all(
        isinstance(a, _T) == isinstance(b, _T) and (torch.equal(a, b) if isinstance(a, _T) else bool(a == b))
        for a, b in zip(before, now, strict=True)
    )


def _in_place(name: str, named: Mapping[str, Any]) -> bool:
    if "out" in named or name == "__setitem__" or (name.startswith("__i") and name not in ("__invert__", "__index__")):
        return True
    return name.endswith("_") and not name.endswith("__")


def _replaced(value: Any, stay: Any, go: Any) -> Any:
    """A batch in which some records are copies of one that stays."""
    copied = value.clone()
    copied[torch.as_tensor(go)] = value[int(stay[0])]
    return copied


def _by_record(one: Any, two: Any, rows: int) -> tuple[Any, Any] | None:
    """Two tensors with a row for each record; None where that cannot be told."""
    if one.shape != two.shape or not one.ndim:
        return None
    if one.shape[0] == rows:
        return one.reshape(rows, -1), two.reshape(rows, -1)
    if one.ndim > 1 and one.shape[1] == rows:
        return one.transpose(0, 1).reshape(rows, -1), two.transpose(0, 1).reshape(rows, -1)
    if one.shape[0] % rows == 0:
        return one.reshape(rows, -1), two.reshape(rows, -1)
    return None


def _change(one: Any, two: Any) -> float:
    """The relative distance of two tensors."""
    if one.shape != two.shape:
        return 0.0
    a, b = one.detach().double(), two.detach().double()
    size = float(a.norm())
    return float((a - b).norm()) / size if size else float((a - b).norm() > 0)

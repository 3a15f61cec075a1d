"""Where does noise go in a plain PyTorch loop, from its draw to the gradient? Followed through the loop's own calls.

A tensor that was drawn carries the word "noise"; scaled, it still does. Added to a sum it makes a noisy sum, which
remembers both parts and what it is divided by. Reshaping keeps what is known; any other operation loses it, and what is
lost is *not seen*. Nothing that the loop computes is changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

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
class Noise:
    """Drawn, and perhaps scaled."""


@dataclass(frozen=True, slots=True)
class Divided:
    """A sum without noise, over ``by``."""

    by: float


@dataclass(frozen=True, slots=True)
class Noisy:
    """(total + noise)/divisor; both parts are copies."""

    total: Any
    noise: Any
    divisor: float


@dataclass(frozen=True, slots=True)
class Lost:
    """Noise went into it by an operation that is not followed."""


Tag = Noise | Divided | Noisy | Lost


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
        found = self.tags.get(id(tensor))
        return None if found is None else found[1]

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
            found = func(*args, **named)
            if isinstance(found, _T) and _draws_gaussian(func, args, named):
                self._know(found, Noise())
            return found
        known = not self._unknown(args, named)
        if not known and func not in _SCALING:
            return func(*args, **named)
        parts = self._parts(func, args, named) if known and func in _IN_PLACE else None
        found = func(*args, **named)
        if isinstance(found, _T):
            tag = self._made(func, args, named, parts) if known else _begun(func, args, named)
            if tag is not None:
                self._know(found, tag)
            elif func in _IN_PLACE:
                self.tags.pop(id(found), None)
        elif known and func in _MANY and isinstance(found, tuple | list):
            self._many(func, args, named, self._tags_of(args)[0], found)
        return found

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
        if all(isinstance(tag, Noise) for tag in self._tags_of((*args, *named.values()))):
            return Noise()  # what is made of noise alone holds nothing else, whatever its law
        return Lost()

    def _tag_of(self, value: Any) -> Tag | None:
        return self.tag(value) if isinstance(value, _T) else None

    def _tags_of(self, args: tuple[Any, ...]) -> list[Tag | None]:
        return [self.tag(each) for each in _tensors(args)]

    def _shaped(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any], tag: Tag | None) -> Tag | None:
        if not isinstance(tag, Noisy):
            return tag
        return Noisy(func(tag.total, *args[1:], **named), func(tag.noise, *args[1:], **named), tag.divisor)

    def _many(self, func: Any, args: tuple[Any, ...], named: Mapping[str, Any], tag: Tag | None, found: Any) -> None:
        if isinstance(tag, Noisy):
            totals, noises = func(tag.total, *args[1:], **named), func(tag.noise, *args[1:], **named)
            for each, total, noise in zip(found, totals, noises, strict=True):
                self._know(each, Noisy(total, noise, tag.divisor))
        elif tag is not None:
            for each in found:
                self._know(each, tag)


def _tensors(args: tuple[Any, ...]) -> list[Any]:
    found = []
    for each in args:
        if isinstance(each, _T):
            found.append(each)
        elif isinstance(each, list | tuple):
            found += [inner for inner in each if isinstance(inner, _T)]
    return found


def _draws_gaussian(func: Any, args: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Whether a draw is around 0; a mean that is a tensor may be one of data."""
    if func is torch.normal:
        mean = args[0] if args else named.get("mean", 0.0)
        return not bool(mean.any()) if isinstance(mean, _T) else float(mean) == 0
    if func in (_T.normal_, torch.nn.init.normal_):
        mean = args[1] if len(args) > 1 else named.get("mean", 0.0)
        return float(mean) == 0
    return True


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return float(value.detach()) if isinstance(value, _T) and value.ndim == 0 else None


def _scaled(func: Any, first: Any, other: Any, tags: tuple[Tag | None, Tag | None]) -> Tag | None:
    """What is known of a product or a quotient."""
    number, tag = _number(other), tags[0]
    if number is None and func in _TIMES and tags[0] is None:
        number, tag = _number(first), tags[1]
    if number is None:
        lossy = [each for each in tags if each is not None and not isinstance(each, Divided)]
        return Lost() if lossy else None
    factor = number if func in _TIMES else (1 / number if number else 0.0)
    if tag is None and (isinstance(first, _T) and isinstance(other, _T)):
        return None  # a factor that was computed may hang on records: what it makes is a sum of its own
    if isinstance(tag, Noise | Lost):
        return tag
    if not factor:
        return None
    if isinstance(tag, Noisy):
        return Noisy(tag.total, tag.noise, tag.divisor / factor)
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
    noises = isinstance(a, Noise), isinstance(b, Noise)
    if all(noises):
        return Noise()
    if any(noises):
        noise, tag, total, sign = (right, a, left, alpha) if noises[1] else (left, b, right, 1.0)
        over = 1.0 if noises[1] else alpha
        if isinstance(tag, Noisy):
            return Noisy(tag.total, tag.noise + sign * noise.detach() * tag.divisor, tag.divisor)
        if not isinstance(total, _T) or total.shape != noise.shape:
            return Noise() if not isinstance(total, _T) else Lost()
        by = tag.by if isinstance(tag, Divided) else 1.0
        return Noisy(total.detach() * (over * by), noise.detach() * (sign * by), by)
    if isinstance(a, Noisy) and isinstance(b, Noisy):
        return Lost()
    if isinstance(a, Noisy) or isinstance(b, Noisy):
        noisy, other, times = (a, right, alpha) if isinstance(a, Noisy) else (b, left, 1.0)
        if not isinstance(noisy, Noisy) or (isinstance(b, Noisy) and alpha != 1) or not isinstance(other, _T):
            return Lost()
        return Noisy(noisy.total + times * other.detach() * noisy.divisor, noisy.noise, noisy.divisor)
    return None

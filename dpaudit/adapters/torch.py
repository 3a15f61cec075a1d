"""How is the noise of PyTorch followed? Its draws return tensors that carry a followed array along."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dpaudit.program.laws import EXPONENTIAL, GAUSSIAN, GUMBEL, LAPLACE, UNIFORM, NoiseLaw
from dpaudit.tracing.primitives import DrawingMethod, noted
from dpaudit.tracing.recording import active, site
from dpaudit.tracing.values import array_of, closed, is_followed, plain

_SAME = ("clone", "detach", "cpu", "double", "float", "contiguous", "requires_grad_", "to", "type", "view_as", "data")
_MOVED: dict[str, Callable[..., Any]] = {
    "reshape": lambda x, *shape: x.reshape(*shape),
    "view": lambda x, *shape: x.reshape(*shape),
    "flatten": lambda x: x.reshape(-1),
    "ravel": lambda x: x.reshape(-1),
    "squeeze": lambda x, *axis: np.squeeze(x, *axis),
    "unsqueeze": lambda x, axis: np.expand_dims(x, axis),
    "t": lambda x: x.T,
    "stack": lambda xs, dim=0: np.stack(list(xs), axis=dim),
    "cat": lambda xs, dim=0: np.concatenate(list(xs), axis=dim),
    "concat": lambda xs, dim=0: np.concatenate(list(xs), axis=dim),
    "__getitem__": lambda x, place: x[place],
    "sum": lambda x, dim=None: np.sum(x, axis=dim),
    "mean": lambda x, dim=None: np.mean(x, axis=dim),
    "argmax": lambda x: np.argmax(x),
    "argmin": lambda x: np.argmin(x),
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "true_divide": lambda x, y: x / y, "rsub": lambda x, y: y - x, "neg": lambda x: -x, "__rsub__": lambda x, y: y - x,
    "__rtruediv__": lambda x, y: y / x, "__rdiv__": lambda x, y: y / x, "matmul": lambda x, y: x @ y,
    "mv": lambda x, y: x @ y, "mm": lambda x, y: x @ y, "dot": lambda x, y: x @ y,
    "gt": lambda x, y: x > y, "lt": lambda x, y: x < y, "ge": lambda x, y: x >= y, "le": lambda x, y: x <= y,
    "abs": np.abs, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sign": np.sign,
}  # fmt: skip
for _name in ("add", "sub", "mul", "matmul", "neg", "gt", "lt", "ge", "le", "abs"):
    _MOVED[f"__{_name}__"] = _MOVED[_name]
_MOVED.update({"__truediv__": _MOVED["div"], "__radd__": _MOVED["add"], "__rmul__": _MOVED["mul"]})


@cache
def _followed_tensor() -> Any:
    torch = sys.modules["torch"]

    class Tensor(torch.Tensor):  # type: ignore[name-defined, misc]
        """A tensor with its followed array; what is not known of it is not followed any further."""

        followed: Any

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return _function(function, args, kwargs or {})

        def item(self) -> Any:
            return array_of(self.followed).item() if is_followed(self.followed) else float(self.followed)

        __float__ = lambda self: float(self.item())  # noqa: E731
        __bool__ = lambda self: bool(self.item())  # noqa: E731

        def tolist(self) -> Any:
            return self.followed.tolist()

        def numpy(self, *_: Any, **__: Any) -> Any:
            return self.followed

        def __array__(self, *_: Any, **__: Any) -> Any:
            return closed(self.followed)

        def __deepcopy__(self, memo: Any) -> Any:
            return self

        def __reduce_ex__(self, protocol: Any) -> Any:
            return _bare(self).__reduce_ex__(protocol)

    return Tensor


def _function(function: Any, args: Any, keywords: dict[str, Any]) -> Any:
    name = function.__name__
    if active() is not None and name in _SAME and args:
        return args[0]
    known = _MOVED.get(name)
    if active() is not None and known is not None:
        try:
            return _as_tensor(known(*_arrays_of(args), **_arrays_of(keywords)), args)
        except (TypeError, ValueError, IndexError):
            pass
    return function(*_with_each_tensor(args, _closed), **_with_each_tensor(keywords, _closed))


def _with_each_tensor(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_with_each_tensor(each, change) for each in value)
    if isinstance(value, dict):
        return {name: _with_each_tensor(each, change) for name, each in value.items()}
    return change(value)


def _arrays_of(value: Any) -> Any:
    """Return arguments with the arrays of their tensors."""

    def number(each: Any) -> Any:
        if type(each) is _followed_tensor():
            return each.followed
        return each.detach().cpu().numpy() if isinstance(each, sys.modules["torch"].Tensor) else each

    return _with_each_tensor(value, number)


def _bare(tensor: Any) -> Any:
    return tensor.as_subclass(sys.modules["torch"].Tensor)


def _closed(value: Any) -> Any:
    """Return an argument as a plain tensor, and note that it goes where it is not followed."""
    if type(value) is not _followed_tensor():
        return value
    torch = sys.modules["torch"]
    bare: Any
    with torch._C.DisableTorchFunctionSubclass():
        bare = _bare(value)
        return torch.as_tensor(np.asarray(closed(value.followed)), dtype=bare.dtype)


def _as_tensor(values: Any, like: Any = ()) -> Any:
    """Return a followed array as a tensor."""
    torch = sys.modules["torch"]
    if isinstance(values, bool | int | np.integer):
        return torch.tensor(values)
    if not is_followed(values):
        return torch.as_tensor(np.asarray(values))
    made = torch.as_tensor(np.array(plain(values), dtype=np.float32)).as_subclass(_followed_tensor())
    made.followed = values
    return made


def _noise(law: NoiseLaw, location: Any, scale: Any, drawn: Any, where: str, name: str) -> Any:
    recorder = active()
    assert recorder is not None
    with recorder.own_work():
        offset = _arrays_of(location)
        followed_noise = noted(recorder, law, _arrays_of(scale), offset, drawn.detach().cpu().numpy(), where, name)
    return _as_tensor(followed_noise)


def _standard(law: NoiseLaw) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what follows ``torch.randn`` and ``torch.rand``."""

    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any, **keywords: Any) -> Any:
            recorder = active()
            if recorder is None or keywords.get("out") is not None:
                return original(*args, **keywords)
            where = site()
            with recorder.own_work():
                drawn = original(*args, **keywords)
            return _noise(law, 0.0, 1.0, drawn, where, f"torch.{original.__name__}")

        return draw

    return followed


def _normal(original: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.normal`` with numbers or tensors for mean and deviation."""

    def normal(mean: Any = 0.0, std: Any = 1.0, *args: Any, **keywords: Any) -> Any:
        recorder = active()
        if recorder is None or keywords.get("out") is not None:
            return original(mean, std, *args, **keywords)
        where, torch = site(), sys.modules["torch"]
        with recorder.own_work():
            centre = torch.zeros_like(_closed(mean)) if isinstance(mean, torch.Tensor) else 0.0
            drawn = original(centre, std, *args, **keywords)
        return _noise(GAUSSIAN, mean, std, drawn, where, "torch.normal")

    return normal


def _of_distribution(law: NoiseLaw, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what follows ``sample`` of a distribution, with the names of its location and scale."""

    def followed(original: Callable[..., Any]) -> Callable[..., Any]:
        def sample(self: Any, sample_shape: Any = ()) -> Any:
            recorder = active()
            if recorder is None:
                return original(self, sample_shape)
            where, torch = site(), sys.modules["torch"]
            location = getattr(self, names[0]) if len(names) == 2 else 0.0
            scale = getattr(self, names[-1])
            scale = 1 / scale if names[-1] == "rate" else scale
            with recorder.own_work():
                bare = torch.as_tensor(np.asarray(plain(_arrays_of(location))), dtype=torch.float64)
                drawn = original(self, torch.Size(sample_shape)).to(torch.float64) - bare
            return _noise(law, location, scale, drawn, where, f"torch {type(self).__name__}")

        return sample

    return followed


_DISTRIBUTIONS: tuple[tuple[str, str, NoiseLaw, tuple[str, ...]], ...] = (
    ("laplace", "Laplace", LAPLACE, ("loc", "scale")), ("normal", "Normal", GAUSSIAN, ("loc", "scale")),
    ("gumbel", "Gumbel", GUMBEL, ("loc", "scale")), ("exponential", "Exponential", EXPONENTIAL, ("rate",)),
)  # fmt: skip
ROWS = (
    DrawingMethod("torch", "", "randn", followed=_standard(GAUSSIAN)),
    DrawingMethod("torch", "", "rand", followed=_standard(UNIFORM)),
    DrawingMethod("torch", "", "normal", followed=_normal),
    *(
        DrawingMethod(
            f"torch.distributions.{module}", owner, method, followed=_of_distribution(law, *names), inherited=True
        )
        for module, owner, law, names in _DISTRIBUTIONS
        for method in ("sample", "rsample")
    ),
)
"""Its draws."""

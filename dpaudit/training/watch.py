"""How is a training loop watched while it runs, and how is a training that takes a second audited by many runs?

    with dpaudit.watch_training(model, optimizer, loader, claim="epsilon=8, delta=1e-5") as watch:
        train()
    watch.evidence

A loop of JAX is made of pure functions, and calls those of the watch: ``watch.gradient``, ``watch.optimizer`` and
``watch.loader``. What was seen until an exception is kept, and said to be partial.

    @dpaudit.tools.trains
    def train(data): ...  # returns a model, or its parameters

    dpaudit.audit(train, pairs=[(with_it, without_it)], claim="epsilon=2, delta=1e-5", runs=4000)

Of a training that is audited nothing is assumed; what is shown is what its last parameters tell. The audit's own
generator seeds those of Python, NumPy, PyTorch and the function, so that runs are independent draws, and the same on
any number of workers.
"""

from __future__ import annotations

import functools
import inspect
import math
import platform
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from types import TracebackType
from typing import Any, Unpack

import msgspec
import numpy as np

from dpaudit.arrays import Floats
from dpaudit.auditing.question import given_or_fresh
from dpaudit.errors import UsageError
from dpaudit.evidence.build import installed_version, installed_versions
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import RunInfo
from dpaudit.privacy import ApproxDP, Claim, claims
from dpaudit.request import TrainingOptions, TrainingRequest, known_keywords, taking
from dpaudit.targets.signature import title_of
from dpaudit.training import judge, seen
from dpaudit.training.canaries import asked, scored

# --- How is a training loop watched while it runs? -------------------------------------------------------

_SAMPLING = ("poisson", "fixed-size", "shuffled")
_OF_CANARIES = ("canaries", "canary_scores")
_OF_LOOPS = ("sigma", "clip", "rate", "records", "sampling", "gradient", "accountant")


@taking(TrainingRequest, own_settings=False)  # the loop works under its own
def watch_training(model: Any, optimizer: Any, loader: Any = None, **options: Unpack[TrainingOptions]) -> Watch:
    """Watch a training loop with differential privacy while it runs, and judge its claim by what was seen.

    Args:
        {options}

    Returns:
        A context: the loop runs inside of it, and its ``evidence`` is there afterwards.

    Raises:
        UsageError: for what cannot be watched, and a claim without a δ.
    """
    return Watch(TrainingRequest(model, optimizer, loader, **options))


class Watch:
    """The watch of one loop.

    Attributes:
        request: what was asked.
    """

    def __init__(self, request: TrainingRequest) -> None:
        self.request = request
        self.claim = check_request(request)
        self.seed = given_or_fresh(request.seed)
        self._watch = _watcher(request, self.seed)
        self._seen: seen.TrainingRun | None = None
        self._found: tuple[Evidence, list[seen.Fact]] | None = None

    def __enter__(self) -> Watch:
        if self._seen is not None:
            raise UsageError("a watch is for one loop, and this one is over: begin another with dp.watch_training")
        self._clock, self._started = time.perf_counter(), datetime.now(UTC)
        self._watch.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._seen = self._watch.leave()
        self._seconds = time.perf_counter() - self._clock
        canaries, score = self._seen.canaries, self.request.canary_scores
        if kind is not None:
            self._seen.partial = f"it ended with {kind.__name__}"
            if canaries is not None and canaries.scores is None:
                self._seen.partial += ", before its canaries were scored"
        elif canaries is not None and canaries.kind == "records":
            assert score is not None
            before, self._seen.partial = self._seen.partial, "its canaries were not scored"
            canaries.scores = scored(score(), len(canaries.coins))
            self._seen.partial = before

    @property
    def gradient(self) -> Any:
        """The gradient function that a loop of JAX calls instead of its own; of PyTorch, the one that was given."""
        return self._watch.gradient

    @property
    def optimizer(self) -> Any:
        """The transformation that a loop of JAX calls instead of its own; of PyTorch, the optimizer that was given."""
        return self._watch.optimizer

    @property
    def loader(self) -> Any:
        """The batches that a loop of JAX draws instead of its own; of PyTorch, the loader that was given."""
        return self._watch.loader

    @property
    def evidence(self) -> Evidence:
        """What was found. It holds nothing about any record."""
        return self._judged()[0]

    @property
    def findings(self) -> list[seen.Fact]:
        """What was found of every fact, with the numbers behind it, which may tell of records: do not publish them."""
        return self._judged()[1]

    def _judged(self) -> tuple[Evidence, list[seen.Fact]]:
        if self._seen is None:
            raise UsageError("the loop is still being watched: ask after the with block")
        if self._found is None:
            request = self.request
            training, findings = judge.judged(
                self._seen,
                self.claim,
                clip=self._watch.clip,
                confidence=request.confidence,
                false_alarm=request.false_alarm,
                seed=self.seed,
                stated=self._stated(),
            )
            evidence = judge.concluded(
                training,
                self.claim,
                name=request.name or "training",
                unit=request.unit,
                seed=self.seed,
                confidence=float(request.confidence),
                false_alarm=float(request.false_alarm),
                versions=installed_versions(*filter(_is_installed, self._watch.packages)),
            )
            run = RunInfo(self._started.isoformat(timespec="seconds"), round(self._seconds, 3), platform.node(), 1)
            self._found = msgspec.structs.replace(evidence, run=run), findings
        return self._found

    def _stated(self) -> float | None:
        """What the loop's own accountant says of ε; None where it says nothing."""
        accountant = self._watch.accountant
        if self.claim is None or not hasattr(accountant, "get_epsilon"):
            return None
        try:
            epsilon = float(accountant.get_epsilon(delta=self.claim.delta))
        except Exception:  # somebody else's code, beside the evidence
            return None
        return epsilon if math.isfinite(epsilon) else None


def _is_installed(package: str) -> bool:
    try:
        return bool(installed_version(package))
    except PackageNotFoundError:
        return False


def _watcher(request: TrainingRequest, seed: int) -> Any:
    """Return the watcher of a library, by what the loop is made of."""
    options = {name: getattr(request, name) for name in _OF_LOOPS}
    try:
        if _is_optax(request.optimizer):
            if request.canaries is not None:
                raise UsageError(
                    "canaries are for loops of PyTorch: of a loop of JAX, hand the scores of yours to "
                    "dp.tools.audit_scores, with design='one-run'"
                )
            if isinstance(request.sigma, list | tuple):
                raise UsageError("a plan of noise multipliers is for loops of PyTorch: of JAX, give one number")
            from dpaudit.training.watchers.jax_watch import JaxWatch

            return JaxWatch(request.model, request.optimizer, request.loader, **options, seed=seed)
        if isinstance(request.model, dict | list | tuple):
            raise UsageError(
                f"parameters in a {type(request.model).__name__} are those of a loop of JAX, whose optimizer is a "
                f"transformation of Optax, not {type(request.optimizer).__name__}; of PyTorch, give the torch.nn.Module"
            )
        from dpaudit.training.watchers.torch_watch import TorchWatch
    except ImportError as error:
        name, extra = ("JAX", "jax") if _is_optax(request.optimizer) else ("PyTorch", "torch")
        raise UsageError(
            f"to watch a loop of {name}, it has to be installed: pip install 'dpaudit[{extra}]' ({error})"
        ) from None
    if options.pop("records") is not None:
        raise UsageError("records is for loops of JAX: a loader of PyTorch says itself how many records there are")
    options |= {name: getattr(request, name) for name in _OF_CANARIES}
    return TorchWatch(request.model, request.optimizer, request.loader, **options, seed=seed)


def _is_optax(optimizer: Any) -> bool:
    """Whether an optimizer is a transformation of Optax: a named tuple of two functions."""
    return isinstance(optimizer, tuple) and callable(getattr(optimizer, "update", None)) and hasattr(optimizer, "init")


def _claim(given: Claim | str | None) -> Claim | None:
    claim = claims.as_claim(given)
    if claim is None or (isinstance(claim, ApproxDP) and claim.delta > 0):
        return claim
    if claim.parameter == "epsilon" and not claim.delta:
        raise UsageError(f"the claim {claim} has no δ. {claims.needs_delta('Gaussian noise', f'{claim.value:g}')}")
    raise UsageError(
        f"a training loop is judged by ε at a δ, and {claim} is {claim.notion}: claim 'epsilon=…, delta=…'"
    )


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 < value < math.inf


def check_request(request: TrainingRequest) -> Claim | None:
    """Return the claim of a request whose options can be followed, whatever its loop is."""
    if request.keep_data:
        raise UsageError(
            "keep_data is not possible here: evidence of a training loop holds nothing about its records, since noise "
            "or memberships beside released weights would give them away"
        )
    if request.sampling not in _SAMPLING:
        raise UsageError(f"sampling is one of {', '.join(_SAMPLING)}, not {request.sampling!r}")
    if isinstance(request.sigma, list | tuple):
        if not request.sigma or not all(_is_positive(each) for each in request.sigma):
            raise UsageError("sigma is a number above 0, or a list of such numbers, one for each update")
        request = replace(request, sigma=float(request.sigma[0]))
    for name in ("sigma", "clip", "rate", "confidence", "false_alarm"):
        value = getattr(request, name)
        if value is None:
            continue
        if not _is_positive(value):
            raise UsageError(f"{name} is a number above 0, not {value!r}")
        if name in ("rate", "confidence", "false_alarm") and value > 1 - (name != "rate") * 1e-12:
            raise UsageError(f"{name} is below 1, not {value!r}")
    if request.records is not None and not (type(request.records) is int and request.records > 0):
        raise UsageError(f"records is a whole number above 0, not {request.records!r}")
    if request.canaries is not None:
        asked(request.canaries)
    if request.canary_scores is not None and not callable(request.canary_scores):
        raise UsageError("canary_scores is a function that returns a score for each canary")
    if request.canary_scores is not None and (request.canaries is None or isinstance(request.canaries, int)):
        raise UsageError("canary_scores scores listed records: give canaries=[…] beside it")
    if request.gradient is not None and not callable(request.gradient):
        raise UsageError("gradient is a function that returns the clipped sum of a batch")
    return _claim(request.claim)


# --- How is a training script watched from outside? Its function is run, and the loop in it is watched. ---
#
# A function that asks for ``watch`` is given it, and puts it around its loop: ``with watch(model, optimizer,
# loader):``. Any other function is run as it is, and watched from the moment at which Opacus makes its model private.

NOTHING = (
    "no training loop was seen. Either the function makes its model private with Opacus (make_private), or it takes an "
    "argument called watch and trains within: with watch(model, optimizer, loader):"
)


def watched(function: Callable[..., Any], options: Mapping[str, Any]) -> tuple[Evidence, BaseException | None]:
    """Run a function, watch the loop in it, and return the evidence, with what the function raised.

    Args:
        function: trains.
        options: of a `TrainingRequest`.

    Raises:
        UsageError: where there was no loop to watch, or more than one.
    """
    asked = _asked(function)
    begun: list[Watch] = []
    given = {name: value for name, value in options.items() if value is not None}
    check_request(TrainingRequest(None, None, **given))  # before anything is trained

    def watch(model: Any, optimizer: Any, loader: Any = None, **more: Any) -> Watch:
        begun.append(Watch(TrainingRequest(model, optimizer, loader, **{**given, **more})))
        return begun[-1]

    raised: BaseException | None = None
    try:
        if "watch" in asked:
            function(watch=watch)
        else:
            with _from_opacus(watch):
                function()
    except UsageError:
        raise
    except Exception as error:
        raised = error
    if not begun:
        why = f"; it ended with {type(raised).__name__}: {raised}" if raised is not None else ""
        raise UsageError(f"{NOTHING}{why}") from raised
    if len(begun) > 1:
        raise UsageError(
            f"the function trains {len(begun)} times, and evidence is of one loop: name a function that trains once"
        )
    return begun[0].evidence, raised


def _asked(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a function that can be run without any, but for ``watch``."""
    asked = inspect.signature(function).parameters
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, each in asked.items()
        if name != "watch" and each.default is each.empty and each.kind not in open_ended
    ]
    if needed:
        name = getattr(function, "__name__", "the function")
        raise UsageError(
            f"{name} needs a value for {', '.join(needed)}, and a training that is watched is given nothing but watch. "
            f"A function of its data is audited by many runs instead: @dpaudit.tools.trains above it, and "
            f"dpaudit audit FILE:{name} --pair FILE"
        )
    return asked


@contextmanager
def _from_opacus(watch: Callable[..., Watch]) -> Iterator[None]:
    """Watch from the moment at which a model is made private."""
    try:
        from opacus import PrivacyEngine
    except ImportError:
        raise UsageError(
            "to watch a function as it is, Opacus has to be installed (pip install 'dpaudit[torch]'); else let it take "
            "an argument called watch, and train within: with watch(model, optimizer, loader):"
        ) from None
    original = PrivacyEngine.make_private
    with ExitStack() as stack:

        def make_private(*args: Any, **named: Any) -> Any:
            made = original(*args, **named)
            stack.enter_context(watch(made[0], made[1], made[-1]))
            return made

        PrivacyEngine.make_private = make_private
        try:
            yield
        finally:
            PrivacyEngine.make_private = original


# --- How is a training that takes a second audited, by many runs? ----------------------------------------

_SEED = 2**32  # of NumPy's global generator, the narrowest


@known_keywords
def trains(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function that trains into one that an audit can run: seeded, and with parameters as a list of numbers.

    Args:
        function: takes data, and perhaps ``rng`` and parameters; returns a model of PyTorch, parameters in arrays, or
            dicts and lists of these.

    Returns:
        A function of data, ``rng`` and the same parameters, for `dpaudit.audit`, `dpaudit.plan` and gates.

    Raises:
        UsageError: where the function takes no data, and, in a run, where it returns no parameters.
    """
    if not callable(function):
        raise UsageError(f"trains is for a function that trains a model, not {function!r:.60}")
    try:
        asked = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        asked = []
    if not asked or asked[0] == "rng":
        raise UsageError(
            f"{title_of(function)} takes no data: write train(data), which trains on the data that it is given and "
            "returns the model"
        )

    @functools.wraps(function)
    def train(data: Any, *, rng: np.random.Generator, **parameters: Any) -> Floats:
        given = {**parameters, "rng": rng} if "rng" in asked else parameters
        seed = int(rng.integers(_SEED))
        known = "torch" in sys.modules
        made = _seeded(function, seed, data, given)
        if not known and "torch" in sys.modules:  # it was imported in this run, after its generator should be seeded
            made = _seeded(function, seed, data, given)
        numbers = list(_numbers_of_model(made, title_of(function)))
        if not numbers:
            raise UsageError(f"{title_of(function)} returned no parameters: return the model that it trained")
        return np.concatenate(numbers)

    return train


def _seeded(function: Callable[..., Any], seed: int, data: Any, given: Mapping[str, Any]) -> Any:
    """Run a training whose global generators begin with a seed."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 — what somebody else's loop may draw from
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    with warnings.catch_warnings(action="ignore"):  # the same ones in every run
        return function(data, **given)


def _numbers_of_model(made: Any, title: str) -> Any:
    """Yield the numbers of a model, of arrays, or of what holds them, each (n,)."""
    if hasattr(made, "state_dict"):
        made = made.state_dict()
    if isinstance(made, Mapping):
        made = [made[key] for key in sorted(made, key=str)]
    if hasattr(made, "detach"):
        made = made.detach().cpu().numpy()
    if isinstance(made, Sequence) and not isinstance(made, str | bytes):
        for each in made:
            yield from _numbers_of_model(each, title)
        return
    try:
        if made is None:
            raise TypeError
        yield np.asarray(made, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise UsageError(
            f"{title} returned {type(made).__name__}: return the model that it trained, or its parameters as arrays"
        ) from None

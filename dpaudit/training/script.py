"""How is a training script watched from outside? Its function is run, and the loop in it is watched.

A function that asks for ``watch`` is given it, and puts it around its loop: ``with watch(model, optimizer, loader):``.
Any other function is run as it is, and watched from the moment at which Opacus makes its model private.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.request import TrainingRequest
from dpaudit.training.watch import Watch, check_request

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
            f"A function of its data is audited by many runs instead: @dpaudit.trains above it, and dpaudit audit "
            f"FILE:{name} --pair FILE"
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

"""What do the outputs of a compiled program look like? Forms and numbers of the runs of one block and side.

Every leaf of the program's tree has a form, and numbers that are constants of the leaf or were released. Some runs of
every leaf that was reached are repeated by the scalar reading; what the function returns there has to be the same:
forms exactly, numbers up to 10⁻⁹ of what is added up in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError
from dpaudit.program.compiled_reading import CompiledProgram, CompiledRuns, DifferentError, Replayed, compiled
from dpaudit.program.outcome import Raised
from dpaudit.program.symbolic.linear import Affine
from dpaudit.program.symbolic.tree import ProgramPath
from dpaudit.sampling.forms import embedded, read_form
from dpaudit.sampling.outputs import Outputs, OutputSnapshot, of_runs, taken

_CHECKED = 16  # runs of a block and side, among the first so many, besides the last run of every leaf
_EARLY = 1024
_CLOSE = 1e-9  # relative to what is added up in an output; far more than rounding explains


@dataclass(frozen=True, slots=True)
class _Look:
    """What the outputs of a leaf look like."""

    form: str  # of all of them
    columns: tuple[float | Affine, ...]  # for each number, a constant, or the expression that is released


def compiled_outputs(
    function: Callable[..., Any],
    data: Any,
    parameters: Mapping[str, Any],
    size: int,
    rng: np.random.Generator,
    beside: np.random.Generator,
) -> Outputs:
    """Run a program by its loop."""
    program = compiled(function, data, parameters)
    runs = program.run(size, rng)
    called = partial(_called, function, data, parameters)
    looks: dict[int, _Look] = {}
    single: dict[int, Any] = {}
    reached = np.flatnonzero(runs.last >= 0).tolist()
    for code in reached:
        leaf = program.tree.leaves[code]
        if leaf.is_null:  # floats can hit what a density gives no weight
            for run in np.flatnonzero(runs.codes == code).tolist():
                single[run] = taken(_replayed(program, called, runs, run, beside).output)
            continue
        early = np.flatnonzero(runs.codes[:_EARLY] == code)[: _CHECKED // len(reached)].tolist()
        for run in (int(runs.last[code]), *early):
            replayed = _replayed(program, called, runs, run, beside)
            if code not in looks:
                looks[code] = _raising(leaf, replayed) if leaf.output[0] == "exception" else _look(leaf)
            _compare(looks[code], replayed, runs.numbers[run])
    return _outputs(runs, looks, program, single)


def _called(function: Callable[..., Any], data: Any, parameters: Mapping[str, Any], noise: Any) -> Any:
    return function(data, noise=noise, **parameters)


def _replayed(
    program: CompiledProgram, called: Callable[..., Any], runs: CompiledRuns, run: int, beside: np.random.Generator
) -> Replayed:
    try:
        return program.replayed(called, runs, run, beside)
    except DifferentError as error:
        raise _different(str(error)) from None


def _different(what: str) -> UsageError:
    return UsageError(
        f"the compiled reading of the program is not what the program does: on the same draws, {what}. Floats may "
        "decide a branch by rounding, or the program keeps a state; leave out reading='compiled' (--reading compiled)"
    )


def _compare(look: _Look, replayed: Replayed, numbers: Floats) -> None:
    """Raise `UsageError` unless the function's own output is that of the loop."""
    ran = OutputSnapshot(replayed.output)
    if ran.form != look.form:
        raise _different(f"it returns {ran.form:.100}, where the loop has {look.form:.100}")
    places = {line: place for place, line in enumerate(replayed.leaf.released)}
    for column, own in zip(look.columns, ran.numbers, strict=True):
        made, allowed = float(numbers[places[column]]) if isinstance(column, Affine) else column, 0.0
        if isinstance(column, Affine):
            parts = [abs(float(factor) * replayed.draws[name]) for name, factor in column.terms.items()]
            scales = [
                abs(float(factor)) * float(replayed.leaf.draws[int(name[1:])].scale)
                for name, factor in column.terms.items()
            ]
            allowed = _CLOSE * (abs(float(column.constant)) + sum(parts) + sum(scales))
        if not abs(own - made) <= allowed:
            raise _different(f"it returns {own!r}, where the loop has {made!r}")


def _raising(leaf: ProgramPath, replayed: Replayed) -> _Look:
    """Return what an exception looks like, which all runs of a leaf raise alike.

    The tree knows its text, but not how numbers in it are written: they are exact there, and plain in a run.
    """
    ran, kind = OutputSnapshot(replayed.output), str(leaf.output[1]).partition(":")[0]
    if not isinstance(replayed.output, Raised) or replayed.output.kind != kind:
        raise _different(f"it returns {ran.form:.100}, where the loop raises {kind}")
    return _Look(ran.form, tuple(map(float, ran.numbers)))


def _look(leaf: ProgramPath) -> _Look:
    """Return what the outputs of a leaf look like, read from a specimen with 0 for every released number."""
    marks: list[float | Affine] = []
    columns: list[Any] = []
    form = read_form(_specimen(leaf.output, marks), columns)
    assert len(columns) == len(marks)
    return _Look(form, tuple(marks))


def _specimen(output: Any, marks: list[float | Affine]) -> Any:
    kind, *rest = output
    if kind in ("list", "tuple"):
        members = [_specimen(member, marks) for member in rest]
        return members if kind == "list" else tuple(members)
    if kind == "dict":
        return {_specimen(key, []): _specimen(member, marks) for key, member in rest}
    if kind == "none":
        return None
    value = rest[0]
    if isinstance(value, Affine) and not value.is_constant:
        marks.append(value)
        return 0 if kind == "int" else 0.0
    plain: Any = {"bool": bool, "str": str, "int": int, "float": float}[kind](
        value.constant if isinstance(value, Affine) else value
    )
    columns: list[Any] = []
    read_form(plain, columns)
    marks += columns
    return plain


def _outputs(runs: CompiledRuns, looks: dict[int, _Look], program: CompiledProgram, single: dict[int, Any]) -> Outputs:
    """Put the runs of leaves of the same form together."""
    forms: dict[str, list[int]] = {}
    for code, look in looks.items():
        forms.setdefault(look.form, []).append(code)
    form_of = np.full(len(program.tree.leaves), -1, dtype=np.int32)
    for number, codes in enumerate(forms.values()):
        form_of[codes] = number
    reached = [*looks, *([] if not single else [-1])]
    own = runs.codes if reached == [0] else form_of[runs.codes]
    rows = []
    for number, codes in enumerate(forms.values()):
        chosen = slice(None) if len(forms) == 1 and not single else own == number
        rows.append(_rows_of(runs, chosen, {code: (looks[code], program.tree.leaves[code]) for code in codes}))
    return of_runs(tuple(forms), own, rows, single)


def _rows_of(runs: CompiledRuns, chosen: Any, leaves: dict[int, tuple[_Look, ProgramPath]]) -> Floats:
    """The numbers of all runs of a form, (runs, numbers); one row for all of them if they cannot differ."""
    first, leaf = next(iter(leaves.values()))
    width, count = len(first.columns), len(runs.codes) if isinstance(chosen, slice) else int(np.count_nonzero(chosen))
    if len(leaves) == 1 and not leaf.released:
        return np.broadcast_to(np.array(first.columns, dtype=np.float64), (count, width))
    if len(leaves) == 1 and first.columns == leaf.released:
        return np.asarray(embedded(runs.numbers[chosen, :width]))
    table = np.zeros((max(leaves) + 1, width))
    for code, (look, _) in leaves.items():
        table[code] = [0.0 if isinstance(column, Affine) else column for column in look.columns]
    which = runs.codes[chosen]
    found: Floats = table[which]
    if not any(leaf.released for _, leaf in leaves.values()):
        return found
    released = runs.numbers[chosen]
    for code, (look, leaf) in leaves.items():
        mine = which == code if len(leaves) > 1 else slice(None)
        places = {line: place for place, line in enumerate(leaf.released)}
        for place, column in enumerate(look.columns):
            if isinstance(column, Affine):
                found[mine, place] = released[mine, places[column]]
    return np.asarray(embedded(found))

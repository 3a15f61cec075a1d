"""How far are outputs from the exact answer, in words?"""

from __future__ import annotations

from dpaudit.evidence.records import Accuracy, Errors
from dpaudit.report.text.numerals import count_text, estimate_text, share_text

SOURCES = {
    "query": "The exact answer is that of the query within.",
    "silent": "The exact answer is what the program returns without noise; what it does to its data before is in both.",
}


def accuracy_line(found: Accuracy) -> str:
    """Return the error in one line: an interval for amounts, how often it is exact for anything else."""
    errors = found.errors
    if not errors:
        rest = ", another in the rest" if found.same < found.runs else ""
        return f"the exact answer in {share_text(found.same / found.runs)} of the runs{rest}"
    low, high = min(each.low for each in errors), max(each.high for each in errors)
    of = "" if found.numbers == 1 else f"; {count_text(found.numbers)} numbers"
    return f"90 % of answers within {_signed(low)} to {_signed(high)} of the exact one (RMSE {_range(errors)}{of})"


def error_text(found: Accuracy) -> str:
    """Return the error in a few words, as a table has room for."""
    if found.errors:
        return f"RMSE {_range(found.errors)}"
    return f"exact in {share_text(found.same / found.runs)} of the runs"


def _range(errors: tuple[Errors, ...]) -> str:
    ends = [estimate_text(end(each.rmse for each in errors), 3) for end in (min, max)]
    return " to ".join(dict.fromkeys(ends))


def accuracy_sentences(found: Accuracy) -> list[str]:
    """Return the error, where it comes from, and what it is not."""
    runs, said = count_text(found.runs), []
    if len(found.errors) == 1:
        each = "The error of an output" if found.numbers == 1 else "The error of a number in an output"
        said.append(f"{each} is {_errors_words(found.errors[0])}, in {runs} runs.")
    elif found.errors:
        said.append(f"An output has {count_text(found.numbers)} numbers. Their errors, in {runs} runs:")
    if not found.errors or found.same:
        said.append(f"An output is the exact answer in {share_text(found.same / found.runs)} of {runs} runs.")
    if found.compared < found.runs:
        others = share_text((found.runs - found.compared) / found.runs)
        said.append(f"{others} of the outputs have another form than the exact answer, and no error.")
    where = "the data that were given"
    if found.pair is not None:
        where = f"dataset {found.side} of pair {found.pair}, which is chosen for its privacy"
    said.append(
        f"{SOURCES[found.source]} Estimated on {where}; on other data the error may be another. It decides nothing."
    )
    return said


def accuracy_rows(found: Accuracy) -> list[tuple[str, str]]:
    """Return (number, its errors) where an output has several that are told apart."""
    if len(found.errors) < 2:
        return []
    return [(f"number {place}", _errors_words(each)) for place, each in enumerate(found.errors)]


def _errors_words(errors: Errors) -> str:
    return (
        f"between {_signed(errors.low)} and {_signed(errors.high)} in 90 % of the runs; root mean square "
        f"{estimate_text(errors.rmse, 3)}, mean (the bias) {_signed(errors.bias)}"
    )


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else ''}{estimate_text(abs(value), 3)}"

"""How far are outputs from the exact answer, in words?"""

from __future__ import annotations

from dpaudit.evidence.records import Accuracy
from dpaudit.report.text.numerals import count_text, estimate_text, share_text

SOURCES = {
    "query": "The exact answer is that of the query within.",
    "silent": "The exact answer is what the program returns without noise; what it does to its data before is in both.",
}


def accuracy_line(found: Accuracy) -> str:
    """Return the error in one line: an interval for amounts, how often it is exact for anything else."""
    if found.rmse is None:
        return f"the exact answer in {share_text(found.same / found.runs)} of the runs"
    of = "" if found.numbers == 1 else f", over {count_text(found.numbers)} numbers"
    return (
        f"90 % of answers within {_signed(found.low)} to {_signed(found.high)} of the exact one "
        f"(RMSE {estimate_text(found.rmse, 3)}{of})"
    )


def accuracy_sentences(found: Accuracy) -> list[str]:
    """Return the error, where it comes from, and what it is not."""
    runs, said = count_text(found.runs), []
    if found.rmse is not None:
        each = "The error of an output" if found.numbers == 1 else "The error of a number in an output"
        said.append(
            f"{each} is between {_signed(found.low)} and {_signed(found.high)} in 90 % of {runs} runs; its root mean "
            f"square is {estimate_text(found.rmse, 3)}, its mean (the bias) {_signed(found.bias)}."
        )
    if found.rmse is None or found.same:
        said.append(f"An output is the exact answer in {share_text(found.same / found.runs)} of {runs} runs.")
    if found.compared < found.runs:
        others = share_text((found.runs - found.compared) / found.runs)
        said.append(f"{others} of the outputs have another form than the exact answer, and no error.")
    said.append(
        f"{SOURCES[found.source]} Estimated on dataset {found.side} of pair {found.pair}, which is chosen for its "
        "privacy; on other data the error may be another. It decides nothing."
    )
    return said


def _signed(value: float | None) -> str:
    text = estimate_text(abs(value or 0.0), 3)
    return f"−{text}" if value is not None and value < 0 else text

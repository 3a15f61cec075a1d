"""Does what is certain of a trace follow from its steps? The loss of noises that move is computed again.

Which noises move, and how far, was recorded in runs that are in no file, as counts are: only a replay shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpaudit.auditing.verdict import LEAK, TRACE
from dpaudit.evidence.build import exact_bound
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Trace, round_outward
from dpaudit.privacy import PureDP
from dpaudit.review.check.finding import Finding, answered, failing
from dpaudit.tracing.certain import Step, loss_of
from dpaudit.tracing.findings import WORDS, Word
from dpaudit.tracing.laws import LAWS


def traced(evidence: Evidence) -> Iterator[Finding]:
    """Yield findings about the record of a trace."""
    trace, exact = evidence.trace, evidence.exact
    assert trace is not None
    yield answered("trace", *_worded(trace))
    loss = trace.loss
    if loss is None or not loss.value > 0:
        if exact is not None:
            yield failing("certain", "a lower bound is called exact, and the trace found no loss that is certain")
        return
    notion = evidence.claimed or PureDP(0.0)
    wanted = exact_bound(loss.value, notion, method=LEAK if loss.leaks else TRACE, pair=trace.pair)
    if exact != wanted:
        yield failing("certain", "the exact bound is not the loss that the trace found")
    elif not loss.steps:
        said = "it is the loss that the trace states; what its runs returned is in no file, and only a replay shows it"
        yield answered("certain", math.isinf(loss.value) or not loss.leaks, said)
    else:
        try:
            steps = [Step(LAWS[each.law], each.scale, each.by, each.where) for each in loss.steps]
        except KeyError as error:
            yield failing("certain", f"no law of noise is called {error}")
            return
        again = loss_of(steps, evidence.claimed)
        value = None if again is None else round_outward(again.epsilon, "lower")
        holds = value is not None and (value == loss.value or math.isclose(value, loss.value, rel_tol=1e-6))
        yield answered(
            "certain", holds, f"the shifts of the noise give a loss of at least {value}; {loss.value} is stated"
        )


def _worded(trace: Trace) -> tuple[bool, str]:
    """Whether the word of a trace is the worst of its findings, and what certain loss there is agrees with it."""
    words = {text: word for word, text in WORDS.items()}
    if trace.word not in words or any(each.word not in words for each in trace.findings):
        return False, f"a trace finds one of {', '.join(words)}"
    if trace.findings and words[trace.word] != max(words[each.word] for each in trace.findings):
        return False, "its word is not the worst of what it found"
    sure = words[trace.word] in (Word.LEAKS, Word.VIOLATED)
    if sure and (trace.loss is None or not trace.loss.value > 0):
        return False, f"{trace.word!r} is said, and no loss is certain"
    return True, f"{trace.word}, as its findings say"

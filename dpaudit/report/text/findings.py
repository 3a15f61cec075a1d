"""How are a search, a sensitivity, accuracy and a trace put into words? They stand beside the verdict.

The words are those of a trace and no others: leaks; violated, given the stated laws; not supported; supported on this
path; not priced; not seen. None of them says that a mechanism is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dpaudit.evidence import event, further_records, records
from dpaudit.evidence.build import NOTHING
from dpaudit.evidence.evidence import SPEAKS_AGAINST, Evidence, beyond_claim, low_bits_show_more
from dpaudit.evidence.records import Curve, Verdict, round_outward
from dpaudit.privacy.claims import number_text
from dpaudit.report.document import (
    Block,
    Bullets,
    Content,
    Facts,
    Heading,
    Importance,
    Row,
    Section,
    Text,
    TextCell,
    code,
    said,
    section,
    strong,
    table,
    texts,
)
from dpaudit.report.text.phrases import (
    TRACED,
    bound_text,
    certainty,
    confidence_text,
    count_text,
    estimate_text,
    low_bits_sentence,
    share_text,
    shortened,
    symbol,
)

# --- How was the pair found, in words? -------------------------------------------------------------------

_SHOWN, _LONGEST = 6, 160  # pairs in the table, and characters of a change, to keep it short


def search_section(evidence: Evidence) -> Iterator[Section]:
    """Yield how the pair was found, with the pairs that were left longest; nothing if none was searched for."""
    search = evidence.search
    if search is not None:
        rows = [
            (shortened(one.name, _LONGEST), count_text(one.runs), _predicted(one.predicted, evidence))
            for one in search.tried[:_SHOWN]
        ]
        yield section("search", *texts([*_done(search), _searched(search)]), table("search", rows) if rows else None)


def search_line(evidence: Evidence) -> str | None:
    """Say in one line how the pair was found; None if none was searched for."""
    search = evidence.search
    if search is None:
        return None
    steps = f", then made simpler in {_times(search.shrunk, 'step')}{_sizes(search)}" if search.shrunk else ""
    how = shortened(search.found, _LONGEST)
    left = f" ({count_text(search.left_out)} more were not tried)" if search.left_out else ""
    return f"{how}; the most telling of {_candidates(search)}{left}, by {count_text(search.runs)} search runs{steps}"


def _candidates(search: records.Search) -> str:
    one = search.candidates == 1
    if search.source == "data":
        return f"{count_text(search.candidates)} neighbour{'' if one else 's'} of the data"
    whose = {"mechanism": "of the mechanism", "domain": "of datasets over the domain"}.get(
        search.source, "that were given"
    )
    return f"{count_text(search.candidates)} pair{'' if one else 's'} {whose}"


def _done(search: records.Search) -> list[str]:
    text = (
        f"Of {_candidates(search)} this one promised to give most away: {shortened(search.found, _LONGEST)}. They were "
        f"compared by {count_text(search.runs)} runs of their own, the less telling half of them dropped again and "
        "again; no bound looks at these runs."
    )
    lines = [text]
    if search.led is not None:
        lines.append(
            f"Before, {_times(search.replayed, 'run')} recorded the noise on one dataset of each and replayed it on "
            f"the other. The one on which most was found ({search.led}) was compared with the others to the end."
        )
    if search.left_out:
        lines.append(
            f"{_times(search.left_out, 'further pair')} {'was' if search.left_out == 1 else 'were'} thought of and not "
            "tried, for want of runs: more runs try more."
        )
    if search.raised:
        lines.append(f"On {_times(search.raised, 'pair')} every run on both datasets raised the same: nothing to tell.")
    if search.climbed is not None:
        lines.append(f"Beyond them {_times(search.climbed, 'small pair')} over the declared domain were tried.")
    if search.shrunk:
        lines.append(
            f"Then simpler pairs were tried, and {_times(search.shrunk, 'time')} one that tells about as much took its "
            f"place{_sizes(search) or ': the pair below may hold few of the records of the data'}."
        )
    return lines


def _searched(search: records.Search) -> str:
    return (
        "It was then learned and measured afresh, with the whole confidence. A search finds a bad pair and never shows "
        "that there is none: another neighbour, or other data, may give more away."
    )


def _sizes(search: records.Search) -> str:
    """Say how large the sides are, if that is known."""
    if search.records is None:
        return ""
    return f": {search.records[0]} against {_times(search.records[1], 'record')}"


def _times(count: int, what: str) -> str:
    return f"{count_text(count)} {what}{'' if count == 1 else 's'}"


def _predicted(value: float, evidence: Evidence) -> str:
    if not math.isfinite(value) or value <= 0:
        return "nothing"
    return f"{symbol(evidence)} ≥ {value:.3g}"


# --- How far was the mechanism's query moved, in words? --------------------------------------------------


def sensitivity_sentences(moved: records.Moved) -> str:
    """Say what was found about the query, and what it means."""
    return " ".join([*_found(moved), _means(moved)])


def sensitivity_section(evidence: Evidence) -> Iterator[Section]:
    """Yield what was found about the query; nothing if the mechanism exposes none."""
    moved = evidence.sensitivity
    if moved is None:
        return
    rows = [
        ("Declared", "none" if moved.claimed is None else f"{number_text(moved.claimed)}, for one neighbouring step"),
        ("Distance", _NORMS[moved.norm]),
        ("Farthest movement", _distance(moved)),
        ("By", moved.change),
        *_finite(moved),
        ("Datasets", f"SHA-256 {moved.digests[0]} and {moved.digests[1]}"),
        ("Tried", _moves_tried(moved)),
    ]
    if moved.room:
        rows.append(("Room for rounding", f"{moved.room:.2g}: floats that differ by no more are no counterexample"))
    rows += [("No number", text) for text in moved.troubles]
    word = (strong("Counterexample."), " ") if moved.exceeded else ""
    yield section("sensitivity", Text((word, sensitivity_sentences(moved))), Facts(rows))


def sensitivity_line(evidence: Evidence) -> str | None:
    """Say in one line what was found about the query; None if the mechanism exposes none."""
    moved = evidence.sensitivity
    if moved is None:
        return None
    if moved.exceeded:
        return f"COUNTEREXAMPLE: the query moves by {_distance(moved)}, declared is {_declared(moved)} ({moved.change})"
    if moved.claimed is None:
        return f"the query moves by {_distance(moved)} ({moved.change}); none is declared"
    return f"declared {_declared(moved)}; at most {_distance(moved)} found on {_moves_tried(moved)}"


_NORMS = {
    "1": "the sum of how far all its numbers move (norm 1)",
    "2": "the Euclidean distance (norm 2)",
    "inf": "how far the number moves that moves most (norm inf)",
}


def _finite(moved: records.Moved) -> list[tuple[str, str]]:
    if moved.finite is None or not math.isinf(moved.largest):
        return []
    return [("Where it gives numbers", f"{number_text(moved.finite)}, by: {moved.finite_change}")]


def _declared(moved: records.Moved) -> str:
    return "none" if moved.claimed is None else number_text(moved.claimed)


def _distance(moved: records.Moved) -> str:
    return "any distance" if math.isinf(moved.largest) else number_text(moved.largest)


def _moves_tried(moved: records.Moved) -> str:
    text = f"{count_text(moved.tried)} pair{'' if moved.tried == 1 else 's'} of neighbours"
    return f"{text}; on {count_text(moved.silent)} both datasets gave no number" if moved.silent else text


def _found(moved: records.Moved) -> list[str]:
    if math.isinf(moved.largest) and moved.troubles:
        return ["On one dataset of some pairs the query answers with no number, which is infinitely far from any."]
    return [f"One neighbour moves the query by {_distance(moved)}."]


def _means(moved: records.Moved) -> str:
    if moved.claimed is None:
        return "No sensitivity is declared that this could be held against."
    if moved.exceeded:
        return (
            f"Its declared sensitivity is {_declared(moved)}: this is a counterexample, computed without any noise, "
            "and certain. Noise that is scaled to what is declared is too small there. The verdict is about the claim "
            "alone, and rests on runs."
        )
    return (
        f"Its declared sensitivity is {_declared(moved)}, and no counterexample was found. That proves nothing: other "
        "data, or other neighbours, may move it farther."
    )


# --- How far are outputs from the exact answer, in words? ------------------------------------------------

SOURCES = {
    "query": "The exact answer is that of the query within.",
    "silent": "The exact answer is what the program returns without noise; what it does to its data before is in both.",
}


def accuracy_line(accuracy: records.Accuracy) -> str:
    """Return the error in one line: an interval for amounts, how often it is exact for anything else."""
    errors = accuracy.errors
    if not errors:
        rest = ", another in the rest" if accuracy.same < accuracy.runs else ""
        return f"the exact answer in {share_text(accuracy.same / accuracy.runs)} of the runs{rest}"
    low, high = min(each.low for each in errors), max(each.high for each in errors)
    of = "" if accuracy.numbers == 1 else f"; {count_text(accuracy.numbers)} numbers"
    return f"90 % of answers within {_signed(low)} to {_signed(high)} of the exact one (RMSE {_range(errors)}{of})"


def error_text(accuracy: records.Accuracy) -> str:
    """Return the error in a few words, as a table has room for."""
    if accuracy.errors:
        return f"RMSE {_range(accuracy.errors)}"
    return f"exact in {share_text(accuracy.same / accuracy.runs)} of the runs"


def _range(errors: tuple[records.Errors, ...]) -> str:
    ends = [estimate_text(end(each.rmse for each in errors), 3) for end in (min, max)]
    return " to ".join(dict.fromkeys(ends))


def accuracy_sentences(accuracy: records.Accuracy) -> list[str]:
    """Return the error, where it comes from, and what it is not."""
    runs, said = count_text(accuracy.runs), []
    if len(accuracy.errors) == 1:
        each = "The error of an output" if accuracy.numbers == 1 else "The error of a number in an output"
        said.append(f"{each} is {_errors_words(accuracy.errors[0])}, in {runs} runs.")
    elif accuracy.errors:
        said.append(f"An output has {count_text(accuracy.numbers)} numbers. Their errors, in {runs} runs:")
    if not accuracy.errors or accuracy.same:
        said.append(f"An output is the exact answer in {share_text(accuracy.same / accuracy.runs)} of {runs} runs.")
    if accuracy.compared < accuracy.runs:
        others = share_text((accuracy.runs - accuracy.compared) / accuracy.runs)
        said.append(f"{others} of the outputs have another form than the exact answer, and no error.")
    where = "the data that were given"
    if accuracy.pair is not None:
        where = f"dataset {accuracy.side} of pair {accuracy.pair}, which is chosen for its privacy"
    said.append(
        f"{SOURCES[accuracy.source]} Estimated on {where}; on other data the error may be another. It decides nothing."
    )
    return said


def accuracy_rows(accuracy: records.Accuracy) -> list[tuple[str, str]]:
    """Return (number, its errors) where an output has several that are told apart."""
    if len(accuracy.errors) < 2:
        return []
    return [(f"number {place}", _errors_words(each)) for place, each in enumerate(accuracy.errors)]


def _errors_words(errors: records.Errors) -> str:
    return (
        f"between {_signed(errors.low)} and {_signed(errors.high)} in 90 % of the runs; root mean square "
        f"{estimate_text(errors.rmse, 3)}, mean (the bias) {_signed(errors.bias)}"
    )


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else ''}{estimate_text(abs(value), 3)}"


# --- What did recorded and replayed runs show, in words? -------------------------------------------------

_LONGEST_PAIR = 160  # characters of the answers of a pair in a sentence

MEANINGS = {
    "leaks": "certain, by the flow of data alone, whatever the laws of the noise are",
    "violated, given the stated laws": "certain, if the noise has the laws and scales that the code asks for",
    "not supported": "this accounting of this path does not support the claim; it refutes nothing by itself, because "
    "another accounting may",
    "not priced": "a law, an operation or a branch that this accounting does not know",
    "supported on this path": "the shift that hides the change costs no more than is claimed, on the paths and the "
    "pair that were looked at; nothing is said of others",
    "not seen": "no noise that is followed was met, or every run raised",
}


def trace_line(evidence: Evidence, *, told: bool = False) -> str | None:
    """Return what was found in one line; None without a trace."""
    trace = evidence.trace
    if trace is None:
        return None
    first = trace.findings[0] if trace.findings else None
    if first is None:
        return trace.word
    tried = f" ({_tried(trace)})" if trace.found else ""
    story = [] if told else trace_story(evidence)
    said = " ".join(story) or f"{_told(first)}{'; not all was followed' if _left_out(trace) else ''}"
    return "; ".join([f"{trace.word}{tried}: {said}", *trace.beside])


def _tried(trace: further_records.Trace) -> str:
    """How many of how many neighbours were tried."""
    of = f" of {count_text(trace.tried + trace.left_out)}" if trace.left_out else ""
    return f"{count_text(trace.tried)}{of} neighbours tried"


def trace_story(evidence: Evidence) -> list[str]:
    """What speaks against the claim, in sentences: the two datasets, what moves at which price, what to write."""
    trace = evidence.trace
    if trace is None or trace.word not in SPEAKS_AGAINST:
        return []
    change = _change(evidence, trace)
    story = [f"The pair: {change}."] if change else []
    moved = [call for call in trace.calls if call.moved]
    parts = [_moving(call) for call in moved]
    if len(moved) > 1 and trace.epsilon is not None and (trace.epsilon or trace.mu):
        price = _price(trace)
        claim = evidence.claimed
        parts.append(
            f"together {price}"
            + ("" if claim is None else f" for a claim of {claim.symbol} = {number_text(claim.value)}")
        )
    scales = trace.loss is not None and any(step.other is not None for step in trace.loss.steps)
    said = _told(trace.findings[0]) if scales or not parts else "; ".join(parts)
    story.append(f"{said[0].upper()}{said[1:]}.")
    return [*story, trace.instead] if trace.instead else story


def traced_pair(evidence: Evidence, bound: records.Bound) -> str:
    """Return what differs in the pair of the trace, where a bound is about that pair; else empty."""
    trace = evidence.trace
    if trace is None:
        return ""
    by_trace = bound.kind == "exact" and bound.method in TRACED
    same = evidence.search is None and (len(evidence.pairs) < 2 if bound.pair is None else bound.pair == trace.pair)
    return _change(evidence, trace) if by_trace or same else ""


def pair_story(evidence: Evidence, bound: records.Bound) -> list[str]:
    """Return, in sentences, what differs in the pair of the trace, and what was seen of it that has no price."""
    trace, pair = evidence.trace, traced_pair(evidence, bound)
    if trace is None or not pair:
        return []
    seen = [_told(each) for each in trace.findings[:1] if each.word == "not priced"]
    return [f"The pair: {pair}.", *(f"{text[0].upper()}{text[1:]}." for text in seen)]


def _change(evidence: Evidence, trace: further_records.Trace) -> str:
    """Return the two datasets of a trace in words: answers as they are, for they have no records."""
    if not evidence.relation.startswith("queries"):
        return trace.change
    pair = evidence.pairs[trace.pair] if trace.pair < len(evidence.pairs) else None
    if pair is None or pair.shown0 is None or pair.shown1 is None or len(pair.shown0 + pair.shown1) > _LONGEST_PAIR:
        return ""
    return f"the answers {pair.shown0} and {pair.shown1}"


def _moving(call: further_records.TracedCall) -> str:
    """What moves at a line, what hides it, and at which price."""
    what = f"'{call.name}'" if call.name else "what is released"
    several = f" {count_text(call.moved)} times, by up to {abs(call.by):,.6g}" if call.moved > 1 else ""
    by = several or f" by {abs(call.by):,.6g}"
    letter = "μ" if "Gaussian" in call.law else "ε"
    cost = "" if call.cost is None else f": {letter} = {number_text(call.cost)}"
    where = call.where.partition(" (")[0]
    about = "about " if call.recognised else ""
    return f"{what} moves{by}, hidden by {call.law} noise of scale {about}{call.scale:,.6g}{cost}, at {where}"


def _price(trace: further_records.Trace) -> str:
    parts = [f"ε = {number_text(trace.epsilon or 0.0)}"] if trace.epsilon or not trace.mu else []
    parts += [f"μ = {number_text(trace.mu)}"] if trace.mu else []
    return " and ".join(parts)


def _left_out(trace: further_records.Trace) -> list[str]:
    """What was not seen or not priced beside paths that are supported."""
    if trace.word != "supported on this path":
        return []
    left_out = [_told(each) for each in trace.findings if each.word in ("not seen", "not priced")]
    return [*left_out, *trace.unseen]


def _told(finding: further_records.TraceFinding) -> str:
    return f"{finding.text}, at {finding.where}" if finding.where else finding.text


def trace_sentences(evidence: Evidence, trace: further_records.Trace) -> list[str]:
    """Say what a trace found, and what its word means."""
    sentences = [f"{trace.word.capitalize()}: {MEANINGS.get(trace.word, '')}."]
    told = [f"{_told(trace.findings[0])}."] if trace.findings else []
    story = trace_story(evidence)
    sentences = [*story, *(each for each in told if each[1:] not in {one[1:] for one in story}), *sentences]
    met = next((each.met for each in trace.findings if each.met and each.met != each.where), "")
    if met:
        sentences.append(f"The first operation that brought data which differ to the noise is at {met}.")
    sentences += [f"Not all was followed: {_left_out(trace)[0]}."] if _left_out(trace) else []
    sentences += [f"{each}." for each in trace.beside]
    sentences += led_sentences(evidence)
    return [text[0].upper() + text[1:] for text in sentences]


def trace_section(evidence: Evidence) -> Iterator[Section]:
    """Yield what a trace told, where noise was drawn, and what else is known; nothing without a trace."""
    trace = evidence.trace
    if trace is None:
        return
    blocks: list[Block] = [*texts(trace_sentences(evidence, trace)), Facts(list(_facts(evidence, trace)))]
    if trace.calls:
        calls = table("trace", [_call(each) for each in trace.calls])
        blocks += [Heading("Where noise was drawn"), Text(said("trace.calls")), calls]
    if trace.findings:
        told = [
            (strong(f"{each.word}."), f" {each.text}", (", at ", code(each.where)) if each.where else "")
            for each in trace.findings
        ]
        blocks += [Heading("What was found"), Bullets(told)]
    yield section("trace", *blocks)


def led_sentences(evidence: Evidence) -> list[str]:
    """Say why measuring runs did not show what a replayed path points to."""
    sentences = []
    for led in evidence.led:
        times = " and ".join(
            f"{count_text(met)} of {count_text(runs)} learning runs on {event.DATASETS[side]}"
            for side, (met, runs) in enumerate(zip(led.met, led.runs, strict=True))
        )
        side = 0 if led.event.toward(0) else 1
        which = f" on pair {led.pair}" if len(evidence.pairs) > 1 else ""
        after = (
            "so few do not say how many measuring runs would show more than is claimed"
            if led.needs is None
            else f"if it is so frequent, about {count_text(led.needs)} measuring runs would show more than is claimed"
        )
        sentences.append(
            f"The measuring runs did not confirm it{which}. What tells most of such a path is "
            f"{led.event.describe(side)}. It came up in {times}; {after}."
        )
    return sentences


def _call(call: further_records.TracedCall) -> list[Content | TextCell]:
    about = "about " if call.recognised else ""
    law = f"{call.law}, scale {about}{number_text(call.scale)}" if call.scale == call.scale else call.law
    law += f" ({count_text(call.draws)} draws)" if call.draws > 1 else ""
    several = f", {count_text(call.moved)} of them" if call.moved > 1 else ""
    by = f"{number_text(abs(call.by))}{several}" if call.moved else "not at all"
    letter = "μ" if "Gaussian" in call.law else "ε"
    cost = "not known" if call.cost is None else f"{letter} = {number_text(call.cost)}" if call.moved else "0"
    return [TextCell(code(call.where)), law, by, cost, code(call.met) if call.met else ""]


def _facts(evidence: Evidence, trace: further_records.Trace) -> list[tuple[str, str]]:
    facts = []
    if trace.found:
        facts.append(("Pair", trace.found))
    elif len(evidence.pairs) > 1:
        facts.append(("Pair", f"{trace.pair + 1} of {len(evidence.pairs)}"))
    drawn = f", {_times(trace.drawn, 'pair')} drawn over the domain" if trace.drawn else ""
    left = f"; {count_text(trace.left_out)} more were thought of and not tried" if trace.left_out else ""
    facts.append(("Tried", f"{_times(trace.tried, 'pair')}{drawn}, {_times(trace.paths, 'path')} on this one{left}"))
    facts.append(("Runs", count_text(trace.runs)))
    if trace.epsilon is not None and (trace.epsilon or trace.mu):
        facts.append(("Price of the shift", f"{_price(trace)}, of one way to hide the change"))
    if trace.checked is not None:
        facts.append(
            ("Checked", "a run with the shifted noise returned the recorded output" if trace.checked else
             "a run with the shifted noise returned something else: not everything was followed")
        )  # fmt: skip
    if trace.loss is not None and trace.loss.value > 0:
        on = "whatever the noise is" if trace.loss.leaks else "given the stated laws"
        facts.append(("Certain", f"{trace.loss.why} ({on})"))
    facts += [("Not followed", each) for each in trace.unseen]
    facts += [("Beside", each) for each in trace.beside]
    return facts


# --- What was found beside the verdict, and must not be missing from any summary? Rows, in reading order. ---


def _finding(key: str, name: str, line: str, text: str, is_urgent: bool, cell: str = "", note: str = "") -> Row:
    importance = Importance.EVERYWHERE if is_urgent else Importance.SUMMARY
    return Row(key, key, name, cell or line, line, text, note, importance, "beside")


def _curve(evidence: Evidence) -> Iterator[Row]:
    """Yield the curve; it has its own confidence, so it may exceed a claim that the bound in the headline does not."""
    curve = evidence.curve
    if curve is None or evidence.verdict is Verdict.INVALID:
        return
    beyond = beyond_claim(curve, evidence.claimed)
    how = f"all at once, at {confidence_text(curve.confidence)} confidence"
    shown = f"{_places(curve)} ({how})"
    line = f"{beyond}, more than is claimed; {shown}" if beyond else shown
    text = f"The whole privacy curve was bounded too: {shown}."
    if beyond:
        text += f" It exceeds the claim: {beyond}. The verdict does not rest on it."
    yield _finding("curve", "Curve", line, text, bool(beyond))


def _places(curve: Curve) -> str:
    """Return a few points of a certified curve: the first and the last that say anything, and one between."""
    known = [(epsilon, delta) for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True) if delta > 0]
    places = [known[place] for place in sorted({0, len(known) // 2, len(known) - 1})] if known else []
    listed = ", ".join(f"{_delta(delta)} at ε = {number_text(epsilon)}" for epsilon, delta in places)
    return f"δ ≥ {listed}" if listed else "no δ above 0 was shown at any ε"


def _delta(value: float) -> str:
    return number_text(round_outward(value, "lower", 3))


def _low_bits(evidence: Evidence) -> Iterator[Row]:
    text, bound = low_bits_sentence(evidence), evidence.floating_point
    if text is None or bound is None:
        return
    claim = evidence.claimed
    is_urgent = low_bits_show_more(evidence)
    if bound.method == NOTHING:
        yield _finding("low bits", "Low-order bits", "the outputs have none to read", text, is_urgent)
        return
    cell, shown = bound_text(bound, claim), f"none above 0 was shown for {symbol(evidence)}"
    nothing = bound.value <= 0
    line = f"{shown if nothing else cell} ({bound.kind}, {certainty(bound)}), reading the low-order bits"
    line += ", more than is claimed" if is_urgent and claim is not None else ""
    cell, note = ("none above 0", "") if nothing else (cell, certainty(bound))
    yield _finding("low bits", "Low-order bits", line, text, is_urgent, cell, note)


def _moved(evidence: Evidence) -> Iterator[Row]:
    moved, line = evidence.sensitivity, sensitivity_line(evidence)
    if moved is not None and line is not None:
        yield _finding("sensitivity", "Sensitivity", line, sensitivity_sentences(moved), moved.exceeded)


def _constant(evidence: Evidence) -> Iterator[Row]:
    """Yield a warning about runs that all returned the same output: they may all be the same draw."""
    if not evidence.constant:
        return
    line = "all runs of a side returned the same output: no noise, or noise that was drawn once and remembered"
    text = (
        "All runs of a side returned the same output. Either the mechanism draws no noise, or it draws it once and "
        "remembers it (a cache, a seed that is set within): then all runs of a side were one draw, and say nothing of "
        "how likely it was. To audit such a mechanism, let every call draw anew."
    )
    yield _finding("same output", "The same output", line, text, evidence.verdict is Verdict.VIOLATED)


def _traced(evidence: Evidence) -> Iterator[Row]:
    """Yield what recorded and replayed runs show; what speaks against the claim is urgent."""
    trace, line = evidence.trace, trace_line(evidence)
    if trace is not None and line is not None:
        text, is_urgent = " ".join(trace_sentences(evidence, trace)), trace.word in SPEAKS_AGAINST
        yield _finding("trace", "Trace", line, text, is_urgent, trace.word)


def _unproved(evidence: Evidence) -> Iterator[Row]:
    """Yield why an audit of a function as it is states no proof."""
    said = "" if evidence.trace is None else evidence.trace.unproved
    if said:
        yield _finding("no proof", "Why there is no proof", said, f"Nothing is proved for all data: {said}.", False)


FINDINGS: tuple[Callable[[Evidence], Iterator[Row]], ...] = (
    _curve,
    _low_bits,
    _moved,
    _traced,
    _unproved,
    _constant,
)

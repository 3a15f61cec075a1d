"""What was seen of a training loop, and which pitfalls does that show? The sections of a watched loop."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training, TrainingLoss
from dpaudit.privacy.claims import number_text
from dpaudit.report.html.templates import Section
from dpaudit.report.text.accounting import release_words
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.training import (
    canaries_words,
    fact_name,
    loss_text,
    pitfalls,
    status_words,
    updates_of,
)
from dpaudit.report.view import View

_MOST = 20  # releases in a table


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the sections of a watched loop; none of other evidence."""
    training = shown.evidence.training
    if training is None:
        return
    yield Section("training", "What was seen", {"training": training_part(shown.evidence, training)})


def reviewed(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what reviewers ask of a watched loop; none of other evidence."""
    if shown.evidence.training is not None:
        yield Section("pitfalls", "Twelve pitfalls", {})


def training_part(evidence: Evidence, training: Training) -> dict[str, Any]:
    """Return what the sections of a watched loop show."""
    size = len(json.dumps(training.certificates, ensure_ascii=False).encode("utf-8", "replace"))
    return {
        "facts": [
            {"name": fact_name(f), "status": status_words(f.status), "tone": f.status.replace(" ", "-"), "text": f.text}
            for f in training.facts
        ],
        "false_alarm": number_text(evidence.false_alarm or 0.0),
        "losses": [
            _loss("from below, on some data", training.low),
            _loss("from above, for all data", training.high),
            *([] if training.enough is None else [_loss("with just enough noise for the claim", training.enough)]),
        ],
        "all": loss_text(training),
        "step": _step(training),
        "gaussian": "" if training.gaussian is None else number_text(float(f"{training.gaussian:.5g}")),
        "canaries": None if training.canaries is None else canaries_words(training.canaries, evidence),
        "pitfalls": pitfalls(training),
        "certificates": f"{count_text(max(1, round(size / 1000)))} kB of JSON" if training.certificates else "none",
    }


def _loss(side: str, loss: TrainingLoss) -> dict[str, str]:
    """What is lost, from one side."""
    value = "not bounded" if math.isinf(loss.value) else number_text(float(f"{loss.value:.7g}"))
    listed = "; ".join(release_words(each) for each in loss.releases[:_MOST])
    return {"side": side, "value": value, "steps": listed or loss.why}


def _step(training: Training) -> str:
    step = training.step
    if step is None:
        return ""
    text = (
        f"From {count_text(step.values)} values of noise: whoever sees a coordinate along which a record moves the sum "
        "by C tells the two datasets apart at least as well as "
        f"μ = {number_text(float(f'{step.mu:.4g}'))} allows, in one step."
    )
    if step.epsilon is None:
        return text
    return (
        f"{text} If steps are independent and records come in as was seen, all {count_text(updates_of(training))} lose "
        f"at least ε = {number_text(float(f'{step.epsilon:.4g}'))} at the claim's δ, "
        "without taking the noise for Gaussian."
    )

"""Are records kept apart until each is clipped? Clipping bounds a record only if it moves no other's gradient.

Nothing here is random but which records are exchanged: what is found is so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpaudit.training.facts.finding import Finding
from dpaudit.training.seen import Parameter, Played

NOT_LOOKED_AT = "not looked at"
IN_PART = "looked at in part"
_OF_SUMS = "what the loop makes of records before its gradient function is called"


def records_finding(
    parameters: Mapping[str, Parameter],
    mixing: Sequence[str],
    played: Sequence[Played],
    asked: Mapping[str, Played],
    sums: int,
) -> Finding:
    """Say whether what one record contributes hangs on others."""
    state = [name for name, each in parameters.items() if each.state and each.moved]
    if state:
        named = ", ".join(state[:3]) + (f" and {len(state) - 3} more" if len(state) > 3 else "")
        text = f"{named} changed while training without noise: state of a layer is released with the model."
        return Finding("records", "wrong", "state without noise", text)
    if mixing:
        kinds = ", ".join(mixing)
        text = f"A layer computes across the records of a batch ({kinds}): clipping single records bounds nothing."
        return Finding("records", "wrong", "records are mixed", text)
    mixed = [each for each in (*asked.values(), *played) if each.where]
    if mixed:
        where = max((each.where for each in mixed), key=[each.where for each in mixed].count)
        text = f"Records are mixed {where}. Clipping what is left of each bounds nothing."
        return Finding("records", "wrong", "records are mixed", text, f"relative change {mixed[0].change:.2g}")
    shown = [each for each in played if not each.blind]
    blind = [f"{name} ({each.blind})" for name, each in asked.items() if each.blind]
    if not shown and not sums:
        why = f": {played[-1].blind}" if played else ""
        return Finding("records", "not seen", NOT_LOOKED_AT, f"Whether records are mixed was not looked at{why}.")
    if not played and not asked:
        blind.append(_OF_SUMS)
    looked = f"{len(shown)} updates were played again" if shown else f"{sums} sums were compared"
    detail = f"{looked}, largest change {max((each.change for each in shown), default=0.0):.2g}"
    unplayed = [each.blind for each in played if each.blind]
    if len(unplayed) > len(shown):
        blind.append(f"{len(unplayed)} of {len(played)} updates ({max(unplayed, key=unplayed.count)})")
    if blind or not asked:
        rest = ", ".join(blind) or "the training set and what puts batches together"
        text = f"Gradients of records do not hang on the others of their batch. Not looked at: {rest}."
        return Finding("records", "not seen", IN_PART, text, detail)
    text = (
        "What makes the gradients of a record stays the same beside other records, and so does what the training set "
        "returns for it, in what was looked at."
    )
    return Finding("records", "right", "kept apart", text, detail)

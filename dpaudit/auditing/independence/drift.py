"""Do the outputs of early and late runs have the same distribution?"""

from __future__ import annotations

from typing import Any

import numpy as np

_ERROR = 1e-9  # probability of a false alarm, small enough for millions of audits


def drifted(early: np.ndarray[Any, Any], late: np.ndarray[Any, Any], error: float = _ERROR) -> bool:
    """Whether early and late runs differ more than chance allows, in some cell or in all cells up to some cell.

    Given the k runs of a set of cells, the number of early ones is hypergeometric if the order does not matter, so it
    deviates from its mean by t with probability at most 2·exp(−2t²/k) (Hoeffding 1963, Theorem 2 and section 6).
    """
    runs = early.sum(), late.sum()
    if min(runs) == 0:
        return False
    early, late = (np.concatenate([counts, np.cumsum(counts)]) for counts in (early, late))
    total = early + late
    expected = total * (runs[0] / (runs[0] + runs[1]))
    strayed = np.abs(early - expected)
    limit = np.sqrt(np.maximum(total, 1) / 2 * np.log(2 * len(early) / error))
    return bool(np.any(strayed > limit))

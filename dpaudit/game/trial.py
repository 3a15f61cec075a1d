"""What does one single call do? For error messages, where the first exception says it best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.function import Mechanism
from dpaudit.program.scalar import ScalarNoise
from dpaudit.settings import lent


def first_exception(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> str:
    """Call the mechanism once and return the exception that it raises as text."""
    rng = np.random.default_rng(0)
    filled = {"noise": ScalarNoise(rng), "rng": rng, "size": 1}
    try:
        with lent():
            mechanism.function(data, **{name: filled[name] for name in mechanism.asked}, **parameters)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return "an exception that a single call does not raise again"

"""Uses of trasgodp."""

from __future__ import annotations

import pandas as pd
from case import Case
from trasgodp.categorical import dp_exponential_array, dp_randomized_response_binary_array
from trasgodp.geoindis import metric_privacy
from trasgodp.numerical import dp_clip_gaussian_array, dp_clip_laplace_array

DISTRIBUTION = "trasgodp"
AGES = ([10.0, 20.0], [10.0, 90.0])


def places(data):
    return metric_privacy(pd.DataFrame({"lat": data, "lon": data}), "lat", "lon", 1.0).to_numpy()


CASES = [
    Case("metric_privacy", places, ([1.0, 2.0], [1.0, 3.0]), mistake="a fixed seed"),
    Case("dp_exponential_array", lambda data: dp_exponential_array(data, 1.0).tolist(),
         (["a", "b", "b"], ["c", "b", "b"]), mistake="categories that are those of the data"),
    Case("dp_clip_laplace_array", lambda data: dp_clip_laplace_array(data, 1.0, 0.0, 100.0), AGES),
    Case("dp_clip_gaussian_array", lambda data: dp_clip_gaussian_array(data, 1.0, 0.0, 100.0, 1e-5), AGES,
         "epsilon=1, delta=1e-5"),
    Case("dp_randomized_response_binary_array", lambda data: dp_randomized_response_binary_array(data, 1.0).tolist(),
         (["no", "no", "yes"], ["no", "yes", "yes"])),
]  # fmt: skip

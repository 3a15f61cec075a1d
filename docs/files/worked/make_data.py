"""Writes the data of the worked examples: stand-ins, so that nothing has to be downloaded."""

from itertools import pairwise

import numpy as np
import pandas as pd

EDGES = [0, 0.5, 1, 1.5, 2, 2.5, 6]  # carats
COUNTS = [17_674, 17_206, 12_825, 4_081, 2_011, 143]  # of the 53,940 diamonds that ggplot2 ships (Wickham 2016)

# as many stones in each bin as the real data have; within a bin they are spread evenly
bins = [np.linspace(low, high, n, endpoint=False) for (low, high), n in zip(pairwise(EDGES), COUNTS, strict=True)]
carat = np.concatenate(bins)
pd.DataFrame({"carat": carat.round(3).clip(0.2, 5.01)}).to_csv("diamonds.csv", index=False)

# simulated: businesses of 0 to 20 employees in two states, smaller ones more often
rng = np.random.default_rng(2026)
state = np.repeat(["A", "B"], [1_400, 900])
employees = np.minimum(rng.geometric(np.where(state == "A", 0.25, 0.15)) - 1, 20)
pd.DataFrame({"state": state, "employees": employees}).to_csv("businesses.csv", index=False)

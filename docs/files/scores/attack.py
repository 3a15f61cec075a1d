"""An attack on a made-up model that learned 1,000 of 2,000 records by heart, a little: one score for each record."""

import numpy as np

rng = np.random.default_rng(0)
included = rng.random(2_000) < 0.5  # a fair coin for each
scores = rng.normal(size=2_000) + 1.5 * included
np.save("in.npy", scores[included])
np.save("out.npy", scores[~included])

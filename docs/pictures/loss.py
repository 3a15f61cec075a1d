"""The densities of Laplace noise on two neighbours, and the privacy loss of each output."""

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(-5, 6, 900)
with_it, without = np.exp(-np.abs(x - 1)) / 2, np.exp(-np.abs(x)) / 2
figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 4), sharex=True)
above.plot(x, without, color="#b4500a", label="without the record")
above.plot(x, with_it, color="#1f5fa8", label="with it")
above.legend(frameon=False, fontsize=9)
above.set(yticks=[], ylabel="how likely")
below.axhspan(-1, 1, color="#888888", alpha=0.15)
below.plot(x, np.log(with_it / without), color="#555555")
below.set(ylabel="privacy loss", xlabel="output", ylim=(-1.4, 1.4))
for axes in (above, below):
    axes.spines[["right", "top"]].set_visible(False)

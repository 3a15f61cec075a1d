"""The outputs of a noisy count on two neighbours, and the tails in which an attacker guesses."""

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE = "#1f5fa8", "#b4500a"
x = np.linspace(138, 156, 800)
sides = (
    (146, BLUE, x < 146, 143, "right", "without\nthe record"),
    (147, ORANGE, x > 147, 150.5, "left", "with\nthe record"),
)
figure, axes = plt.subplots()
for centre, colour, tail, at, aligned, words in sides:
    density = np.exp(-np.abs(x - centre) / 1.6) / 3.2
    axes.plot(x, density, color=colour)
    axes.fill_between(x, density, where=tail, color=colour, alpha=0.2, linewidth=0)
    axes.text(at, 0.17, words, color=colour, ha=aligned)
axes.set(xlabel="what is released", xticks=[140, 146, 147, 153], yticks=[], ylim=(0, 0.36))
axes.set_title("An audit is an attacker who keeps score: how much likelier is an output on one side?", fontsize=10)
axes.spines[["left", "right", "top"]].set_visible(False)

"""Where the true loss can still be, after an audit that found nothing, one that did, and a proof."""

import matplotlib.pyplot as plt

ROWS = (
    ("an audit: NOT VIOLATED", (0.98, 2.0), "#4d6a8a"),
    ("an audit: VIOLATED", (1.4, 2.0), "#b3261e"),
    ("a proof: PROVED", (0.0, 1.0), "#1b7a43"),
)
figure, panels = plt.subplots(3, 1, figsize=(7.2, 2.6), sharex=True)
for axes, (words, ends, colour) in zip(panels, ROWS, strict=True):
    axes.axhline(0, color="#888888", linewidth=1)
    axes.axvline(1, color="#555555", linewidth=1, linestyle=":")
    axes.plot(ends, (0, 0), color=colour, linewidth=7, solid_capstyle="butt", alpha=0.75)
    axes.set_ylabel(words, rotation=0, ha="right", va="center", fontsize=9, color=colour)
    axes.set(xlim=(0, 2), ylim=(-1, 1), yticks=[])
    axes.spines[["left", "right", "top", "bottom"]].set_visible(False)
panels[-1].set_xticks([0, 1, 2], ["0", "claim: ε = 1", "2"])
figure.subplots_adjust(left=0.3)

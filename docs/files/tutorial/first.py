"""How many of the penguins are Adelies? A first version."""

import numpy as np


def adelies(penguins, epsilon=0.1):
    count = (penguins["species"] == "Adelie").sum()
    return count + np.random.laplace(0, epsilon)

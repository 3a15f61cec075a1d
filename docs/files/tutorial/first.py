"""How many of the penguins are Adelies? A first version."""


def adelies(penguins, noise, *, epsilon=0.1):
    count = (penguins["species"] == "Adelie").sum()
    return count + noise.laplace(epsilon)

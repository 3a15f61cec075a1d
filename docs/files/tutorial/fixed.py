"""How many of the penguins are Adelies? With the noise that ε asks for."""


def adelies(penguins, noise, *, epsilon=0.1):
    count = (penguins["species"] == "Adelie").sum()
    return count + noise.laplace(1 / epsilon)

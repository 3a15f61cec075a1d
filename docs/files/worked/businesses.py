"""How many small businesses are there in two states, and how large are they?"""


def sizes(data, noise, *, epsilon=1.0):
    """The number and the average size of small businesses in two states, with half of ε for each."""
    found = {}
    for state in ("A", "B"):
        own = data[data["state"] == state]
        number = len(own) + noise.laplace(2 / epsilon)
        total = own["employees"].clip(0, 20).sum() + noise.laplace(20 * 2 / epsilon)
        found[state] = [number, total / max(number, 1)]
    return found

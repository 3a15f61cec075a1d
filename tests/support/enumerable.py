"""Which programs with discrete noise are small enough to follow every trace?"""

import itertools
from fractions import Fraction

from dpaudit.program.fold import Fold, Stop

HALF = Fraction(1, 2)


def bits(length):
    return [list(data) for data in itertools.product((0, 1), repeat=length)]


def one_replaced(first, second):
    """Whether two datasets of one length differ in exactly one place, as in the local model."""
    return len(first) == len(second) and sum(a != b for a, b in zip(first, second, strict=True)) == 1


def clamped_geometric(centre, ratio, low, high):
    """Weights of the two-sided geometric law around ``centre``, its tails at the ends of [low, high]."""
    inner = {y: (1 - ratio) * ratio ** abs(y - centre) for y in range(low, high + 1)}
    return [weight / (1 - ratio) if y in (low, high) else weight for y, weight in inner.items()]


def geometric(noise, centre, ratio, low, high):
    return noise.choice(range(low, high + 1), clamped_geometric(centre, ratio, low, high))


def responses(data, noise, *, keep=0.75):
    return [bit if noise.bernoulli(keep) else 1 - bit for bit in data]


def shuffled(data, noise):
    return sum(responses(data, noise))


def leaky_responses(data, noise):
    answers = responses(data, noise)
    return answers if answers[0] == data[0] or noise.bernoulli(0.5) else answers[1:]


def geometric_count(data, noise):
    return geometric(noise, sum(data), HALF, 0, len(data))


def candidates(data):
    return [len(data) - sum(data), sum(data), len(data) // 2]


def exponential_base_2(data, noise):
    return noise.choice(range(3), [2**score for score in candidates(data)])


def permute_and_flip_base_2(data, noise):
    scores, waiting = candidates(data), [0, 1, 2]
    while True:
        index = waiting.pop(noise.choice(range(len(waiting))))
        if noise.bernoulli(HALF ** (max(scores) - scores[index])):
            return index


def noisy_max(data, noise):
    noisy = [geometric(noise, bit, HALF, -6, 6) for bit in data]
    return noisy.index(max(noisy))


def sparse_vector(data, noise):
    level, answers = geometric(noise, 0, Fraction(2, 3), -4, 4), []
    for bit in data:
        answers.append(int(bit + geometric(noise, 0, Fraction(4, 5), -4, 4) >= level))
        if answers[-1]:
            break
    return answers


SHUFFLED = Fold(lambda count, bit, noise, keep: count + (bit if noise.bernoulli(keep) else 1 - bit))


def larger(state, bit, noise):
    seen, best, where = state
    value = geometric(noise, bit, HALF, -6, 6)
    return (seen + 1, value, seen) if value > best else (seen + 1, best, where)


NOISY_MAX = Fold(larger, init=(0, -7, -1), finish=lambda state: state[2])


def below(state, bit, noise):
    level, answers = state
    above = int(bit + geometric(noise, 0, Fraction(4, 5), -4, 4) >= level)
    return Stop((level, (*answers, above))) if above else (level, (*answers, above))


SPARSE_VECTOR = Fold(
    below, init=lambda noise: (geometric(noise, 0, Fraction(2, 3), -4, 4), ()), finish=lambda state: list(state[1])
)

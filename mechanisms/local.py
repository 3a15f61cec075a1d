"""How can each person randomise their own answer, before anyone collects it?

``data`` is the value of one person: a dataset of one record, of which a neighbour holds any other value.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

from dpaudit import PureDP, UsageError, mechanism
from dpaudit.program.noise import Noise

from .domain import one_of, positive, probability, whole
from .losses import Below, below_chosen, of_laws


@mechanism(
    claim=PureDP(math.log(3)),
    relation="replace",
    pairs=[(0, 1)],
    true_loss=lambda: of_laws([3 / 4, 1 / 4], [1 / 4, 3 / 4]),
    unit="one person's answer",
    source="Warner (1965); Dwork & Roth (2014), Claim 3.5",
    family="local",
)
def two_coins(data: int, noise: Noise) -> Any:
    """Flip a coin: heads, tell the truth; tails, flip a second coin and tell what it shows.

    The answer is a bit. Whatever the truth, it is told with probability ¾, so that the claim is exactly ln 3.

    The true loss is ln(¾ / ¼) = ln 3, reached by either answer.
    """
    if noise.bernoulli(0.5):
        return 1 if data else 0
    return noise.choice([0, 1])


def keep_probability(epsilon: float, k: int = 2) -> float:
    """Return e^ε/(e^ε + k − 1), the probability of keeping one of k values, so that it cannot overflow."""
    return 1 / (1 + (k - 1) * math.exp(-positive("epsilon", epsilon)))


def randomised_response_loss(epsilon: float, k: int = 2) -> float:
    """Return the loss of the two laws that keep their value and tell each other one e^ε times less often."""
    keep = keep_probability(epsilon, k)
    law = [keep, *[keep * math.exp(-epsilon)] * (k - 1)]
    return of_laws(law, [law[1], law[0], *law[2:]])


def randomised_response_law(data: int, epsilon: float, k: int = 2) -> Below:
    """Return the law of the value that is told."""
    return below_chosen([1 if value == int(data) else math.exp(-epsilon) for value in range(k)])


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=[(0, 1)],
    true_loss=lambda epsilon: randomised_response_loss(epsilon),
    law=lambda data, epsilon: randomised_response_law(bool(data), epsilon),
    unit="one person's answer",
    source="Warner (1965); Kairouz, Oh & Viswanath (2015)",
    family="local",
)
def randomised_response(data: int, noise: Noise, *, epsilon: float = 1) -> int:
    """Keep a bit with probability e^epsilon/(1 + e^epsilon), and turn it over otherwise.

    The true loss is epsilon, reached by either answer: the two probabilities have the ratio e^ε. Every ε-DP
    mechanism on a pair is a post-processing of this one.
    """
    truth = 1 if data else 0
    return truth if noise.bernoulli(keep_probability(epsilon)) else 1 - truth


def category(value: Any, k: int) -> int:
    """Return a value that is one of 0 … k − 1; raise UsageError otherwise."""
    return int(one_of("the value", value, range(whole("k", k, least=2))))


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=[(0, 1)],
    true_loss=randomised_response_loss,
    law=randomised_response_law,
    unit="one person's answer",
    source="Kairouz, Bonawitz & Ramage (2016), k-ary randomised response",
    family="local",
)
def generalised_randomised_response(data: int, noise: Noise, *, epsilon: float = 1, k: int = 4) -> Any:
    """Keep one of k categories with probability e^epsilon/(e^epsilon + k − 1), else tell another at random.

    The categories are 0 … k − 1; each of the k − 1 others is told with probability 1/(e^ε + k − 1).

    The true loss is epsilon, the log ratio of those two probabilities.
    """
    truth = category(data, k)
    other = math.exp(-positive("epsilon", epsilon))
    return noise.choice(range(k), [1 if value == truth else other for value in range(k)])


ENCODINGS = ("optimised", "symmetric")


def bit_probabilities(epsilon: float, encoding: str) -> tuple[float, float]:
    """Return the probabilities of a 1 at the true category and at any other."""
    if one_of("encoding", encoding, ENCODINGS) == "optimised":
        return 0.5, keep_probability(epsilon) * math.exp(-epsilon)
    keep = keep_probability(epsilon / 2)
    return keep, keep * math.exp(-epsilon / 2)


def unary_loss(epsilon: float, encoding: str) -> float:
    """Return ln(p·(1 − q)/((1 − p)·q)): two bits differ, and both speak for the truth."""
    p, q = bit_probabilities(epsilon, encoding)
    return math.log(p) - math.log(q) + math.log1p(-q) - math.log1p(-p)


@mechanism(
    claim=PureDP,
    relation="replace",
    pairs=[(0, 1)],
    true_loss=unary_loss,
    unit="one person's answer",
    source="Wang, Blocki, Li & Jha (2017), unary encoding; symmetric: basic one-time RAPPOR of "
    "Erlingsson, Pihur & Korolova (2014)",
    family="local",
)
def unary_encoding(
    data: int, noise: Noise, *, epsilon: float = 1, k: int = 4, encoding: str = "optimised"
) -> list[Any]:
    """Write one of k categories as k bits with a single 1, and randomise every bit by itself.

    A 1 stays with probability p, a 0 becomes 1 with probability q. Optimised: p = ½, q = 1/(e^ε + 1).
    Symmetric: p = e^(ε/2)/(e^(ε/2) + 1), q = 1 − p.

    The true loss is epsilon: two values differ in two bits, and the output with the one set and the other not
    has the ratio p(1 − q)/((1 − p)q) = e^ε.
    """
    truth = category(data, k)
    p, q = bit_probabilities(epsilon, encoding)
    return [noise.bernoulli(p if value == truth else q) for value in range(k)]


def bloom_filter(value: Any, bits: int, hashes: int) -> frozenset[int]:
    """Return the positions that a value sets: one by each hash, of which some may coincide."""
    texts = (f"{number}:{value}".encode() for number in range(hashes))
    return frozenset(int.from_bytes(hashlib.sha256(text).digest(), "big") % bits for text in texts)


def rappor_probabilities(f: float, p: float, q: float) -> tuple[float, float]:
    """Return p* and q*: the chance of reporting a 1 where the value sets no bit, and where it sets one."""
    for name, given in (("f", f), ("p", p), ("q", q)):
        probability(name, given)
    if not p < q:
        raise UsageError(f"q must lie above p, not q={q!r} and p={p!r}: a set bit is reported as 1 more often")
    return f / 2 * (p + q) + (1 - f) * p, f / 2 * (p + q) + (1 - f) * q


def rappor_claim(hashes: int, f: float, p: float, q: float) -> PureDP:
    """Return h·ln(q*(1 − p*)/(p*(1 − q*))): two values differ in at most h bits each way."""
    low, high = rappor_probabilities(f, p, q)
    return PureDP(whole("hashes", hashes, least=1) * math.log(high * (1 - low) / (low * (1 - high))))


RAPPOR_PAIR = ("blue", "amber")


def rappor_loss(bits: int, hashes: int, f: float, p: float, q: float) -> float:
    """Return the loss summed over the bits that one value of the pair sets and the other does not."""
    low, high = rappor_probabilities(f, p, q)
    first, second = (bloom_filter(value, bits, hashes) for value in RAPPOR_PAIR)
    set_bit, clear_bit = math.log(high / low), math.log((1 - low) / (1 - high))
    ways = ((len(first - second), len(second - first)), (len(second - first), len(first - second)))
    return max(more * set_bit + less * clear_bit for more, less in ways)


@mechanism(
    claim=rappor_claim,
    relation="replace",
    pairs=[RAPPOR_PAIR],
    true_loss=rappor_loss,
    unit="one person's value, in one report",
    source="Erlingsson, Pihur & Korolova (2014), section 2 and Theorem 2",
    family="local",
)
def rappor(
    data: Any,
    noise: Noise,
    *,
    bits: int = 20,
    hashes: int = 4,
    f: float = 0.75,
    p: float = 0.45,
    q: float = 0.55,
) -> list[Any]:
    """Put a value into a Bloom filter and randomise every bit twice: permanently, and anew for each report.

    Permanent: a bit becomes 1 with probability f/2, 0 with f/2, and stays as it is otherwise. Instantaneous:
    it is reported as 1 with probability q if the permanent bit is 1, and with p if it is 0. Claimed is one
    report: h·ln(q*(1 − p*)/(p*(1 − q*))) with q* and p* as both steps together make them.

    The true loss is below the claim on this pair: its two filters, of four bits each, share one bit, so that
    six bits differ and not eight.
    """
    rappor_probabilities(f, p, q)
    chosen = bloom_filter(data, whole("bits", bits, least=1), whole("hashes", hashes, least=1))
    report = []
    for position in range(bits):
        permanent = noise.bernoulli(1 - f / 2 if position in chosen else f / 2)
        report.append(noise.bernoulli(p + (q - p) * permanent))
    return report

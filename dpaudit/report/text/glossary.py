"""What do verdicts, findings and terms mean, apart from any evidence? For those who meet a word and look it up."""

from __future__ import annotations

from dpaudit.evidence.records import Verdict
from dpaudit.report.text.plain_words import FOUND, NEXT, NOT_SHOWN
from dpaudit.report.text.trace import MEANINGS

_AT_WHICH_LINE = " With the same target and data, dpaudit trace says at which line."


def verdicts_and_findings() -> dict[str, tuple[str, ...]]:
    """Return each verdict and each finding of a trace, with paragraphs on it."""
    verdicts = {
        str(verdict).upper(): (
            FOUND[verdict],
            f"What it does not show: {NOT_SHOWN[verdict]}",
            f"Next: {NEXT[verdict]}{_AT_WHICH_LINE if verdict is Verdict.VIOLATED else ''}",
        )
        for verdict in Verdict
    }
    return verdicts | {
        f"{word} (trace)": (f"{meaning[0].upper()}{meaning[1:]}.",) for word, meaning in MEANINGS.items()
    }


TERMS = {
    "epsilon, ε, eps, differential privacy, dp, pure dp": "How much one person's data may change what is seen: under "
    "ε-differential privacy, any set of outputs is at most e^ε times as likely on one dataset as on its neighbour. "
    "Smaller is more private: a suspicion of 50 % becomes 52.5 % at most at ε = 0.1, 73.2 % at ε = 1, and 99.4 % at ε "
    "= 5.",
    "delta, δ, approximate dp": "What the promise of ε may miss: P(S) ≤ e^ε·Q(S) + δ for every set S of outputs. It "
    "belongs far below one in the number of people: 1e-6 or less for 100,000.",
    "mu, μ, gdp": "The parameter of Gaussian differential privacy: telling two neighbours apart is no easier than "
    "telling a normal law from one that is shifted by μ standard deviations.",
    "rho, ρ, zcdp, zero-concentrated": "The parameter of zero-concentrated differential privacy, which limits the "
    "Rényi divergence of every order α by ρ·α.",
    "order, alpha, α, renyi, rényi, rényi dp, rdp": "Of a claim of Rényi differential privacy, 'order=2, epsilon=1': "
    "at which order α the Rényi divergence of the outputs is limited by ε. Larger orders are closer to pure ε.",
    "claim": "What is said of a mechanism's privacy, such as 'epsilon=1' or 'epsilon=1, delta=1e-6'. Bounds are held "
    "against it.",
    "mechanism, target": "The randomised function that is audited.",
    "neighbours, neighbour, neighbouring, adjacent, relation, pair, sides, side": "Which two datasets the promise "
    "compares: a pair, called the first and the second dataset. A relation says which are neighbours: add-remove, "
    "replace, queries, or declared.",
    "add-remove": "One dataset has a record that the other has not; with a column, as in "
    "'add-remove(person=user_id)', a person with all their records.",
    "replace, replace-one": "One record is replaced by another. Both names are read everywhere; a sum moves by up to "
    "twice as much as under add-remove.",
    "zero-out": "One record is replaced by one that contributes nothing; releases alone are accounted for under it.",
    "queries": "Lists of exact answers to the same queries; each differs by at most 1. Under 'queries(norm=1)' they "
    "differ by at most 1 in all, under 'queries(one)' one of them does, under 'queries(monotone)' all do in the same "
    "direction.",
    "declared": "A pair that is taken to be neighbouring because somebody vouches for it; nothing checks it.",
    "unit, unit of privacy": "What one record stands for: a person, a visit, a household.",
    "group, group privacy": "How many records, or persons, neighbours may differ in, as in 'add-remove(group=5)'. "
    "What keeps ε for one keeps 5·ε for five.",
    "runs": "How often the mechanism was executed, for all datasets and purposes together.",
    "event": "A set of outputs, fixed before the runs that measure it.",
    "lower bound": "The parameter is at least this, at a stated confidence. It says nothing of how much larger it is.",
    "upper bound": "The parameter is at most this, by proof, within the proof's scope.",
    "confidence": "1 minus the chance that a statement is wrong.",
    "false alarm": "The chance that a mechanism that keeps its claim is called violated: 1 in 1,000 unless another "
    "is asked for.",
    "second look": "Fresh runs of an event whose bound was above the claim, before it is called a violation.",
    "privacy loss": "ln(p/q) of an output: how much it tells the two datasets apart.",
    "detectable": "The smallest violation that would have been found with probability 0.9.",
    "low-order bits, low bits, floating point": "The last digits of floating-point noise, which may tell the "
    "datasets apart although the mathematics does not. A finding beside the verdict, unless it is asked to decide.",
    "sensitivity": "How far one record may move the exact answer, which says how much noise it needs: a count moves "
    "by 1, a sum of values that are clipped to [0, C] by C; Laplace noise of scale sensitivity / ε then keeps ε.",
    "noise multiplier, σ/C": "Of noisy training: the standard deviation of the noise on a sum of clipped gradients, "
    "divided by the norm C that each is clipped to. Under add-remove a record moves the sum by up to C, so it is σ "
    "over the sensitivity; under replace a record moves it by up to 2·C, and the same number hides half as much.",
    "sampling rate, rate, q, amplification, subsampling": "The chance with which each record, by a coin of its own, "
    "comes into a batch. What a batch gives away shrinks about in proportion to it. That holds for such coins alone: "
    "batches of a fixed size, and shuffled data, are accounted for by laws of their own.",
    "person, user, user-level": "Whom the promise protects. One record counts as one person unless a column says "
    "whose it is: with 'add-remove(person=user_id)', neighbours differ in all records of one person.",
    "record": "One row, or one element, of a dataset. Whether it stands for a person, dpaudit cannot know: where one "
    "person has several, name the column, as in 'add-remove(person=user_id)'.",
    "clipping, clip": "Values, or gradients, are cut to a range or a norm before they are added up. Without a bound "
    "on them, no number says how far one record moves the sum, and no noise is enough.",
    "composition, budget, privacy budget": "What several releases from the same data give away together. Under pure "
    "ε, the ε add up; dpaudit account finds smaller sums, and proves them.",
    "design": "How recorded scores came about: a training run for every score (independent), or one model whose "
    "canaries were put in by fair coins (one-run). It decides which bound holds.",
    "canary, canaries": "A record whose coin decides whether it is in the training data, so that guesses of coins "
    "bound what the model gives away.",
    "domain": "What each column of the data may hold, as a schema says it and whatever the data hold: --domain "
    "'age=[0, 120]' is a range, '[\"a\", \"b\"]' a list, '[[0, 120], null]' a range with missing values. A proof is "
    "about all data of the domain; a limit that is taken from the data tells about them.",
    "laplace, laplace noise, scale": "Noise with density e^(−|x|/b)/(2b). With b = sensitivity / ε it keeps "
    "ε-differential privacy; 95 % of all draws lie within 3·b.",
    "gaussian, gaussian noise, sigma, σ": "Normal noise of standard deviation σ. It keeps no ε without a δ: with σ = "
    "sensitivity / μ it keeps μ-Gaussian differential privacy, and dpaudit account says which ε at which δ.",
    "accuracy, error, rmse": "How far answers lie from the exact one: what the promise costs. Estimated from runs; "
    "it decides nothing.",
    "scope": "What a proof is about: which data, which neighbours, which parameters. Nothing is said of others.",
    "digest": "A fingerprint (SHA-256) of data, source or evidence: the same digest, the same content.",
    "certificate": "The steps of a proof in a form that dpaudit check computes again, without running anything, and "
    "that others can check by docs/certificate.md.",
    "trace": "A few recorded runs, replayed on a neighbour: at which line something moves, what noise has to hide "
    "it, and what that costs. dpaudit trace makes one; audits of your own functions begin with it.",
    "sampled, exact": "Where a number comes from: sampled ones from runs, at a confidence; exact ones from a "
    "computation on one pair; proved ones from a certificate, for all data of a scope.",
    "power": "How surely an audit would have found a violation of a size, had there been one.",
    "baseline": "What each target of a gate lost when somebody last looked at it, in dpaudit-baseline.json: a change "
    "that loses more fails, even within the claim. --update-baseline writes it.",
    "accept, accepted": "A finding that a gate's configuration accepts, by rule, with a last day and a reason. It "
    "stands in every summary, and is no passed target.",
    "post-processing": "What is computed from released outputs alone. It loses nothing more, whatever it is.",
    "central, local": "Who is trusted. In the central model somebody holds all data, and adds noise to what is "
    "released; in the local model every person randomises their own answer.",
    "dp-sgd, training": "Training with noise: batches by coins, gradients clipped record by record, Gaussian noise "
    "on their sum. dpaudit train watches a loop for these facts, and bounds ε of what was seen.",
    "evidence": "The one frozen record of an audit, from which every report is drawn.",
}
"""Terms, each under all names that it is looked up by, between commas."""

"""Is this program private, for all data of one length? From a mechanism to a bound with its certificate.

The program is read symbolically, its classes are aligned, and concrete runs are compared with what was read. The
bound holds for its scope only: one length, one relation, the given parameters, exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.neighbours.relation import Relation, parse_relation
from dpaudit.program.agreement import Agreement, ComparedRuns, compare_at_random, compare_regions
from dpaudit.program.symbolic.linear import now
from dpaudit.program.symbolic.noise import queries, read
from dpaudit.program.symbolic.tree import ProgramTree
from dpaudit.reading.alone import Alone
from dpaudit.targets.mechanism import Mechanism, mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.alignment import AlignedClass, Alignment, align
from dpaudit.verify.certificate import VALUES, Scope, as_text, tree_certificate
from dpaudit.verify.values import Values, align_values, branches_on_data

MOST_LENGTH = 1_000


@dataclass(frozen=True)
class AlignmentProof:
    """The result of alignment for a mechanism."""

    name: str  # of the mechanism
    source: str  # the digest of its source, or the empty text
    scope: Scope  # what the bound holds for
    tree: ProgramTree  # all paths of the program
    alignment: Alignment  # all classes with their shifts
    agreement: Agreement  # what concrete runs of the program showed
    # code that can run and was not read, in words; the bound is proved only if there is none
    open_ends: tuple[str, ...] = ()
    # the program as a tree of what branches on data compute, where the paths themselves have no bound
    values: Values | None = None

    @property
    def bound(self) -> Fraction | None:
        """ε in nats, or None if alignment gives no finite bound (which refutes nothing)."""
        return self.alignment.bound if self.values is None else self.values.alignment.bound

    @property
    def worst(self) -> AlignedClass:
        """The class that costs most, with its worst difference; a search for a counterexample starts here."""
        return self.alignment.worst

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """The proof as plain data for JSON, which `dpaudit.checker` can check; None without a finite bound."""
        if self.bound is None:
            return None
        assert self.scope.length != "any", "a tree has one length"
        return tree_certificate(
            self.tree,
            self.alignment,
            self.values,
            name=self.name,
            source=self.source,
            length=self.scope.length,
            answers=self.scope.values,
            relation=self.scope.relation,
            parameters=self.scope.parameters,
        )


def prove_program(
    target: Mechanism | Callable[..., Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    length: int,
    relation: str | Relation | None = None,
    domain: str | None = None,
    runs: int = 100,
) -> AlignmentProof:
    """Bound the loss of a program for all answers of one length."""
    found = target if isinstance(target, Mechanism) else mechanism(target)
    if found.shape is not Shape.PROGRAM:
        raise UsageError(
            f"{found.name} is of the kind '{found.shape}': only a program, f(data, noise, **parameters), can be proved"
        )
    if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= MOST_LENGTH:
        raise UsageError(f"length is a whole number from 1 to {MOST_LENGTH:,}, not {length!r}")
    values = "real" if domain is None else domain
    if values not in VALUES:
        raise UsageError(f"domain is 'real' or 'integer', not {domain!r}")
    given = found.parameters_with(parameters)
    which = parse_relation(relation or found.relation_for(given) or "declared")
    if which.kind != "queries" or which.movement == "norm=2":
        raise UsageError(
            f"there are no proofs by alignment under the relation {str(which)!r}; say which answers move by "
            "relation='queries' (--relation queries: each by at most 1), 'queries(one)', 'queries(monotone)' or "
            "'queries(norm=1)'"
        )
    integer = values == "integer"
    now("reading it")
    alone, data = Alone(), queries(length, integer=integer)
    tree = read(alone.observed(found.function), data, given)
    live = [leaf for leaf in tree.leaves if not leaf.is_null]
    if all(leaf.output[0] == "exception" for leaf in live):
        raise UsageError(f"{found.name} raises in every run: {live[0].output[1]}")
    if not integer and any(draw.is_discrete for leaf in live for draw in leaf.draws):
        raise UsageError(
            f"{found.name} draws whole numbers, which hide nothing between real answers that differ by ½; "
            "give domain='integer' if the answers are whole numbers"
        )
    now("comparing runs with it")
    compared = ComparedRuns()
    compare_at_random(tree, found.function, given, length, compared, integer=integer, runs=runs)
    if runs and compared.disagreement is None:
        compare_regions(tree, found.function, data, given, compared)
    agreement = compared.agreement(len(live))
    if agreement.disagreement is not None:
        raise UsageError(f"{found.name} is read wrongly: {agreement.disagreement}; so nothing is proved of it")
    now("aligning its paths")
    scope = Scope(length, values, which, {name: as_text(value) for name, value in given.items()})
    digest = f"sha256:{found.digest}" if found.digest else ""
    open_ends = (*alone.open, *missed(agreement))
    derived = align_values(tree, which, length, integer=integer) if branches_on_data(tree) else None
    if derived is not None and derived.alignment.bound is None:
        derived = None
    alignment = align(tree, which, length, merging=derived is None)
    return AlignmentProof(found.name, digest, scope, tree, alignment, agreement, open_ends, derived)


def missed(agreement: Agreement) -> tuple[str, ...]:
    """Say how many paths no run could be compared with; nothing if there are none."""
    if not agreement.missed:
        return ()
    paths = "path" if agreement.missed == 1 else "paths"
    return (f"no run could be compared with {agreement.missed:,} {paths} of {agreement.paths:,}",)

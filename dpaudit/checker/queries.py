"""Which answers to queries does a certificate speak of, and how far do neighbours move them?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.certificate import MOST_GROUP, CertificateHead, Checked
from dpaudit.checker.reading import CertificateError, whole

MOST_LENGTH = 1_000
_SCOPE = {"data", "length", "values", "movement", "group", "parameters"}
_MOVED = {
    "all": "each query moves by at most {k}",
    "one": "one query moves by at most 1, {k} times",
    "monotone": "all queries move in one direction by at most 1, {k} times",
    "norm=1": "the queries move by at most {k} in sum",
}
_UNTOLD = "That the tree is the program is not checked here: only a run of the program can show it."


@dataclass(frozen=True, slots=True)
class Movement:
    """How the queries of neighbouring datasets differ."""

    name: str  # "all", "one", "monotone" or "norm=1"
    group: int  # how many steps
    integer: bool  # whether the data are whole numbers

    @property
    def summed(self) -> bool:
        """Whether the sum of all |differences| is limited, instead of each of them."""
        return self.name in ("one", "norm=1")

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The ranges of a query's difference; the box of each range is covered separately."""
        if self.name == "monotone":
            return [(up - self.group, up) for up in range(self.group + 1)]
        return [(-self.group, self.group)]


@dataclass(frozen=True, slots=True)
class QueryCertificate:
    """What a certificate of a mechanism on queries says besides its proof."""

    head: CertificateHead
    movement: Movement

    @classmethod
    def read(cls, given: dict[str, Any], body: set[str], optional: frozenset[str] = frozenset()) -> QueryCertificate:
        """Return the head of a certificate that has these fields besides."""
        head = CertificateHead.read(given, body, _SCOPE, optional)
        scope = head.scope
        for name, known in (("data", ("queries",)), ("values", ("real", "integer")), ("movement", tuple(_MOVED))):
            head.one_of(name, known)
        if head.kind == "tree":
            whole(scope["length"], "scope: the length", 1, MOST_LENGTH)
        elif scope["length"] != "any":
            raise CertificateError(f"scope: the length of a {head.kind} is 'any'")
        group = whole(scope["group"], "scope: the group", 1, MOST_GROUP)
        return cls(head, Movement(scope["movement"], group, scope["values"] == "integer"))

    def proved(self, bound: Fraction, sentences: list[str]) -> Checked:
        """Return what is proved, where shifts show the bound that is stated."""
        scope = self.head.scope
        length = "any number of" if scope["length"] == "any" else scope["length"]
        moved = _MOVED[self.movement.name].format(k=self.movement.group)
        holds = f"It holds for {length} queries, {scope['values']} numbers, where {moved}."
        return self.head.proved("shifts", bound, [holds, *sentences, _UNTOLD])

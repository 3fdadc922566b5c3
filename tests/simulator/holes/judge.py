"""Statements of the product held against the truth: which were judged, and which are false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from groupreplay.evidence.evidence_facts import EvidenceFact
from groupreplay.replay.facts import Fact
from tests.simulator.tables import Row


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement that is not so. rule: its name; said, so: the product's words and the truth's.

    subject: the member or epoch that the row is of.
    """

    rule: str
    group_id: str
    offset: int
    subject: str
    said: str
    so: str

    @property
    def place(self) -> tuple[str, str, int, str]:
        """The same for the same statement of a log that was cleaned otherwise."""
        return self.rule, self.group_id, self.offset, self.subject

    def __str__(self) -> str:
        place = f"{self.group_id} at {self.offset}, {self.subject}"
        return f"-- {self.rule}: {place}: says {self.said}; in truth {self.so}"


@dataclass(slots=True)
class Judge:
    """Collects what was judged. rows: kind -> facts; judged: rule -> statements."""

    rows: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def holds(
        self, rule: str, fact: Fact | EvidenceFact, is_so: bool, said: object, so: object
    ) -> bool:
        """One statement of a row, whether it is true."""
        self.judged[rule] += 1
        if not is_so:
            subject = str(getattr(fact, "member_id", getattr(fact, "epoch", "")))
            offset = fact.position if isinstance(fact, EvidenceFact) else fact.from_offset
            told = (fact.group_id, offset, subject, f"{said}", f"{so}")
            self.findings.append(Finding(rule, *told))
        return is_so

    def holds_row(self, rule: str, row: Row, is_so: bool, said: object, so: object) -> None:
        """The same of a row that a member has in a table."""
        self.judged[rule] += 1
        if not is_so:
            place = row["group_id"], row["from_offset"], row["member_id"]
            self.findings.append(Finding(rule, *place, f"{said}", f"{so}"))

    def equal(self, rule: str, fact: Fact, said: object, so: object) -> bool:
        """That a value is the true one."""
        return self.holds(rule, fact, said == so, said, so)

    def told(self) -> Iterator[str]:
        """One line a rule, and one of the rows."""
        false = Counter(finding.rule for finding in self.findings)
        for rule in sorted(self.judged | false):
            word = "BAD" if false[rule] else "ok "
            yield f"{word} {rule}: {self.judged[rule]} judged, {false[rule]} false"
        yield ", ".join(f"{count} {kind}" for kind, count in sorted(self.rows.items()))

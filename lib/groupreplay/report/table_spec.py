"""What the package knows of one table that a night publishes. `report.catalog` collects the specs;
each stands beside the function that builds its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import DataFrame

from groupreplay.report.table_inputs import TableInputs


class StagedFacts(NamedTuple):
    """Facts of a night.

    kinds: the kinds that are wanted.
    columns: the columns that are wanted, None: all columns of these kinds.
    """

    kinds: tuple[type[Any], ...]
    columns: frozenset[str] | None = None

    def of(self, kinds: Collection[type[Any]], columns: Collection[str] | None) -> StagedFacts:
        """Those of these kinds. columns: the columns that are wanted of them, None: as here."""
        return StagedFacts(tuple(kinds), self.columns if columns is None else frozenset(columns))


class Sentence(NamedTuple):
    """Three columns that say one thing.

    code: key of `report.words.sentences.SENTENCES`.
    params: MAP<STRING, STRING>, its parameters.
    text: the sentence.
    """

    code: str
    params: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """One published table. What its columns are is said by schemas/<name>.sql alone.

    name: name of the table.
    build: gives its rows, with the columns of the schema but those of its owner; computes nothing.

    What its rows come from; a night that has none of it skips a table that never had rows:
    facts: kinds of staged facts.
    evidence: kinds of facts of broker logs.
    raw: kinds of raw rows and of landed lines.
    is_built_always: it can have rows without any of these.

    What else it reads:
    beside: kinds of staged facts that give it no rows of their own.
    facts_with_evidence: read instead of `facts` and `beside` where there are broker logs.
    tables: tables of this night. It is built when they are committed.
    earlier: tables whose rows of earlier nights it reads, itself allowed. It waits for none of
        them.

    How its rows are stored:
    digest: what the hash of a row is made of, in this order: names of columns, or SQL over them.
        Do not change the digest of a released table without need: `runs` keeps sums of past nights,
        and sums of two versions cannot be compared. The columns in it are listed, so that a column
        that is added later changes no digest. Empty: the table has no digest,
        because it says something of runs and inputs, not of groups.
    are_rows_final: no row ever changes, though there is no column is_final.
    is_owned: a row is of one group, and has its team and contact.

    Which of its text columns can name a client, beyond `privacy.FIELDS` and `privacy.MEMBERS`:
    members: member ids, or arrays of them.
    identities: identities of processes, as `replay.decisions.identities` makes them; hidden part by
        part.
    sentences: what is said by code and parameters, and hidden by parameter.
    hosts: hosts or endpoints, or arrays of them; hidden as `client_host` is.
    assignors: names of assignors, or arrays of them; those that are not Kafka's own are left out.
    tags: maps of what a client says of itself; hidden, keys and values, where anything is.
    quotes: texts that clients or brokers wrote; shown where they are Kafka's own.
    faults: why bytes could not be decoded, in words of this package.
    clear: neither; a test asks that every text column is known.
    """

    name: str
    build: Callable[[TableInputs], DataFrame]
    facts: tuple[type[Any], ...] = ()
    evidence: tuple[type[Any], ...] = ()
    raw: frozenset[str] = frozenset()
    is_built_always: bool = False
    beside: tuple[type[Any], ...] = ()
    facts_with_evidence: StagedFacts | None = None
    tables: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    digest: tuple[str, ...] = ()
    are_rows_final: bool = False
    is_owned: bool = False
    members: frozenset[str] = frozenset()
    identities: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    assignors: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    sentences: tuple[Sentence, ...] = ()
    quotes: frozenset[str] = frozenset()
    faults: frozenset[str] = frozenset()
    clear: frozenset[str] = frozenset()

    @property
    def is_of_tables(self) -> bool:
        """It is made of other tables alone, and reads nothing that is in clear where they hide
        it.
        """
        return not (self.facts or self.evidence or self.raw or self.beside or self.is_built_always)

    @property
    def is_of_evidence(self) -> bool:
        """Its rows come from broker logs alone."""
        return bool(self.evidence) and not (self.facts or self.raw or self.is_built_always)

    def has_rows_of(self, kinds: Collection[str]) -> bool:
        """Whether facts, lines and raw rows of these kinds can give it rows."""
        own = {kind.KIND for kind in (*self.facts, *self.evidence)} | self.raw
        return self.is_built_always or not own.isdisjoint(kinds)

    def staged(self, *, with_evidence: bool) -> StagedFacts:
        """The facts that it reads.

        with_evidence: there are broker logs.
        """
        if with_evidence and self.facts_with_evidence is not None:
            return self.facts_with_evidence
        return StagedFacts((*self.facts, *self.beside))

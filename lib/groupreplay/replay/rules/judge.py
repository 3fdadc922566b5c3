"""Findings of one life -> rows of `anomalies`.

A broken rule is an `Anomaly` with the record that shows it; replay goes on. Checks are judged at
operation end, but for those of record order (I4, I5, I14; T1, T3, T4, T15, T18, T19). Where a hole
lies between a record and the one it is judged against, the check is suspended: what is missing may
explain it. The same holds for what the log's beginning cut off.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupreplay.replay.facts import Anomaly
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.rules.finding import Finding
from groupreplay.replay.rules.rule_table import OTHER_RULES, RULES


class Judge:
    """Writes down what the checks of one life find."""

    def __init__(self, life: Life, output: Output) -> None:
        self._life = life
        self._output = output

    def note(self, findings: Iterable[Finding]) -> None:
        """One anomaly a finding."""
        for rule_id, at, offset, code, params in findings:
            rule = RULES.get(rule_id) or OTHER_RULES[rule_id]
            self._output.emit(
                Anomaly(
                    **self._life.place,
                    from_offset=offset,
                    rule=rule.name,
                    severity=rule.severity,
                    detected_at=at,
                    evidence_offset=offset,
                    detail_code=code,
                    detail_names=list(params),
                    detail_values=list(params.values()),
                )
            )

    def note_negative(self, at: int, offset: int, what: str, ms: int) -> None:
        """A duration that ends before it begins: clocks of leaders differ.

        what: name of its column.
        ms: by how much.
        """
        params = {"what": what, "ms": str(ms)}
        self.note([Finding("NEGATIVE_DURATION", at, offset, "NEGATIVE", params)])

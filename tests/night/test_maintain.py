"""What evidence outlives its night."""

from __future__ import annotations

from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import BrokerSetting, Departure
from groupreplay.night.maintain import kept_evidence
from groupreplay.workers.evidence_slices import EVIDENCE, EvidenceState
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.support.fact_frames import frame_of


def test_states_and_the_newest_settings_of_brokers_stay(spark: SparkSession) -> None:
    def setting(value: str, at: int, broker: int = 1, name: str = "version") -> BrokerSetting:
        found: BrokerSetting = evidence(
            BrokerSetting, broker=broker, setting=name, value=value, occurred_at=at
        )
        return found

    nights = {
        date(2026, 11, 20): [
            *(setting("4.2.0", AT - 1), setting("old", AT - 1, name="x")),
            *(setting("4.1.0", AT - 2, broker=2), evidence(Departure)),
            EvidenceState(subject="g1", state_bytes=b"older"),
            EvidenceState(subject="g2", state_bytes=b"lives"),
        ],
        date(2026, 11, 21): [
            setting("4.3.0", AT),
            EvidenceState(subject="g1", state_bytes=b"newer"),
        ],
    }
    frames = [
        frame_of(spark, EVIDENCE, facts).withColumn("logical_date", sf.lit(night))
        for night, facts in nights.items()
    ]
    old = frames[0].unionByName(frames[1])
    kept = kept_evidence(old)
    assert kept.columns == old.columns
    assert sorted(
        (row.broker or 0, row.subject or row.setting, row.value or bytes(row.state_bytes).decode())
        for row in kept.collect()
    ) == [
        (0, "g1", "newer"),
        (0, "g2", "lives"),
        (1, "version", "4.3.0"),
        (1, "x", "old"),
        (2, "version", "4.1.0"),
    ]

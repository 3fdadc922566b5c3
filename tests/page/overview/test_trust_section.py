"""What the night could not show."""

from __future__ import annotations

from dataclasses import replace

from groupreplay.page.model.fleet import BrokenRule, Seen, UndecodedReason
from groupreplay.page.overview.trust_section import trust
from tests.support.page_rows import made_fleet

NIGHT = replace(made_fleet(3), seen=Seen(), broken_rules=(), undecoded=())


def test_a_night_without_holes_or_logs_of_brokers_says_what_cannot_be_seen() -> None:
    text = str(trust(NIGHT))
    assert "No offset is missing." in text
    assert "No logs of brokers were read" in text
    assert "No rule of the protocol was broken." in text
    for word in ("came late", "leaves out", "Not decoded"):
        assert word not in text


def test_what_is_missing_is_counted() -> None:
    seen = replace(Seen(), holes=2, texts=1, late=3, left_out=4, unseen=("SLOW_REVOCATION",))
    text = str(trust(replace(NIGHT, seen=seen)))
    assert "2 offsets are missing" in text
    assert "Logs of brokers were read too" in text
    assert "3 records came late; rebuild_nights counts them." in text
    assert "4 rows are of groups that the configuration leaves out." in text
    assert "No source could show 1 reason: SLOW_REVOCATION." in text


def test_each_rule_and_each_reason_has_a_line() -> None:
    rule = BrokenRule(rule="I4_EPOCH_NEXT", severity="ERROR", times=3, groups=1)
    reason = UndecodedReason(reason="<b>", rows=2)
    text = str(trust(replace(NIGHT, broken_rules=(rule,), undecoded=(reason,))))
    assert "ERROR: rule I4_EPOCH_NEXT was broken 3 times in 1 group." in text
    assert "Not decoded: &lt;b&gt;, 2 rows." in text
    assert "No rule of the protocol was broken." not in text

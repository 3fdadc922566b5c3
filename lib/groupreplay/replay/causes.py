"""Why an epoch began, how sure that is, and what a removal shows: the values of `group_epochs` and
`revocation_latencies`. Source of the rules: docs/measures.md, Epochs and Hand-overs.
"""

from __future__ import annotations

from groupreplay.replay.life import Member

JOIN = "JOIN"
LEFT_OR_FENCED = "LEFT_OR_FENCED"
STATIC_REPLACED = "STATIC_REPLACED"
SUBSCRIPTION = "SUBSCRIPTION"
REGEX = "REGEX"
ASSIGNOR = "ASSIGNOR"
TOPIC_METADATA = "TOPIC_METADATA"
UPGRADE = "UPGRADE"
DOWNGRADE = "DOWNGRADE"
UNKNOWN_CAUSE = "UNKNOWN"

EXACT = "EXACT"
INFERRED = "INFERRED"
NONE = "NONE"

STORM_CAUSES = frozenset({SUBSCRIPTION, REGEX, ASSIGNOR, TOPIC_METADATA})
"""Causes of an epoch storm: not members that come and go, which is what epochs are for."""

FENCE_SLACK_MS = 50
"""A rebalance timer is armed some ms before the K8 that shows it is stamped, so a fence can come so
much sooner than its timeout.
"""


def only(member_ids: list[str]) -> str | None:
    """The member that an epoch is due to; None where it is due to several."""
    return member_ids[0] if len(member_ids) == 1 else None


def removal_outcome(member: Member, at: int) -> str:
    """FENCED where the removed member's rebalance timer had run out, else LEFT_OR_FENCED: the
    topic cannot show which.
    """
    timeouts = [row.timeout_ms for row in member.requests.values() if row.timeout_ms is not None]
    if timeouts and at - member.revoking_since >= timeouts[0] - FENCE_SLACK_MS:
        return "FENCED"
    return LEFT_OR_FENCED

"""What a person reads of what can be decided, at the end of a run. Pure."""

from __future__ import annotations

from groupreplay.report.summary.decisions_model import CostlyWave, Decisions, FlipGroup, WorstGroup
from groupreplay.report.summary.words import count, lasted, printable, team, time


def decision_lines(decisions: Decisions) -> list[str]:
    """No lines where there is nothing to decide."""
    if decisions == Decisions():
        return []
    lines = [_title(decisions), *map(_flip_line, decisions.flips)]
    if decisions.wave is not None:
        lines.append(_wave_line(decisions.wave))
    if decisions.worst is not None:
        lines.append(_worst_line(decisions.worst))
    return lines


def _title(decisions: Decisions) -> str:
    groups = {each.flip_tier: each.groups for each in decisions.tiers}
    title = f"DECISIONS: {count(groups.get(1, 0) + groups.get(2, 0), 'group')} can be flipped"
    title += " to the consumer protocol tonight"
    if groups.get(3):
        title += f", {groups[3]:,} after their canaries"
    if groups.get(0):
        title += f", {groups[0]:,} while offline"
    return title


def _flip_line(group: FlipGroup) -> str:
    why = "proven by its like" if group.flip_tier == 1 else "a canary"
    size = "" if group.partitions is None else f", {count(group.partitions, 'partition')}"
    suggested = group.suggested_assignor
    assignor = "" if suggested is None else f", to {printable(suggested, 20)}"
    look_at = f"; look at {', '.join(group.look_at)}" if group.look_at else ""
    who = f"{printable(group.group_id, 40)}{team(group.team)}"
    return f"  flip {who}: {why}{size}{assignor}{look_at}"


def _wave_line(wave: CostlyWave) -> str:
    about = "about" if wave.is_estimate else "at least"
    moved = "" if wave.moved is None else f", {wave.moved:,} moved"
    return (
        f"  costliest wave: {printable(wave.group_id, 40)}{team(wave.team)}, {wave.wave_class} at"
        f" {time(wave.started_at_ms)}, {wave.departed:,} out and {wave.joined:,} in{moved};"
        f" stopped for {about} {lasted(wave.stopped_ms)} in all"
    )


def _worst_line(group: WorstGroup) -> str:
    least = "" if group.least_pct is None else f"{group.least_pct:.2f} to "
    most = "at most " if group.least_pct is None else ""
    who = f"{printable(group.group_id, 40)}{team(group.team)}"
    read = f"its partitions were read {most}{least}{group.most_pct:.2f} % of the time"
    return f"  worst group: {who}, {read}"

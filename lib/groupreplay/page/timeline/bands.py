"""Bands between epochs and lanes: days where several are shown, waves of joins and departures,
requests that were refused, and what days cost. Each is there where it has something to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.markup import Safe, el, percent, plain_name
from groupreplay.page.model.life import Failover, GroupDay, GroupLife, GroupWave, Refusal
from groupreplay.page.model.rows import LifeKey
from groupreplay.page.timeline.axis import WIDTHS, Axis
from groupreplay.page.timeline.epoch_marks import known_lives
from groupreplay.page.timeline.places import BAND, mark

_MOST_BARS: Final = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """label: inside it, where it has room; "" for none."""

    from_ms: int
    to_ms: int
    say: str
    cls: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """bars: bars that are drawn.
    found: how many bars there are, drawn or not.
    """

    name: str
    axis: Axis
    bars: Sequence[Bar]
    found: int

    def marks(self, y: float) -> list[Safe]:
        """y: where the band begins, in px."""
        drawn = []
        for bar in self.bars:
            x, end = self.axis(bar.from_ms), self.axis(bar.to_ms)
            width = max(end - x, 0.15)
            box = el(
                "rect", x=percent(x), width=percent(width), y=y + 4, height=BAND - 8, cls=bar.cls
            )
            need = 8 + 6.1 * len(bar.label)
            level = next((k for k, wide in enumerate(WIDTHS) if width * wide / 100 > need), None)
            text = (
                el("text", bar.label, x=percent(x), dx=4, y=y + 15, cls=f"blab v{max(level, 1)}")
                if level is not None and bar.label
                else None
            )
            drawn.append(mark(bar.say, box, text))
        return drawn


def bands_of(life: GroupLife, axis: Axis) -> list[Band]:
    lives = known_lives(life)
    found = (
        ("days", _days(axis)),
        ("readiness", _verdict(life)),
        ("moves of broker", [_failover(each) for each in life.failovers]),
        ("waves", [_wave(each) for each in life.waves]),
        ("refused", [_refusal(each) for each in life.refusals]),
        ("not read", [_day(each, lives) for each in life.days if each.low_ms]),
    )
    bands = []
    for name, bars in found:
        seen = [bar for bar in bars if bar.to_ms >= axis.from_ms and bar.from_ms <= axis.to_ms]
        longest = sorted(seen, key=lambda bar: bar.from_ms - bar.to_ms)[:_MOST_BARS]
        if seen:
            drawn = sorted(longest, key=lambda bar: (bar.from_ms, bar.to_ms))
            bands.append(Band(name, axis, drawn, len(seen)))
    return bands


_SHORT_MS: Final = 36 * 3_600_000
"""A night: in less than that each time of day is there once, or nearly so."""

_DAY_MS: Final = 86_400_000


def _days(axis: Axis) -> list[Bar]:
    """Which day it is, wherever something happened: ticks say the time of day alone."""
    if axis.to_ms - axis.from_ms < _SHORT_MS:
        return []
    days: dict[int, tuple[int, int]] = {}
    for stretch in axis.stretches:
        for day in range(stretch.from_ms // _DAY_MS, (stretch.to_ms - 1) // _DAY_MS + 1):
            begin, _ = days.get(day, (max(stretch.from_ms, day * _DAY_MS), 0))
            days[day] = begin, min(stretch.to_ms, (day + 1) * _DAY_MS)
    named = [(begin, end, w.day_of(begin)) for begin, end in days.values()]
    return [Bar(begin, end, f"{day}, UTC", "day", day) for begin, end, day in named]


def _verdict(life: GroupLife) -> list[Bar]:
    """Over the time for which the group was watched, on which the verdict rests."""
    verdict = life.verdict
    if verdict is None or verdict.verdict == "NOT_APPLICABLE":
        return []
    word = w.word(w.VERDICT, verdict.verdict)
    rules = [f"{rule} ({severity})" for rule, severity, _ in verdict.rules]
    watched = verdict.observed_ms
    begin = life.as_of_ms - (watched or 0)
    since = "not known for how long" if watched is None else f"for {w.lasted(watched)}"
    say = (
        f"readiness: {word} ({verdict.verdict}), watched {since} without a hole"
        + (f"; {', '.join(rules[:6])}" if rules else "; no rule fired")
        + (f" and {len(rules) - 6} more" if len(rules) > 6 else "")
    )
    looks = {"READY": "flips", "READY_OFFLINE": "flips", "WARN": "flips", "BLOCKED": "wave bad"}
    cls = looks.get(verdict.verdict, "day")
    return [Bar(begin, life.as_of_ms, say, cls, word)]


def _failover(each: Failover) -> Bar:
    during = w.word(w.DURING, each.phase)
    where = "" if each.broker is None else f" to broker {each.broker}"
    after = (
        ""
        if each.epochs_after is None
        else f"; within a minute {w.some(each.epochs_after, 'epoch')} began"
    )
    moved = "" if each.moved_after is None else f", {w.some(each.moved_after, 'partition')} moved"
    say = (
        f"the coordinator moved{where} (leader epoch {each.leader_epoch_before} to"
        f" {each.leader_epoch}) between {w.when(each.last_at_ms)} and"
        f" {w.at(each.first_at_ms)}, while the group was {during} ({each.phase}){after}{moved}"
    )
    return Bar(each.last_at_ms, each.first_at_ms, say, "failover", during)


def _wave(each: GroupWave) -> Bar:
    wave = w.word(w.WAVE, each.wave)
    end = max(each.settled_at_ms or 0, each.ended_at_ms)
    moved = "" if each.moved is None else f", {w.some(each.moved, 'partition')} moved"
    about = "about" if each.is_estimate else "at least"
    stopped = (
        ""
        if each.stopped_ms is None
        else f", stopped for {about} {w.lasted(each.stopped_ms)} together"
    )
    say = (
        f"{wave} ({each.wave}) from {w.when(each.started_at_ms)} to {w.at(each.ended_at_ms)}:"
        f" {w.n(each.departed)} out, {w.n(each.joined)} in{moved}{stopped}"
    )
    bad = each.wave in ("CRASH", "FLAPPING", "POLL_TIMEOUT")
    return Bar(each.started_at_ms, end, say, "wave bad" if bad else "wave", wave)


def _refusal(each: Refusal) -> Bar:
    who = plain_name(each.client_id or each.subject or "everybody")
    say = (
        f"{who} was refused {w.some(each.attempts, 'time')}: {each.refusal} ({each.api}), from"
        f" {w.when(each.first_at_ms)} to {w.at(each.last_at_ms)}"
    )
    return Bar(each.first_at_ms, each.last_at_ms, say, "refused")


def _day(each: GroupDay, lives: Sequence[LifeKey]) -> Bar:
    lasted = w.lasted(each.low_ms)
    lasted = f"at least {lasted}" if each.high_unknown else f"{lasted} to {w.lasted(each.high_ms)}"
    which = f" (life {lives.index(each.life) + 1} of {len(lives)})" if len(lives) > 1 else ""
    say = (
        f"{each.day}{which}: partitions were not read for {lasted} together, read"
        f" {w.availability(each.availability_most_pct)} of the time at most,"
        f" {w.some(each.epochs, 'rebalance')}"
    )
    return Bar(each.from_at_ms, each.to_at_ms, say, "day", lasted)

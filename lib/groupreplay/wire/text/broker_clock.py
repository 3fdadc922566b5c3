"""Readings of a broker's clock to ms since the epoch, UTC."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

STEP_BACK_MS = 10_000
"""So far back within the hour that comes twice means its second pass; less is the disorder of
threads that write at once.
"""
_FAR_MS = 12 * 3_600_000
_EPOCH = datetime(1970, 1, 1)


class BrokerClock:
    """The clock of one broker while one file of its log is read, line after line.

    The hour that comes twice when daylight saving ends: lines are of the first pass until they step
    back by more than `STEP_BACK_MS`, then of the second until the hour is over. A file that begins
    within the second pass, or has no line in the first, is taken for the first: an hour early, and
    nothing in the text says so. The hour that never comes (a clock that was not set) is read with
    the offset from before it.
    """

    def __init__(self, timezone: str) -> None:
        """timezone: IANA name. Raises ValueError with one sentence if there is no such zone."""
        try:
            self._zone = ZoneInfo(timezone)
        except (KeyError, ValueError, OSError):
            raise ValueError(
                f"There is no time zone {timezone!r}: a name of the IANA database is wanted, such"
                " as Europe/Berlin or UTC."
            ) from None
        self._second = -1
        self._offset_ms = 0
        self._twice = False
        self._second_pass = False
        self._latest_ms: int | None = None

    def to_ms(self, local_s: int, millis: int, offset_s: int | None = None) -> int:
        """local_s: the reading as if it were UTC, s since the epoch.
        offset_s: east of UTC, where the line says so: it wins.
        """
        if offset_s is not None:
            return (local_s - offset_s) * 1000 + millis
        local_ms = local_s * 1000 + millis
        if local_s != self._second or self._twice:
            self._look(local_s, local_ms)
        return local_ms - self._offset_ms

    def resume(self, at_ms: int) -> None:
        """Goes on where an earlier reading of the file stopped.

        at_ms: time of its last line, ms since the epoch, UTC; below 0: there was none.
        """
        if at_ms < 0:
            return
        local = datetime.fromtimestamp(at_ms / 1000, self._zone)
        self._look(
            int((local.replace(tzinfo=None) - _EPOCH).total_seconds()), at_ms + _offset_ms(local)
        )
        if self._twice and local.fold:
            self._second_pass, self._offset_ms = True, _offset_ms(local)

    def _look(self, local_s: int, local_ms: int) -> None:
        first_ms, second_ms = self._offsets_ms(local_s)
        self._second = local_s
        self._twice = first_ms > second_ms
        latest_ms = self._latest_ms
        if not self._twice:
            if latest_ms is not None and not self._has_just_ended(local_s):
                self._latest_ms, self._second_pass = None, False
        elif latest_ms is None or abs(local_ms - latest_ms) >= _FAR_MS:
            self._latest_ms, self._second_pass = local_ms, False
        elif local_ms < latest_ms - STEP_BACK_MS:
            self._latest_ms, self._second_pass = local_ms, True
        else:
            self._latest_ms = max(latest_ms, local_ms)
        self._offset_ms = second_ms if self._twice and self._second_pass else first_ms

    def _has_just_ended(self, local_s: int) -> bool:
        """Whether lines of the hour that came twice can still follow."""
        first_ms, second_ms = self._offsets_ms(local_s - STEP_BACK_MS // 1000)
        return first_ms > second_ms

    def _offsets_ms(self, local_s: int) -> tuple[int, int]:
        """East of UTC, of the first and of the second time that a clock shows this."""
        try:
            local = (_EPOCH + timedelta(seconds=local_s)).replace(tzinfo=self._zone)
            return _offset_ms(local), _offset_ms(local.replace(fold=1))
        except OverflowError:
            return self._offset_ms, self._offset_ms


def _offset_ms(local: datetime) -> int:
    offset = local.utcoffset()
    return int(offset.total_seconds() * 1000) if offset is not None else 0

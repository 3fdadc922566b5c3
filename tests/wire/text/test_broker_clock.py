"""A broker's clock over the changes of daylight saving, and read on from where a night stopped."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from groupreplay.wire.text.broker_clock import BrokerClock


def read(clock: BrokerClock, *times: str) -> list[str]:
    """Local times of one file, in its order, as UTC."""
    found = []
    for one in times:
        local = datetime.fromisoformat(one).replace(tzinfo=UTC)
        ms = clock.to_ms(int(local.timestamp()), local.microsecond // 1000)
        found.append(datetime.fromtimestamp(ms / 1000, UTC).strftime("%d %H:%M:%S"))
    return found


def test_local_time_is_made_utc() -> None:
    assert read(BrokerClock("Europe/Berlin"), "2026-07-01T12:00:00", "2026-12-01T12:00:00") == [
        "01 10:00:00",
        "01 11:00:00",
    ]
    assert BrokerClock("Europe/Berlin").to_ms(1000, 5, 0) == 1_000_005
    assert BrokerClock("Europe/Berlin").to_ms(4600, 5, 3600) == 1_000_005


def test_the_hour_that_comes_twice() -> None:
    times = [
        "2026-10-25T01:59:59",
        "2026-10-25T02:00:01",
        "2026-10-25T02:59:58",
        "2026-10-25T02:59:55",
        "2026-10-25T02:00:00",
        "2026-10-25T02:30:00",
    ]
    expected = [
        "24 23:59:59",
        "25 00:00:01",
        "25 00:59:58",
        "25 00:59:55",
        "25 01:00:00",
        "25 01:30:00",
    ]
    clock = BrokerClock("Europe/Berlin")
    assert read(clock, *times) == expected
    assert read(clock, "2026-10-25T03:00:00", "2026-10-25T02:59:59.999", "2026-10-25T03:00:11") == [
        "25 02:00:00",
        "25 01:59:59",
        "25 02:00:11",
    ]
    assert read(clock, *times) == expected, (
        "the next file of the same night begins with the first pass"
    )


def test_the_hour_that_comes_twice_is_its_first_pass_until_the_clock_steps_back() -> None:
    assert read(BrokerClock("America/New_York"), "2026-11-01T01:10:00", "2026-11-01T01:50:00", "2026-11-01T01:20:00") == [
        "01 05:10:00", "01 05:50:00", "01 06:20:00",
    ]  # fmt: skip
    assert read(
        BrokerClock("Australia/Lord_Howe"), "2026-04-05T01:45:00", "2026-04-05T01:31:00"
    ) == ["04 14:45:00", "04 15:01:00"]


def test_an_hour_that_never_comes_goes_on_from_before_it() -> None:
    assert read(BrokerClock("Europe/Berlin"), "2026-03-29T01:59:59", "2026-03-29T02:30:00", "2026-03-29T03:00:00") == [
        "29 00:59:59", "29 01:30:00", "29 01:00:00",
    ]  # fmt: skip


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "../../etc/passwd", "CEST?"])
def test_an_unknown_zone_is_refused(timezone: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        BrokerClock(timezone)


def test_a_clock_goes_on_where_an_earlier_reading_stopped() -> None:
    times = [
        "2026-10-25T02:10:00",
        "2026-10-25T02:50:00",
        "2026-10-25T02:05:00",
        "2026-10-25T02:40:00",
        "2026-10-25T03:10:00",
    ]
    whole = read(BrokerClock("Europe/Berlin"), *times)
    for cut in range(1, len(times)):
        clock = BrokerClock("Europe/Berlin")
        clock.resume(
            int(
                datetime.strptime(
                    f"2026 10 {whole[cut - 1]} +0000", "%Y %m %d %H:%M:%S %z"
                ).timestamp()
                * 1000
            )
        )
        assert read(clock, *times[cut:]) == whole[cut:]

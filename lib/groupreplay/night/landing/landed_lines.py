"""What the files of one run add to what was landed of brokers' logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

from groupreplay.night.landing.landed import LinesLanding
from groupreplay.sources.watermark import TextWatermark
from groupreplay.wire.byte_stream import UNREADABLE

FORGOTTEN_AFTER: Final = timedelta(days=30)
"""A log that was not there for so long does not come back, and how far it was read need not be
known.
"""


def after_look(before: LinesLanding, identities: Iterable[str], logical_date: date) -> LinesLanding:
    """After these logs were there on a night, whether or not there was news in them. A log that was
    not there for FORGOTTEN_AFTER is dropped.
    """
    there, night = set(identities), logical_date.isoformat()
    oldest = (logical_date - FORGOTTEN_AFTER).isoformat()
    watermarks = {
        identity: replace(each, last_seen=max(each.last_seen, night)) if identity in there else each
        for identity, each in before.watermarks.items()
        if identity in there or each.last_seen >= oldest
    }
    return replace(before, watermarks=watermarks)


def after_files(
    before: LinesLanding, stretches: Iterable[Mapping[str, Any]], logical_date: date
) -> LinesLanding:
    """After stretches of files were read.

    stretches: `counts` of their rows of kind `file`.
    """
    watermarks, read = dict(before.watermarks), set[str]()
    for stretch in stretches:
        identity = stretch["identity"]
        if not identity:
            continue
        known = watermarks.get(identity, TextWatermark(0, size=0, last_seen=""))
        # One stretch of a file that could not be read makes all of it be read again.
        is_again = (stretch["failure"] or "").startswith(UNREADABLE) or (
            identity in read and known.size < 0
        )
        read.add(identity)
        watermarks[identity] = TextWatermark(
            max(known.next_position, stretch["next_position"] or 0),
            newest_ms=max(known.newest_ms, stretch["last_ms"]),
            size=-1 if is_again else stretch["size"],
            last_seen=max(known.last_seen, logical_date.isoformat()),
        )
    return replace(before, watermarks=watermarks)

"""A small log that nothing is reduced of."""

from __future__ import annotations

from tests.wire import encode

TS = 1_700_000_000_000


def log(batches: int = 5, per_batch: int = 3, first: int = 0, **more: object) -> list[bytes]:
    """Batches of K3 records of one group each: nothing of them is reduced."""
    return [
        encode.batch(
            first + number * per_batch,
            [encode.epoch(f"g{number}", one) for one in range(per_batch)],
            ts=TS + number,
            **more,  # type: ignore[arg-type]
        )
        for number in range(batches)
    ]

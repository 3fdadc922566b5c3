"""Fetches Kafka's jars for tests, and compiles and archives the simulator, before the tests ask for them.

    python -m tests.support.fetch_jars

`make test` runs this beside the set-up and the lint: each waits for what the other does not. What
cannot be had is said in a line, and then by the tests that need it: this never fails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from tests.simulator.simulate import VERSIONS, archived
from tests.support.broker import broker_jars

AT_ONCE: Final = 2
"""Each fetches for half a minute, which waits for the network, and then compiles."""


def main() -> None:
    wanted: list[Callable[[], object]] = [broker_jars]
    wanted += [partial(archived, version) for version in VERSIONS]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for error in filter(None, threads.map(_failure, wanted)):
            sys.stdout.write(f"tests of brokers and of the simulator may fail: {error}\n")


def _failure(fetch: Callable[[], object]) -> Exception | None:
    try:
        fetch()
    except (RuntimeError, OSError) as error:
        return error
    return None


if __name__ == "__main__":
    main()

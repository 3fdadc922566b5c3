"""Fetches Kafka's jars for tests, and compiles and archives the simulator, before the tests ask for them.

    python -m tests.support.fetch_jars

`make test` runs this beside the set-up and the lint: each waits for what the other does not. What
cannot be had is said in a line, and then by the tests that need it: this never fails.
"""

from __future__ import annotations

import sys

from tests.simulator.simulate import VERSIONS, archived
from tests.support.broker import broker_jars


def main() -> None:
    try:
        broker_jars()
        for version in VERSIONS:
            archived(version)
    except (RuntimeError, OSError) as error:
        sys.stdout.write(f"tests of brokers and of the simulator may fail: {error}\n")


if __name__ == "__main__":
    main()

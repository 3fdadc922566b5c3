"""What jobs that tests start as processes of their own run in."""

from __future__ import annotations

import os

from groupreplay.compiled_core import VARIABLE


def as_a_user_has_it() -> dict[str, str]:
    """The environment without what the suite itself is run with: a job takes the compiled core
    where there is one of these sources.
    """
    return {name: value for name, value in os.environ.items() if name != VARIABLE}

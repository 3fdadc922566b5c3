"""What of a configuration may be shown: everything but secrets, which stand there as references to
the environment, and sometimes by mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "(hidden)"

_SECRET: Final = re.compile(
    r"(?i)secret|password|passphrase|token|access[._]?key|private[._]?key|credential|jaas|salt|sasl"
)
"""Keys whose value is one; Spark's own redaction has most of them."""

_REFERENCE: Final = re.compile(r"\$\{env:[^}]*\}")
_USER_OF_URI: Final = re.compile(r"//[^/@]*@")


def shown(tree: Mapping[str, Any]) -> str:
    """The tree as JSON: what a key that names a secret holds is hidden unless it is a reference,
    and so are users and passwords in URIs.
    """
    return json.dumps(
        _shown(tree, is_secret=False), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


def _shown(value: Any, *, is_secret: bool) -> Any:
    if isinstance(value, dict):
        return {
            key: _shown(each, is_secret=is_secret or bool(_SECRET.search(key)))
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_shown(each, is_secret=is_secret) for each in value]
    if is_secret and value is not None:
        return value if isinstance(value, str) and _REFERENCE.fullmatch(value) else HIDDEN
    return _USER_OF_URI.sub(f"//{HIDDEN}@", value) if isinstance(value, str) else value

"""What a rule is, and how bad it is to break one."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = "ERROR"
WARN = "WARN"
INFO = "INFO"


@dataclass(frozen=True, slots=True)
class Rule:
    """name: value of anomalies.rule.
    exceptions: where it need not hold, by broker version.
    """

    name: str
    severity: str
    meaning: str
    exceptions: str = ""

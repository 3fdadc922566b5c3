"""Which rows of a table a commit replaces, by partition columns: as a condition of SQL, and held
against what Delta's log says of a data file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows of one cluster.

    night: None for rows of all nights.
    with_open: also rows of other nights that are not final; the table has a column `is_final`.
    before: only rows of nights before this one, None for no such limit.
    kinds: only rows of these kinds, None for all; the table has a column `kind`.
    """

    cluster: str
    night: date | None = None
    with_open: bool = False
    before: date | None = None
    kinds: tuple[str, ...] | None = None

    @property
    def sql(self) -> str:
        """The range as a condition over partition columns."""
        parts = [f"cluster = '{self.cluster}'"]
        if self.night is not None:
            of_night = f"logical_date = DATE'{self.night}'"
            parts.append(f"(NOT is_final OR {of_night})" if self.with_open else of_night)
        if self.before is not None:
            parts.append(f"logical_date < DATE'{self.before}'")
        if self.kinds is not None:
            parts.append(f"kind IN ({', '.join(map(repr, self.kinds))})")
        return " AND ".join(parts)

    def holds(self, values: Mapping[str, str | None]) -> bool:
        """Whether the rows of a data file are in the range.

        values: its partition columns, as the log has them: dates as YYYY-MM-DD, booleans as `true`
            and `false`.
        """
        if values["cluster"] != self.cluster:
            return False
        # Dates of four digits: their letters have the order of the days.
        day = values.get("logical_date") or ""
        is_open = self.with_open and values["is_final"] == "false"
        return (
            (self.night is None or day == str(self.night) or is_open)
            and (self.before is None or day < str(self.before))
            and (self.kinds is None or values["kind"] in self.kinds)
        )

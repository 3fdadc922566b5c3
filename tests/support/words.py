"""The words of one form: what the makers of records take them from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Form = Mapping[str, Any]


class FormError(ValueError):
    """A form, or a directive, that nothing can be made of."""


class Words:
    """The words of one form, each taken once; what is left over is an error."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._left = dict(form)

    def take(self, name: str, default: Any = None) -> Any:
        return self._left.pop(name, default)

    def finish(self) -> None:
        if self._left:
            raise FormError(f"{self._form}: unknown {', '.join(map(repr, self._left))}")

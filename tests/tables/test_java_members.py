"""Static members of classes of Java, each looked up once."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from groupreplay.tables import java_members
from groupreplay.tables.java_members import look_up_once


class JavaClass:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> str:
        if name == "missing":
            raise AttributeError(name)
        self.asked.append(name)
        return name.upper()


class Session:
    """What PySpark has of Java."""

    def __init__(self) -> None:
        self._jvm = type("Jvm", (), {})()
        self.classes = {name: JavaClass() for name in java_members._CLASSES}
        for name, each in self.classes.items():
            setattr(self._jvm, name, each)


def looked_up(session: Session) -> Any:
    look_up_once(cast(SparkSession, session))
    return session._jvm.functions


def test_a_member_is_asked_for_once() -> None:
    session = Session()
    functions = looked_up(session)
    assert [functions.col, functions.col, functions.lit] == ["COL", "COL", "LIT"]
    assert session.classes["functions"].asked == ["col", "lit"]


def test_a_session_that_was_changed_already_stays_as_it_is() -> None:
    session = Session()
    first = looked_up(session)
    assert looked_up(session) is first


def test_what_java_lacks_is_lacking() -> None:
    with pytest.raises(AttributeError):
        looked_up(Session()).missing  # noqa: B018


def test_where_the_shortcut_is_off_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_members, "is_on", lambda _: False)
    session = Session()
    assert looked_up(session) is session.classes["functions"]

"""A shortcut: PySpark's functions, without a look-up in Java at every call.

PySpark asks Java at every call of a function which class has it, and whether it has it: two calls
more, some thousands of them in a night. For a class that it names without its package, Java looks
through all jars for each package that it may be of. This module reaches into PySpark's `_jvm`,
whose attributes it replaces by proxies that keep what they found.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import SparkSession

from groupreplay.shortcuts import JAVA_MEMBERS, is_on

_CLASSES: Final = ("org.apache.spark.sql.functions", "functions", "PythonUtils", "PythonSQLUtils")


class _Members:
    """A class of Java that is asked once for each of its static members, and not at every call."""

    def __init__(self, java_class: Any) -> None:
        self._class = java_class

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._class, name)
        setattr(self, name, member)
        return member


def look_up_once(spark: SparkSession) -> None:
    """For all that this process asks from here on."""
    for name in _CLASSES if is_on(JAVA_MEMBERS) else ():
        if not isinstance(known := getattr(spark._jvm, name), _Members):
            setattr(spark._jvm, name, _Members(known))

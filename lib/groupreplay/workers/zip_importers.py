"""A shortcut: tasks that do not read the listings of zip files again.

Before each task PySpark has every importer forget what it knows (`setup_spark_files`). One of a zip
file then reads the whole listing again, and there is one for every package inside of pyspark.zip: a
sixth of a second of CPU time a task. It reaches into Python's `sys.path_importer_cache`.
"""

from __future__ import annotations

import sys
from zipimport import zipimporter

from groupreplay.shortcuts import ZIP_IMPORTERS, is_on


def forget_zips() -> None:
    """After a task. An import makes an importer of its own, from the listing that `zipimport`
    keeps.
    """
    if not is_on(ZIP_IMPORTERS):
        return
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimporter):
            del sys.path_importer_cache[path]

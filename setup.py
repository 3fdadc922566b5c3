"""Packaging of groupreplay: the code is in lib/, jobs are scripts and are not packaged.

A cluster brings Spark, Delta, pandas and pyarrow itself, so they are no hard dependencies; the
extra `local` pins what was tested, `constraints.txt` pins everything below it.
"""

import re
from pathlib import Path

from setuptools import Distribution, find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(
    r'__version__ = "(.+)"', (HERE / "lib/groupreplay/__init__.py").read_text(encoding="utf-8")
)
assert VERSION is not None

COMPILED = (HERE / "lib/groupreplay/_compiled").is_dir()
"""`make compiled` puts the compiled core there, in a copy of this folder."""


class OfItsPlatform(Distribution):
    def has_ext_modules(self) -> bool:
        return COMPILED


setup(
    name="groupreplay",
    distclass=OfItsPlatform,
    version=VERSION.group(1),
    description="Replays Kafka's group coordinators from their logs into Delta tables: who"
    " migrates to the consumer protocol, who hands partitions over how fast, who is stuck",
    license="Apache-2.0",
    python_requires=">=3.11",
    package_dir={"": "lib"},
    packages=find_packages("lib"),
    package_data={
        "groupreplay": [
            *("py.typed", "_schemas/*.sql", "_schemas/views/*.sql", "_base.yaml"),
            "_compiled/*/*",
        ],
        "groupreplay.page.drawing": ["*.css", "*.js"],
    },
    install_requires=["pyyaml>=6", "google-crc32c>=1.5"],
    extras_require={
        # delta-spark and the jars of conf/jars.sha256 carry the same version; a test holds them
        # together.
        "local": ["pyspark==4.1.4", "delta-spark==4.4.0", "pandas>=2.2,<3", "pyarrow>=18"],
        "dev": [
            # For the axe.min.js in it, by which tests hold pages against rules of accessibility.
            "axe-playwright-python==0.1.8",
            "build>=1.2",
            "chispa>=0.12",
            "confluent-kafka>=2.12",
            "deltalake>=1.6",
            # The tests run _sql/duckdb.sql. DuckDB fetches its Delta extension from a server of
            # its own; this package brings the same file, for this version of DuckDB alone.
            "duckdb==1.5.5",
            "duckdb-extension-delta==1.5.5",
            "hypothesis>=6.100",
            "import-linter>=2.1",
            "mypy>=1.15",
            # Tests of pages drive a chromium of the machine; they are skipped where there is none.
            "playwright==1.65.2",
            "pandas-stubs>=2.2,<3",
            "polars>=1.30",
            "pytest>=8.3",
            "pytest-xdist>=3.8",
            "ruff>=0.11",
            # mypyc compiles C by its distutils, which Python 3.12 no longer has; `make compiled`
            # packs a wheel by it.
            "setuptools>=70.1",
            "types-PyYAML>=6",
        ],
    },
)

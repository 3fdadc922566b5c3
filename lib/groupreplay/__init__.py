"""groupreplay: the life of every Kafka consumer group, replayed from the coordinators' logs."""

from groupreplay import compiled_core as _compiled_core

__version__ = "0.3.0"

_compiled_core.install()

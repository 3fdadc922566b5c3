"""groupreplay: the life of every Kafka consumer group, replayed from the coordinators' logs."""

__version__ = "0.3.0"

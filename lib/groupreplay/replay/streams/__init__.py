"""Kafka Streams in groups of both protocols: tasks, roles, hand-overs, processes."""

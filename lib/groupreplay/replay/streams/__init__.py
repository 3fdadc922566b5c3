"""Kafka Streams: tasks, roles, hand-overs, processes. What both protocols share is here; `classic`
and `groups` have what is of one.
"""

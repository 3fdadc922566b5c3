"""Logs of the offsets topic: batches, replicas, exact reduction of commits, raw rows."""

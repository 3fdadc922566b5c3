"""Lines of brokers' logs and request logs to events."""

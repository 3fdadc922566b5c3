"""What machines replay: records of the offsets topic, and events of brokers' logs."""

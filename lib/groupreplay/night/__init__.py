"""A night: what is planned, landed, replayed and published. The only place with Spark actions."""

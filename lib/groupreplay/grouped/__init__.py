"""pandas <-> machines: what a Python worker does with a slice of groups. Needs pandas and pyarrow, knows no Spark."""

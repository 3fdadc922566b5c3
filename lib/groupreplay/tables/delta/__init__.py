"""What is Delta's own: the log of a table, asked and written, and what its errors mean."""

"""The page of one group: its timeline, and the tables below it."""

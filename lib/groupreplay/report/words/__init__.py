"""What rows say in words: sentences of codes, and what of them is hidden. SQL functions only."""

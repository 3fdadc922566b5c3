"""What membership events of a group would have cost under another protocol."""

"""What one night found, for a person: queries of its tables, a typed model, and its text."""

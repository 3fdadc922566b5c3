"""What one night found, for a person: a typed model, and how it reads as text."""

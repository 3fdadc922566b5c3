"""The exact reduction of commits: nine tenths of a real topic never leave it."""

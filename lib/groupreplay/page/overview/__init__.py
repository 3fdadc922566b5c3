"""The overview of a night, section by section."""

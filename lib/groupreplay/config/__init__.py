"""The configuration of a run: the model, its strict reader, and what may be shown of it."""

"""What a run is told: the model, its strict reader, and what may be shown of it."""

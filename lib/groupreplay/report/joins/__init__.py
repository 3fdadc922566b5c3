"""Named steps that several tables use. SQL functions only."""

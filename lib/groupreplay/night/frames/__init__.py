"""Column logic of the night's steps: DataFrame to DataFrame, no action."""

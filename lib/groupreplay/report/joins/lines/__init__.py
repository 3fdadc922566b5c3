"""Named steps: what lines of broker logs say of facts. SQL functions only."""

"""What a night is given, and what a run reads: inputs, plan, results, and what forbids it."""

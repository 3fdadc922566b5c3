"""What a run reads: what the sources hold, the plan, its JSON in `runs`, and what forbids it."""

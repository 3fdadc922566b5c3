"""What a night lands: the two streams, the one algorithm that lands them, and what was landed."""

"""What a life keeps from one operation to the next beside its members: data alone."""

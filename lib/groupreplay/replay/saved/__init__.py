"""A life to bytes and back, whatever release wrote them."""

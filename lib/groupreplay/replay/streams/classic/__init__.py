"""Tasks of a classic group: what its K2s mean, by the assignor that wrote them."""

"""All that touches storage: schemas, Delta tables, runs, and small files beside them."""

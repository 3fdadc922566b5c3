"""What pages are made of: rows of tables as dataclasses, in an order of their own."""

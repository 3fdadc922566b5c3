"""What makes Spark do a night sooner; no row hangs on it."""

"""What makes a night faster in Spark. It changes no row."""

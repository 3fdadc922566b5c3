"""The report: facts of a night to the rows of every table. DataFrame to DataFrame, no action."""

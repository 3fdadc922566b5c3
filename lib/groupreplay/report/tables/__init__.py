"""One module a table: DataFrame to DataFrame, in the column order of schemas/<table>.sql."""

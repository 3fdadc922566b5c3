"""DataFrame -> DataFrame: one module per table or named step. No reads, writes or actions; SQL functions only.

Every transform of a table takes the night's rows of `replayed` and ends in one explicit select in the column order of schemas/<table>.sql.
"""

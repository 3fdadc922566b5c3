"""One module a table: the function that builds it, in the column order of schemas/<table>.sql, and
its spec.
"""

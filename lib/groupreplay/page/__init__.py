"""The page of a night: rows of tables -> HTML and SVG, by pure functions of the standard library.

Nothing here knows Spark, a clock or a file system: the same rows give the same bytes.
"""

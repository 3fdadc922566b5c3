"""All that runs in Python workers around the pure core. Needs pandas and pyarrow, knows no
Spark.
"""

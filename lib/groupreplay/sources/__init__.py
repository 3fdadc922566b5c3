"""The driver's side of sources: which files there are, what a night reads of them, what a cluster
says.
"""

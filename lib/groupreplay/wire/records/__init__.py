"""Keys and values of the offsets topic: layouts as data, their compiler, bytes and JSON to
records.
"""

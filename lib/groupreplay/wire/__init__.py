"""Bytes and lines to records: pure functions of the standard library; checksum and decompression
are passed in.
"""

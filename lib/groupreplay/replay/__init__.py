"""Records -> facts. One machine a group; no clock, no I/O, no pandas, no logging: the same records
give the same facts.
"""

"""Chains of membership events to the waves that belong together, in Python workers."""

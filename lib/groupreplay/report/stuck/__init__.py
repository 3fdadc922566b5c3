"""Stuck episodes: what machines and lines show, past the thresholds of a group."""

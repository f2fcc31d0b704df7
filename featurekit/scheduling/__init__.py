"""Scheduling: what is due by the declared cadence, done one thing after the other, by one instance at a time."""

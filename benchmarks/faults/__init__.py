"""Faults on purpose: each module breaks one thing again and again, and counts what came of it."""

"""Consistency: what is served beside what training says, and why the two differ (docs/consistency.md)."""

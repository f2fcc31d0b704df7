"""The specification: tests/ mirrors featurekit/ by path."""

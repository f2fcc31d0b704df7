"""featurekit.cli."""

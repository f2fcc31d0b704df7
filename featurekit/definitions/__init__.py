"""featurekit.definitions."""

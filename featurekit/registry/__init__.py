"""featurekit.registry."""

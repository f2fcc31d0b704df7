"""featurekit.monitoring."""

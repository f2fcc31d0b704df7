"""featurekit.consistency."""

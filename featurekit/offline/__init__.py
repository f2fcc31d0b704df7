"""featurekit.offline."""

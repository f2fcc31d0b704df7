"""featurekit.online."""

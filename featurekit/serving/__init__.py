"""featurekit.serving."""

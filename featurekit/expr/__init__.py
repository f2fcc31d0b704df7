"""featurekit.expr."""

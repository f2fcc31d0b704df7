"""featurekit.targets."""

"""featurekit.targets.kernels."""

"""The served-feature log replayed: what was answered, asked again of the training path at the times of the requests."""

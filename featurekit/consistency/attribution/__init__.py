"""What it costs a model that it is not served what it was trained on, and which fields, or causes, cost how much."""

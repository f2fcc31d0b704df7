"""Whether a table made elsewhere holds what serving would have had, and how it does not."""

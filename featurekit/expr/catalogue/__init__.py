"""The rows of the catalogue, family by family."""

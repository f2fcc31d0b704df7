"""Why served and recomputed differ."""

"""Commands that measure or check: each ends with a RESULT line and writes results/NAME.json."""

"""Real data to learn, test and demonstrate with: the flights of 2013 out of New York, and a small model on them."""

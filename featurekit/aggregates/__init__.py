"""What an aggregate is, apart from any engine: partial states that merge, and what finishes them."""

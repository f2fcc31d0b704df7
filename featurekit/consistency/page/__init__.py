"""A report's document as one page for people: what it says first, what is drawn, and how it looks."""

"""Faults planted on purpose in a live world of flights: what the fault bench breaks, and how it puts it back.

Nothing here knows how a diagnosis undoes a fault: definitions are edited as text, sources are written differently, rows
are altered in plain Python on their way to the store.
"""

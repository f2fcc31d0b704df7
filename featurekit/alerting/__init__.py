"""Alerting: who is told when something turns red, changes its cause or recovers; and how, and until it is taken."""

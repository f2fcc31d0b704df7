"""Quality: what is expected of a view's values, and the gate that a refresh passes before it is served."""

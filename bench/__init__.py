"""What a turn costs: Sestet, a bare loop and the agent frameworks of the field, side by side."""

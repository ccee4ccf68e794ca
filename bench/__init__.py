"""The benchmark: Sestet, a bare loop and other agent frameworks, measured on the same turn."""

"""The A2A server: the agents of others ask this assistant. They are callers, and never the owner."""

"""Specs and tools in, a tree of agents out: pure, synchronous, deterministic."""

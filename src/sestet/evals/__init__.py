"""Trials: how well requests find their agent, and agents their tools; the test sets lie beside the code."""

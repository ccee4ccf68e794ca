"""Trials: how well requests find their agent, and agents their tools. ``training`` trains the router."""

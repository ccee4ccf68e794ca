"""Abilities with state that tools call."""

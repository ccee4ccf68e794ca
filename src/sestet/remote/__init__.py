"""Agents that live elsewhere and join as specialists over A2A."""

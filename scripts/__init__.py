"""Chores of the repository that are written in Python."""

"""Shared by all rooms: the reader of plaques, checks of arguments, and fragments of every prompt."""

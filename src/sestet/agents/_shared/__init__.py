"""Shared by all rooms: the reader of plaques, and the fragments that end every specialist's prompt."""

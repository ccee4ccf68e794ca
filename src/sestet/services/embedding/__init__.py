"""Texts as vectors, so that what means the same is found without the same words."""

"""Runs commands that cannot get out of hand: the kernel confines each one to the places it was given."""

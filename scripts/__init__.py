"""Scripts for this repository."""

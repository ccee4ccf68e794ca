"""How well and how fast passages are found: the quality set, and the measurements over it."""

"""The nouns of Sestet: plain values without I/O, vendors or a clock."""

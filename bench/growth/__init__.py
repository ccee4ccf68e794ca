"""How the cost of a turn grows with memories, passages, past turns and the size of the file."""

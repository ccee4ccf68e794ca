"""What the server costs: requests a second, CPU of a turn, many readers, and its start."""

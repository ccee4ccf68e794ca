"""A conversation: its session, its turns, and the person's side of the terminal."""

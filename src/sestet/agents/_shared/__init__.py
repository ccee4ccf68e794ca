"""What all rooms share: the reader of plaques, and the fragments added to every specialist's prompt."""

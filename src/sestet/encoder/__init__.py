"""The sentence encoder that routing, memory and retrieval share."""

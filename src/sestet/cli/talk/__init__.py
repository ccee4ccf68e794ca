"""Talking with the assistant: turns, questions to the person, the terminal."""

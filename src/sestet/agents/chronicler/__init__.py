"""The chronicler's room: memory."""

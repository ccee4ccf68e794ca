"""The navigator's room: web pages."""

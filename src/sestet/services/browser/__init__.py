"""The navigator's browser: the system's Chromium, driven over the DevTools protocol."""

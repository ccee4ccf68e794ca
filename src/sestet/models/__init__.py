"""Models behind ``core.model.Model``: vendors, the small built-in one, and the scripted one for tests."""

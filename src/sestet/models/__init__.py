"""Models behind ``core.model.Model``: vendors', local ones, the built-in one, the scripted one for tests."""

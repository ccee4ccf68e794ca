"""Turns that go on without a reader, and the feeds that readers follow."""

"""The base of every group of settings."""

from sestet.core.record import Record


class Section(Record, rename="camel"):
    """Settings that belong together: camelCase in the file, snake_case in code."""

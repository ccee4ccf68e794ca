"""A server outside of Sestet that brings tools."""

from sestet.core.record import Record


class Outside(Record):
    """The server that a tool belongs to, as the owner's settings name and describe it."""

    name: str
    about: str = ""

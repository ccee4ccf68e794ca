"""How a message names a page of the documentation."""


def page(topic: str) -> str:
    """The command that shows a page: an installed Sestet has no ``docs`` folder to point to."""
    return f"'sestet docs {topic}'"

"""A text of the settings that is not shown."""


class Secret(str):
    """A text that is not shown, and knows the file or the environment variable that it was read from."""

    __slots__ = ("file", "variable")

    def __new__(cls, text: str, file: str = "", variable: str = "") -> "Secret":
        secret = super().__new__(cls, text)
        secret.file = file
        secret.variable = variable
        return secret

    @classmethod
    def of(cls, text: str) -> "Secret":
        """The text as a secret; one that knows its file or variable stays as it is."""
        return text if isinstance(text, Secret) else cls(text)

    def __repr__(self) -> str:
        return "'***'" if self else "''"

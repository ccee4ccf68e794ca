"""Every error that Sestet raises on purpose, split by who has to read it.

SestetError
├── PersonError             shown to the person as it stands: what is wrong, and the way out
│   ├── ConfigError         the settings file or an environment override
│   ├── DefinitionError     agents or tools that contradict each other
│   │   └── AdaptError      ``adapt_tool`` raised while an agent was built
│   ├── VaultError          the vault is locked or damaged, or refuses what was asked
│   └── StorageError        the database file cannot be used
│       ├── ForgottenError  the turn was ended, since what it read was forgotten meanwhile
│       └── BusyError       another process is writing to the database
├── ToolError               told to the model: the tool could not do what was asked
│   └── InDoubtError        told to the model and the person: the effect may have happened
├── EmbeddingError          texts could not be turned into vectors
├── ModelError              a model call failed
│   └── ScriptError         a scripted model was asked too much or too little
└── LimitError              a budget of the turn is used up

Anything else that is raised is a bug.
"""

from typing import Literal, TypeAlias

#: Whether the same call may succeed later, would succeed without one of its texts, or never will.
EmbeddingFault: TypeAlias = Literal["passing", "text", "lasting"]

#: Why a model gave no reply; what follows from each stands in ``models/retry.py`` and ``models/fallback.py``.
FailureKind: TypeAlias = Literal[
    "rate_limit",
    "transient",
    "timeout",
    "context_too_long",
    "bad_request",
    "unknown_model",
    "auth",
    "quota",
    "content_filter",
    "other",
]


class SestetError(Exception):
    """The root of the tree above."""


class PersonError(SestetError):
    """Shown to the person without a stack trace."""


class ConfigError(PersonError):
    """The settings cannot be used; ``problems`` lists every reason at once."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class DefinitionError(PersonError, ValueError):
    """Agents or tools were defined in a way that cannot be built."""


class AdaptError(DefinitionError):
    """``adapt_tool`` raised for one tool of one agent."""


class VaultError(PersonError):
    """The vault could not do what was asked.

    ``locked``: because nobody has unlocked it; ``wrong``: because the passphrase is not the right one.
    """

    def __init__(self, text: str, *, locked: bool = False, wrong: bool = False) -> None:
        super().__init__(text)
        self.locked = locked
        self.wrong = wrong


class StorageError(PersonError):
    """The database cannot be opened, read or written."""


class ForgottenError(StorageError):
    """The turn may write nothing more: words that it has read were forgotten meanwhile."""

    def __init__(self) -> None:
        super().__init__(
            "the turn has ended: it had read words that were forgotten meanwhile; ask again without them"
        )


class BusyError(StorageError):
    """Another process holds the lock of the database; nothing was written, and a retry may succeed."""


class ToolError(SestetError):
    """Raised by a tool; its text is the answer that the model gets."""

    #: The text for the person, where the error's own instructs the model.
    for_person: str = ""


class InDoubtError(ToolError):
    """Raised by a tool that was asked for an effect, and cannot know whether it happened."""


class EmbeddingError(SestetError):
    """Texts could not be embedded; the text says why, and the way out."""

    def __init__(self, message: str, kind: EmbeddingFault = "lasting") -> None:
        super().__init__(message)
        self.kind: EmbeddingFault = kind


class ModelError(SestetError):
    """A model could not give a reply; ``retry_after`` is how many seconds it asked to be left alone."""

    def __init__(self, text: str, kind: FailureKind = "other", retry_after: float | None = None) -> None:
        super().__init__(text)
        self.kind: FailureKind = kind
        self.retry_after = retry_after


class ScriptError(ModelError):
    """A scripted model ran out of replies, or has replies left over."""


class LimitError(SestetError):
    """A limit of the turn was reached; the text names it."""


def told(error: BaseException) -> str:
    """The class and the text of an error. An error of a foreign class may fail to give its text."""
    name = type(error).__name__
    try:
        return f"{name}: {error}".removesuffix(": ")
    except Exception:
        return name

"""The scripted turn, which is the same for each contestant, and the interface of a contestant."""

import asyncio
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from bench.tree import Tree

#: The last item that the model reads: a request, or the result of the tool.
Seen: TypeAlias = Literal["user", "listing"]
Step: TypeAlias = Literal["delegate", "list", "answer"]


class Contestant(Protocol):
    """A framework with the tree built, ready for the first message."""

    def new_session(self, name: str) -> object:
        """Return a new conversation; the bench passes it back with each message."""
        ...

    async def turn(self, session: object, text: str) -> str:
        """Run one delegated turn; return the reply that the person reads."""
        ...


MESSAGE = "Which files are here?"
REQUEST = "List the files of the working directory."
LISTING = "notes.txt\nplan.txt"
REPLY = "There are two files: notes.txt and plan.txt."
SPECIALIST = "operator"
SPECIALIST_PREFIX = "fs_"
LIST_TOOL = "fs_list"


class Script:
    """The replies of the fake model, and a count of the requests to it."""

    def __init__(self) -> None:
        #: Seconds that each model call takes.
        self.delay = 0.0
        #: Whether the adapter counts the characters that it receives; off while CPU time is measured.
        self.counting = False
        self.characters = 0
        self.model_calls = 0
        self.tool_calls = 0

    async def next(self, is_root: bool, seen: Seen) -> Step:
        """Return the model's next reply."""
        self.model_calls += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        if seen != "user":
            return "answer"
        return "delegate" if is_root else "list"

    def call_id(self) -> str:
        """Return a unique id for a call."""
        return f"call_{self.model_calls}"


class Stage:
    """The input of a contestant: the tree to build, the script to follow, a directory on disk."""

    def __init__(self, tree: "Tree", script: Script, home: str) -> None:
        self.tree = tree
        self.script = script
        self.home = home

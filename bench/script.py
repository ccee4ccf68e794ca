"""The scripted turn, the same for every contestant, and what a contestant has to offer."""

import asyncio
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from bench.tree import Tree

#: What the model is shown last: words to act on, or the result of the tool.
Seen: TypeAlias = Literal["user", "listing"]
Step: TypeAlias = Literal["delegate", "list", "answer"]


class Contestant(Protocol):
    """A framework with the tree built, ready for the first message."""

    def new_session(self, name: str) -> object:
        """A conversation without a turn; the bench keeps it and hands it back with every message."""
        ...

    async def turn(self, session: object, text: str) -> str:
        """One delegated turn; returns the reply that the person reads."""
        ...


MESSAGE = "Which files are here?"
REQUEST = "List the files of the working directory."
LISTING = "notes.txt\nplan.txt"
REPLY = "There are two files: notes.txt and plan.txt."
SPECIALIST = "operator"
SPECIALIST_PREFIX = "fs_"
LIST_TOOL = "fs_list"


class Script:
    """What the fake model of every contestant says next, and what it was asked."""

    def __init__(self) -> None:
        #: Seconds that each model call takes.
        self.delay = 0.0
        #: Whether the adapter adds up what it is sent; it is work, so it is off while CPU time is measured.
        self.counting = False
        self.characters = 0
        self.model_calls = 0
        self.tool_calls = 0

    async def next(self, is_root: bool, seen: Seen) -> Step:
        """What the model says next."""
        self.model_calls += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        if seen != "user":
            return "answer"
        return "delegate" if is_root else "list"

    def call_id(self) -> str:
        """An id that no other call has."""
        return f"call_{self.model_calls}"


class Stage:
    """What a contestant is given: the tree to build, the script to follow, a directory of its own on disk."""

    def __init__(self, tree: "Tree", script: Script, home: str) -> None:
        self.tree = tree
        self.script = script
        self.home = home

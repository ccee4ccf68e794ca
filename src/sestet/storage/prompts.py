"""The instructions and tools that models were shown: each once, however many calls had them."""

import json
from typing import NamedTuple

from sestet.core.message import whole
from sestet.core.tool import Tool
from sestet.storage.database import Database

#: More than the agents of any tree have; a process that changes its tools all the time starts over.
_MOST_NAMED = 1000
_DIGITS = 16


class Prompt(NamedTuple):
    instruction: str
    #: The name, description and parameters of each tool, as a JSON list.
    tools: str


class _Named(NamedTuple):
    digest: str
    #: Kept, so that no other tool gets the same identity.
    tools: tuple[Tool, ...]


class PromptStore:
    """Names prompts by their digest. A new one is written together with the first event that names it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._named: dict[tuple[str, tuple[int, ...]], _Named] = {}
        self._waiting: dict[str, Prompt] = {}

    def name(self, instruction: str, tools: tuple[Tool, ...]) -> str:
        """The digest of a prompt, which the next ``write`` stores if it is new."""
        key = (instruction, tuple(map(id, tools)))
        if (named := self._named.get(key)) is not None:
            return named.digest
        from hashlib import sha256

        prompt = Prompt(whole(instruction), whole(tools_json(tools)))
        digest = sha256(json.dumps(prompt).encode()).hexdigest()[:_DIGITS]
        if len(self._named) >= _MOST_NAMED:
            self._named.clear()
        self._named[key] = _Named(digest, tools)
        self._waiting[digest] = prompt
        return digest

    @property
    def has_new(self) -> bool:
        return bool(self._waiting)

    def write(self) -> None:
        """Inside a transaction: store the new prompts."""
        rows = [(digest, *prompt) for digest, prompt in self._waiting.items()]
        self._database.execute_many("INSERT OR IGNORE INTO prompts VALUES (?, ?, ?)", rows)

    def on_written(self) -> None:
        """The transaction has ended well."""
        self._waiting.clear()

    def find(self, digest: str) -> Prompt | None:
        row = self._database.execute(
            "SELECT instruction, tools FROM prompts WHERE digest = ?", (digest,)
        ).fetchone()
        return Prompt(*row) if row else None


def tools_json(tools: tuple[Tool, ...]) -> str:
    """What a model is told of its tools."""
    facts = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    return json.dumps(facts, ensure_ascii=False, default=dict)

"""A process that extracts facts from saved texts, and dies at a given moment.

``python -m tests.services.extracting <home> rules|model <moment>``
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from pathlib import Path

from sestet.core.message import UserMessage
from sestet.core.model import ModelItem, ModelReply, ModelRequest
from sestet.services.extraction import Extraction
from sestet.services.extraction_rules import find_facts
from sestet.storage.database import FILE_NAME, Database
from sestet.storage.extractions import ExtractionStore, Fact, Pending, Proposer
from sestet.storage.graph import GraphStore, Predicates


class SilentModel:
    """Never answers."""

    name = "silent"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        self.asked.set()
        await asyncio.Event().wait()
        yield ModelReply()

    async def close(self) -> None: ...


class RulesModel:
    """Answers with the facts of the rules after a short wait."""

    name = "rules"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        await asyncio.sleep(0.001)
        (message,) = request.messages
        assert isinstance(message, UserMessage)
        yield ModelReply(json.dumps([*find_facts(message.text)]))

    async def close(self) -> None: ...


class MortalStore(ExtractionStore):
    """Records each finished text, and dies at the given moment."""

    def __init__(self, home: Path, moment: str) -> None:
        database = Database(home / FILE_NAME)
        super().__init__(database, GraphStore(database))
        self._notes = home / "read"
        self._moment = moment

    def finish(
        self, pending: Pending, facts: Iterable[Fact], proposed_by: Proposer, auto_accepted: Collection[str]
    ) -> None:
        self._die("before_the_facts")
        super().finish(pending, self._one_by_one(facts), proposed_by, auto_accepted)
        self._die("before_the_commit")
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(f"{pending.source}\n")

    def _one_by_one(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        for number, fact in enumerate(facts):
            if number == 1:
                self._die("between_two_facts")
            yield fact

    def _die(self, moment: str) -> None:
        if moment == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(home: str, reader: str, moment: str) -> None:
    model = RulesModel() if reader == "model" else None
    await Extraction(MortalStore(Path(home), moment), Predicates(["works_at"]), "on", model).read_all()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""A model that begins an answer and never ends it, for tests that stop a turn; also as a program."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import sestet
from sestet.core.model import ModelItem, ModelReply, ModelRequest, TextDelta

BEGINNING = "Well, it is like"
ANSWER = "Here I am."


class HangingModel:
    """Asked to wait, it stops in the middle; asked anything else, it answers."""

    name = "hanging"

    def __init__(self, begun: Callable[[], None] = lambda: None) -> None:
        self._begun = begun

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelItem, None]:
        if request.messages[-1].text == "wait":
            yield TextDelta(BEGINNING)
            self._begun()
            await asyncio.Event().wait()
        yield TextDelta(ANSWER)
        yield ModelReply(ANSWER)

    async def close(self) -> None:
        """Nothing to close."""


async def talk() -> None:
    from sestet.cli.talk.terminal import talk_at_terminal

    async with sestet.open({}, model=HangingModel()) as app:
        await talk_at_terminal(app, "20261115-hang")


if __name__ == "__main__":
    asyncio.run(talk())

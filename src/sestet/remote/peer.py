"""Connects to remote agents and asks them: a request goes out alone, a text comes back."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, suppress
from typing import cast
from uuid import uuid4

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from sestet.config.settings import RemoteAgentSettings
from sestet.core.errors import InDoubtError, ToolError
from sestet.core.words import duration
from sestet.remote.card import (
    BROKEN_JSON,
    CARD_LIMIT,
    CardError,
    CardFacts,
    card_facts,
    describe,
    fetch_card,
)
from sestet.remote.connection import connection_to
from sestet.remote.plain import one_line
from sestet.remote.received import Received, WrongTaskError, text_made_by, text_of, waits_for_its_owner

ANSWER_LIMIT = 1_000_000
_CUT = "\n[cut here: the answer is larger than 1 MB]"
# JSON may take six bytes for a character, and a task carries more than its text.
_BODY_LIMIT = 8 * ANSWER_LIMIT
_DETAIL_LIMIT = 300

_FIRST_POLL, _LAST_POLL = 0.05, 2.0
_WITHDRAW_SECONDS = 1.0

_RUNNING = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_ENDS_WITHOUT_ANSWER = {
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_REJECTED: "declined the request",
    TaskState.TASK_STATE_CANCELED: "cancelled its task",
    TaskState.TASK_STATE_AUTH_REQUIRED: "wants credentials that it has not been given",
}

# The errors that the A2A kit lets through when a server breaks the protocol.
_BROKEN = (A2AError, httpx.HTTPError, httpx.InvalidURL, ParseError, ValueError, TypeError, *BROKEN_JSON)
# Without a connection the request was not sent.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class A2APeer:
    """A remote agent, under the name that the owner gave it."""

    def __init__(
        self, name: str, description: str, client: Client, connection: httpx.AsyncClient, seconds: float
    ) -> None:
        self.name = name
        self.description = description
        self._client = client
        self._connection = connection
        self._seconds = seconds

    @classmethod
    def connect(
        cls, entry: RemoteAgentSettings, card: AgentCard, trusted: ssl.SSLContext, seconds: float
    ) -> "A2APeer":
        """A peer for the agent that the card describes; nothing is sent yet."""
        connection = connection_to(entry, _BODY_LIMIT, trusted)
        # An agent that cannot stream is polled: we know the task from the start and can withdraw it.
        config = ClientConfig(
            streaming=True,
            polling=True,
            httpx_client=connection,
            supported_protocol_bindings=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON],
            use_client_preference=True,
        )
        try:
            client = ClientFactory(config).create(card)
        except ValueError as error:
            raise CardError("it speaks no protocol that is known here") from error
        return cls(entry.name, describe(card), client, connection, seconds)

    async def ask(self, request: str, on_text: Callable[[str], None] = lambda text: None) -> str:
        """The agent's answer to this request, or the question that it asks back.

        ``on_text`` is called with the pieces of an answer that the agent streams.
        """
        try:
            async with asyncio.timeout(self._seconds):
                text = await self._ask(request, on_text)
        except TimeoutError:
            late = f"the remote agent '{self.name}' took longer than {duration(self._seconds)}"
            raise InDoubtError(late) from None
        except _BROKEN as error:
            kind = InDoubtError if _was_sent(error) else ToolError
            raise self._failure("could not be asked", str(error), kind) from error
        return _cut(text)

    async def close(self) -> None:
        await self._connection.aclose()

    async def _ask(self, request: str, on_text: Callable[[str], None]) -> str:
        message = Message(role=Role.ROLE_USER, message_id=uuid4().hex, parts=[Part(text=request)])
        received = Received(on_text)
        try:
            replies = self._client.send_message(SendMessageRequest(message=message))
            async with aclosing(cast("AsyncGenerator[StreamResponse]", replies)) as stream:
                async for reply in stream:
                    received.read(reply)
                    if received.is_over:
                        break
        except asyncio.CancelledError:
            await self._withdraw(received.task.id)
            raise
        except WrongTaskError as error:
            raise self._failure("answered with another task", "", InDoubtError) from error
        except _BROKEN:
            # A stream that broke is no end of the task: it is asked after.
            if not received.task.id:
                raise
        if received.message is not None:
            return text_of(received.message)
        return self._result(await self._wait_for_end(received.task, on_text))

    def _result(self, task: Task) -> str:
        said, made = text_of(task.status.message), text_made_by(task)
        if task.status.state == TaskState.TASK_STATE_COMPLETED:
            return made or said
        if task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return said or made
        what = _ENDS_WITHOUT_ANSWER.get(task.status.state, "ended its task in a state that is not known here")
        raise self._failure(what, said or made)

    async def _wait_for_end(self, task: Task, on_text: Callable[[str], None]) -> Task:
        query, delay, was_told = GetTaskRequest(id=task.id, history_length=0), _FIRST_POLL, False
        try:
            while task.status.state in _RUNNING or waits_for_its_owner(task):
                if waits_for_its_owner(task) and not was_told:
                    on_text(f"({self.name} waits for the approval of its own owner)\n")
                    was_told = True
                await asyncio.sleep(delay)
                delay = min(2 * delay, _LAST_POLL)
                task = await self._client.get_task(query)
                if task.id != query.id:
                    raise self._failure("answered with another task", "", InDoubtError)
        except asyncio.CancelledError:
            await self._withdraw(query.id)
            raise
        except _BROKEN as error:
            # It has the request, and may go on with it.
            raise self._failure("could not be asked for its result", str(error), InDoubtError) from error
        return task

    async def _withdraw(self, task_id: str) -> None:
        """Tell the agent that we no longer wait for the task; it may go on all the same."""
        if not task_id:
            return
        with suppress(TimeoutError, *_BROKEN):
            async with asyncio.timeout(_WITHDRAW_SECONDS):
                await self._client.cancel_task(CancelTaskRequest(id=task_id))

    def _failure(self, what: str, detail: str, kind: type[ToolError] = ToolError) -> ToolError:
        detail = one_line(detail, _DETAIL_LIMIT)
        return kind(f"the remote agent '{self.name}' {what}" + (f": {detail}" if detail else ""))


def _was_sent(error: BaseException) -> bool:
    """Whether the request went out and its answer did not come back; the kit wraps network errors."""
    cause = error if isinstance(error, httpx.TransportError) else error.__cause__
    return isinstance(cause, httpx.TransportError) and not isinstance(cause, _NOT_SENT)


def _cut(text: str) -> str:
    encoded = text.encode()
    if len(encoded) <= ANSWER_LIMIT:
        return text
    return encoded[: ANSWER_LIMIT - len(_CUT)].decode(errors="ignore") + _CUT


async def connect_all(
    entries: Iterable[RemoteAgentSettings], seconds: float, answer_seconds: float
) -> list[A2APeer | str]:
    """For each entry, in order, its peer or the reason why there is none."""
    # Reading the trusted certificates is the slow part of opening a connection, so we do it once.
    trusted = httpx.create_ssl_context()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_connect(entry, trusted, seconds, answer_seconds)) for entry in entries]
    return [task.result() for task in tasks]


async def _connect(
    entry: RemoteAgentSettings, trusted: ssl.SSLContext, seconds: float, answer_seconds: float
) -> A2APeer | str:
    card = await _read_card(entry, trusted, seconds)
    try:
        return card if isinstance(card, str) else A2APeer.connect(entry, card, trusted, answer_seconds)
    except CardError as error:
        return str(error)


async def _read_card(entry: RemoteAgentSettings, trusted: ssl.SSLContext, seconds: float) -> AgentCard | str:
    """The card of an agent, or why it cannot be used."""
    try:
        async with asyncio.timeout(seconds), connection_to(entry, CARD_LIMIT, trusted) as connection:
            return await fetch_card(connection, entry.url)
    except TimeoutError:
        return f"it did not answer within {duration(seconds)}"
    except CardError as error:
        return str(error)


async def read_facts(entry: RemoteAgentSettings, seconds: float) -> CardFacts | str:
    """What the card of an agent tells, or why the agent cannot be used."""
    trusted = httpx.create_ssl_context()
    card = await _read_card(entry, trusted, seconds)
    if isinstance(card, str):
        return card
    try:
        await A2APeer.connect(entry, card, trusted, seconds).close()
    except CardError as error:
        return str(error)
    return card_facts(card)

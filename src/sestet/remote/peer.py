"""Connects to remote agents and asks them: a request goes out alone, a text comes back."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
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
    Task,
    TaskState,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from sestet.config.settings import RemoteAgentSettings
from sestet.core.errors import InDoubtError, ToolError
from sestet.core.words import duration
from sestet.remote.card import BROKEN_JSON, CARD_LIMIT, CardError, describe, fetch_card
from sestet.remote.plain import one_line

_CONNECT_SECONDS = 10.0
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
        connection = open_connection(_BODY_LIMIT, trusted, entry.api_key)
        # We poll instead of streaming: we know the task from the start and can withdraw it, and no proxy cuts
        # a connection that was silent for too long.
        config = ClientConfig(
            streaming=False,
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

    async def ask(self, request: str) -> str:
        """The agent's answer to this request, or the question that it asks back."""
        try:
            async with asyncio.timeout(self._seconds):
                text = await self._ask(request)
        except TimeoutError:
            late = f"the remote agent '{self.name}' took longer than {duration(self._seconds)}"
            raise InDoubtError(late) from None
        except _BROKEN as error:
            kind = InDoubtError if _was_sent(error) else ToolError
            raise self._failure("could not be asked", str(error), kind) from error
        return _cut(text)

    async def close(self) -> None:
        await self._connection.aclose()

    async def _ask(self, request: str) -> str:
        message = Message(role=Role.ROLE_USER, message_id=uuid4().hex, parts=[Part(text=request)])
        (reply,) = [reply async for reply in self._client.send_message(SendMessageRequest(message=message))]
        if reply.HasField("message"):
            return _text_of(reply.message)
        task = await self._wait_for_end(reply.task)
        said, made = _text_of(task.status.message), _text_made_by(task)
        if task.status.state == TaskState.TASK_STATE_COMPLETED:
            return made or said
        if task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return said or made
        what = _ENDS_WITHOUT_ANSWER.get(task.status.state, "ended its task in a state that is not known here")
        raise self._failure(what, said or made)

    async def _wait_for_end(self, task: Task) -> Task:
        query, delay = GetTaskRequest(id=task.id, history_length=0), _FIRST_POLL
        try:
            while task.status.state in _RUNNING:
                await asyncio.sleep(delay)
                delay = min(2 * delay, _LAST_POLL)
                task = await self._client.get_task(query)
        except asyncio.CancelledError:
            await self._withdraw(query.id)
            raise
        except _BROKEN as error:
            # It has the request, and may go on with it.
            raise self._failure("could not be asked for its result", str(error), InDoubtError) from error
        return task

    async def _withdraw(self, task_id: str) -> None:
        """Tell the agent that we no longer wait for the task; it may go on all the same."""
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


def _text_of(message: Message) -> str:
    return "\n".join(_texts(message.parts))


def _text_made_by(task: Task) -> str:
    # The parts of one artifact are the pieces in which it was streamed: a line break would split words.
    return "\n\n".join(text for artifact in task.artifacts if (text := "".join(_texts(artifact.parts))))


def _texts(parts: Iterable[Part]) -> Iterable[str]:
    return (part.text for part in parts if part.HasField("text"))


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
    try:
        async with (
            asyncio.timeout(seconds),
            open_connection(CARD_LIMIT, trusted, entry.api_key) as connection,
        ):
            card = await fetch_card(connection, entry.url)
        return A2APeer.connect(entry, card, trusted, answer_seconds)
    except TimeoutError:
        return f"it did not answer within {duration(seconds)}"
    except CardError as error:
        return str(error)


class AnswerRefused(httpx.TransportError):
    """The server sent more than the limit, or compressed its answer so that its size is unknown."""


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise AnswerRefused(f"its answer is larger than {self._limit // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def open_connection(limit: int, trusted: ssl.SSLContext, key: str = "") -> httpx.AsyncClient:
    """A client that reads ``limit`` bytes of an answer at most; the caller bounds the time.

    ``key`` goes with every request: only addresses of the card's own host are used, and no redirect.
    """

    async def bound(response: httpx.Response) -> None:
        # A few compressed bytes can unpack to any size in one step, before we could count them.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerRefused("its answer is compressed, although that was not asked for")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, limit)

    return httpx.AsyncClient(
        verify=trusted,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
        headers={"accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})},
        # A cookie would tie one request to the next, and each has to stand alone.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [bound]},
    )

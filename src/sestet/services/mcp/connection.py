"""One MCP server at work: started on first use, ended with the assistant, started again after a failure.

Whatever a server does ends in a typed outcome: an answer, a ``ToolError``, or an ``InDoubtError`` if a call
was sent and its answer did not come back.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, TypeVar, cast

import httpx2
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from sestet.config.mcp_settings import McpServerSettings
from sestet.core.errors import InDoubtError, ToolError, told
from sestet.core.record import Record
from sestet.core.schema import JsonValue
from sestet.core.words import duration
from sestet.services.mcp.listing import MOST_TOOLS, ListedTool, listed_tool, plain_line
from sestet.services.mcp.programs import ProgramStarter
from sestet.services.mcp.transports import Watch, over_http, over_pipes

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_MOST_PAGES = 20
_MOST_TEXT = 1_000_000
_CUT = "\n[cut here: the result is longer than 1,000,000 characters]"
_NAME = types.Implementation(name="sestet", version="1")
_Found = TypeVar("_Found")
_Page = TypeVar("_Page", bound=types.PaginatedResult)
#: Seconds in which the last answer of a server that ended is still taken.
_LAST_ANSWER = 0.5
#: What the kit lets through when a server breaks the protocol, or is gone; pydantic's errors are ValueErrors.
_BROKEN = (MCPError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RuntimeError)


#: Seconds in which a program ends by itself, or is ended.
_CLOSE_SECONDS = 3.0


class Patience(Record):
    """How long we wait for a server, in seconds."""

    start: float = 30.0
    #: Before the second start after a failure; it doubles with each further one, up to ``most``.
    first_pause: float = 1.0
    most_pause: float = 60.0
    #: A call waits so long for its turn; a longer pause refuses it at once.
    waited: float = 3.0


class Answer(Record):
    """What a call returned."""

    text: str
    failed: bool = False


class _Life:
    """One start of a server: the task that holds its connection open."""

    def __init__(self, transport: "Callable[[Watch], AbstractAsyncContextManager[TransportStreams]]") -> None:
        self.watch = Watch()
        self.ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._end = asyncio.Event()
        self.task = asyncio.create_task(self._hold(transport))

    async def _hold(
        self, transport: "Callable[[Watch], AbstractAsyncContextManager[TransportStreams]]"
    ) -> None:
        """Open the connection, and keep it until it ends. The kit wants one task for both."""
        try:
            # No cache: we compare the list with the trusted one before each call.
            async with Client(transport(self.watch), client_info=_NAME, cache=None) as client:
                if not self.ready.done():
                    self.ready.set_result(client)
                await _first(self._end.wait(), self.watch.gone.wait())
        except BaseException as error:
            if not self.ready.done():
                self.ready.set_exception(ToolError(self.watch.problem or _reason(error, self.watch)))
                # Nobody may wait any more.
                self.ready.exception()
        finally:
            self.watch.gone.set()

    async def close(self) -> None:
        self._end.set()
        if self.ready.done():
            await asyncio.wait([self.task], timeout=_CLOSE_SECONDS)
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Connection:
    """The connection with one server, through all its starts."""

    def __init__(
        self,
        name: str,
        entry: McpServerSettings,
        starter: ProgramStarter,
        patience: Patience = Patience(),  # noqa: B008 - frozen
    ) -> None:
        self.name = name
        self._entry = entry
        self._starter = starter
        self._patience = patience
        self._life: _Life | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """The tools that the server lists now."""
        client = await self._client()
        pages = self._pages(lambda cursor: client.list_tools(cursor=cursor), lambda page: page.tools)
        found = await self._asked("could not be asked for its tools", pages)
        if len({tool.name for tool in found}) < len(found):
            raise ToolError(f"the MCP server '{self.name}' lists two tools of one name")
        return tuple(listed_tool(_as_json(tool)) for tool in found)

    async def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> Answer:
        """The result of one call; raises ``InDoubtError`` if it was sent and no answer came back."""
        client = await self._client()
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        )
        # Not the kit's own call: that one compares the result with a schema of the server's, whose patterns
        # could keep us busy for ever.
        sending = client.session.send_request(request, types.CallToolResult)
        result = await self._asked("did not answer the call", sending, sent=True)
        return Answer(_text_of(result.content, result.structured_content), bool(result.is_error))

    async def list_resources(self) -> tuple[tuple[str, str], ...]:
        """The address and a line about each resource."""
        client = await self._client()
        if client.server_capabilities.resources is None:
            return ()
        pages = self._pages(lambda cursor: client.list_resources(cursor=cursor), lambda page: page.resources)
        found = await self._asked("could not be asked for its resources", pages)
        return tuple((str(one.uri), _about(one.title or one.name, one.description)) for one in found)

    async def list_prompts(self) -> tuple[tuple[str, str], ...]:
        """The name and a line about each prompt, with its arguments."""
        client = await self._client()
        if client.server_capabilities.prompts is None:
            return ()
        pages = self._pages(lambda cursor: client.list_prompts(cursor=cursor), lambda page: page.prompts)
        found = await self._asked("could not be asked for its prompts", pages)
        return tuple((one.name, _about(_arguments(one), one.description)) for one in found)

    async def read_resource(self, uri: str) -> str:
        client = await self._client()
        result = await self._asked("did not give the resource", client.read_resource(uri))
        return _cut("\n".join(_resource_text(each) for each in result.contents))

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        client = await self._client()
        result = await self._asked("did not give the prompt", client.get_prompt(name, dict(arguments)))
        return _cut("\n".join(f"{each.role}: {_block_text(each.content)}" for each in result.messages))

    async def close(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            await life.close()

    async def _client(self) -> Client:
        """The running server; it is started if it does not run."""
        async with self._starting:
            if self._life is not None and not self._life.watch.gone.is_set():
                self._life.watch.begin_request()
                return self._life.ready.result()
            if self._life is not None:
                await self._forget_life("it ended")
            await self._wait_for_turn()
            self._life = life = _Life(self._transport)
            try:
                async with asyncio.timeout(self._patience.start):
                    return await asyncio.shield(life.ready)
            except TimeoutError:
                why = f"it did not answer within {duration(self._patience.start)}"
                await self._forget_life(why)
                raise ToolError(f"the MCP server '{self.name}' did not start: {why}") from None
            except ToolError as error:
                await self._forget_life(str(error))
                raise ToolError(f"the MCP server '{self.name}' did not start: {error}") from error
            except BaseException:
                # The turn was stopped: so is the start.
                await self.close()
                raise

    def _transport(self, watch: Watch) -> "AbstractAsyncContextManager[TransportStreams]":
        if self._entry.url:
            return over_http(self._entry.url, self._entry.headers, watch)
        return over_pipes(self._starter, watch)

    async def _forget_life(self, why: str) -> None:
        """Note a failure: the next start has to wait, longer each time."""
        self._failures += 1
        pause = self._patience.first_pause * 2 ** (self._failures - 1)
        self._not_before = time.monotonic() + min(pause, self._patience.most_pause)
        await self.close()

    async def _wait_for_turn(self) -> None:
        pause = self._not_before - time.monotonic()
        if pause > self._patience.waited:
            raise ToolError(
                f"the MCP server '{self.name}' failed {self._failures} times in a row; "
                f"it can be started again in {duration(pause)}"
            )
        if pause > 0:
            await asyncio.sleep(pause)

    async def _asked(self, what: str, asking: Awaitable[_Found], *, sent: bool = False) -> _Found:
        """The answer to one request; each failure names the server. ``sent``: the request may have acted."""
        life = self._life
        assert life is not None  # the caller has its client
        request = asyncio.ensure_future(asking)
        gone = asyncio.ensure_future(life.watch.gone.wait())
        try:
            await asyncio.wait((request, gone), return_when=asyncio.FIRST_COMPLETED)
            if not request.done():
                await asyncio.wait((request,), timeout=_LAST_ANSWER)
            if not request.done():
                raise self._lost(what, life.watch, sent)
            found = request.result()
        except _BROKEN as error:
            if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                self._failures = 0
                said = plain_line(str(error), 300)
                raise ToolError(f"the MCP server '{self.name}' refused: {said}") from None
            raise self._lost(what, life.watch, sent, error) from error
        finally:
            for task in (request, gone):
                task.cancel()
            await asyncio.gather(request, gone, return_exceptions=True)
        self._failures = 0
        return found

    def _lost(self, what: str, watch: Watch, sent: bool, error: BaseException | None = None) -> ToolError:
        watch.gone.set()
        why = watch.problem or (_reason(error, watch) if error else "it ended")
        return (InDoubtError if sent else ToolError)(f"the MCP server '{self.name}' {what}: {why}")

    async def _pages(
        self, page_at: Callable[[str | None], Awaitable[_Page]], items_of: Callable[[_Page], Sequence[_Found]]
    ) -> list[_Found]:
        """Everything on all pages of a list; a server that never stops listing is refused."""
        found: list[_Found] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await page_at(cursor)
            found += items_of(page)
            cursor = page.next_cursor
            if cursor is None and len(found) <= MOST_TOOLS:
                return found
        raise ToolError(f"the MCP server '{self.name}' lists more than {MOST_TOOLS} entries")


async def _first(*waits: Coroutine[object, object, object]) -> None:
    """Wait for the first of these."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _reason(error: BaseException, watch: Watch) -> str:
    """Why a connection failed, in one line; the kit wraps errors in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, ToolError):
        return str(error)
    ended = isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
    text = "it ended" if ended else plain_line(told(error), 300)
    return f"{text}; it wrote: {watch.last_errors}" if watch.last_errors else text


def _as_json(tool: types.Tool) -> Mapping[str, JsonValue]:
    return cast("Mapping[str, JsonValue]", tool.model_dump(by_alias=True, mode="json", exclude_unset=True))


def _about(name: str, description: str | None) -> str:
    return plain_line(": ".join(filter(None, (name, description))), 300)


def _arguments(prompt: types.Prompt) -> str:
    names = (one.name + ("" if one.required else "?") for one in prompt.arguments or ())
    return f"({', '.join(names)})"


def _text_of(content: Iterable[types.ContentBlock], structured: object) -> str:
    text = "\n".join(_block_text(block) for block in content)
    if not text.strip() and structured is not None:
        text = json.dumps(structured, ensure_ascii=False)
    return _cut(text)


def _block_text(block: types.ContentBlock) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.EmbeddedResource):
        return _resource_text(block.resource)
    if isinstance(block, types.ResourceLink):
        return f"[resource {plain_line(str(block.uri), 300)}: {_about(block.name, block.description)}]"
    return f"[{block.type}, {plain_line(block.mime_type, 60)}: not shown]"


def _resource_text(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(resource, types.TextResourceContents):
        return resource.text
    return f"[{plain_line(resource.mime_type or 'data', 60)}: not shown]"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - len(_CUT)] + _CUT

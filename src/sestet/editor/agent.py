"""Sestet as an agent of an editor: sessions, turns, questions, and their cancelling.

An editor is the owner's own program: what is typed there is the person's, and its answers to questions are
the person's decisions. A file that a prompt mentions is not: an agent reads it by a tool, with its label.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from pathlib import Path
from typing import Any, cast

import acp
from acp import schema

from sestet import __version__
from sestet.app import App
from sestet.core.errors import PersonError
from sestet.core.event import (
    ApprovalRequested,
    Event,
    TurnCancelled,
    TurnPaused,
    TurnStarted,
)
from sestet.core.tool import Tool
from sestet.editor.updates import Updates
from sestet.services.approvals import Decision, Question, Scope
from sestet.services.sessions import new_session_id, read_turns
from sestet.services.standing_answers import allowed, not_covered

_LOADED_TURNS = 200
_ALLOW_ONCE = schema.PermissionOption(option_id="once", name="Allow once", kind="allow_once")
_LONGER = (
    schema.PermissionOption(option_id="session", name="Allow in this session", kind="allow_always"),
    schema.PermissionOption(option_id="always", name="Always allow this", kind="allow_always"),
)
_REJECT = schema.PermissionOption(option_id="deny", name="Deny", kind="reject_once")
_SCOPES: dict[str, Scope] = {"once": "once", "session": "session", "always": "always"}
_NO_SERVERS = "MCP servers of the editor are not used here; 'sestet mcp add' adds one for good.\n\n"

OpenApp = Callable[[], AbstractAsyncContextManager[App]]
Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


class EditorAgent:
    """One connection with an editor. The assistant is opened with the first session, in its folder."""

    def __init__(self, open_app: OpenApp) -> None:
        self._open_app = open_app
        self._stack = AsyncExitStack()
        self._app: App | None = None
        self._folder: Path | None = None
        self._client: acp.Client | None = None
        self._cancelled: set[str] = set()
        #: The sessions whose person has to be told something with the first answer.
        self._notes: dict[str, str] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def close(self) -> None:
        await self._stack.aclose()

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **kwargs: Any,
    ) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION) or acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(
                    image=False, audio=False, embedded_context=False
                ),
            ),
            agent_info=schema.Implementation(name="sestet", title="Sestet", version=__version__),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> None:
        raise _mistake("there is nothing to sign in to: Sestet runs as the person who started the editor")

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **kwargs: Any,
    ) -> acp.NewSessionResponse:
        app = await self._opened(cwd)
        session_id = new_session_id(app.journal)
        warnings = "".join(f"Warning: {warning}\n\n" for warning in app.warnings)
        self._notes[session_id] = warnings + (_NO_SERVERS if mcp_servers else "")
        return acp.NewSessionResponse(session_id=session_id)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
        **kwargs: Any,
    ) -> acp.LoadSessionResponse:
        app = await self._opened(cwd)
        if app.journal.session(session_id) is None:
            raise _mistake(f"there is no session '{session_id}'")
        for turn in read_turns(app.journal, session_id, _LOADED_TURNS):
            updates = Updates(self._root)
            for event in turn:
                if isinstance(event, TurnStarted):
                    await self._tell(session_id, acp.update_user_message_text(event.text))
                await self._show(session_id, updates, event)
        return acp.LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Block], **kwargs: Any) -> acp.PromptResponse:
        app = self._require_app()
        text = "\n".join(_text_of(block) for block in prompt)
        self._cancelled.discard(session_id)
        if note := self._notes.pop(session_id, ""):
            await self._tell(session_id, acp.update_agent_message_text(note))
        updates = Updates(self._root)
        try:
            events = app.run_turn(session_id, text)
            while isinstance(end := await self._follow(session_id, updates, events), TurnPaused):
                if not await self._decide_all(session_id, updates, end):
                    await app.abandon_turn(end.stamp.turn_id)
                    return acp.PromptResponse(stop_reason="cancelled")
                events = app.resume_turn(end.stamp.turn_id)
        except PersonError as error:
            raise _mistake(str(error)) from error
        # A turn that failed has told why, as its last words.
        return acp.PromptResponse(stop_reason="cancelled" if isinstance(end, TurnCancelled) else "end_turn")

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled.add(session_id)
        if self._app is not None:
            self._app.cancel_turn(session_id)

    async def _follow(self, session_id: str, updates: Updates, events: AsyncGenerator[Event]) -> Event | None:
        """Show the events of a turn until its end or pause, and return that."""
        last: Event | None = None
        async with aclosing(events) as following:
            async for event in following:
                last = event
                await self._show(session_id, updates, event)
        return last

    async def _show(self, session_id: str, updates: Updates, event: Event) -> None:
        for update in updates.read(event):
            await self._tell(session_id, update)

    async def _decide_all(self, session_id: str, updates: Updates, paused: TurnPaused) -> bool:
        """Ask the person about each call that the turn waits for; False: they stopped the turn instead."""
        app = self._require_app()
        events = list(app.journal.events_of(paused.stamp.turn_id))
        asked = {event.approval_id: event for event in events if isinstance(event, ApprovalRequested)}
        for approval_id in paused.waiting_for:
            question = app.approvals.get(approval_id)
            if question is None or question.state != "pending":
                continue
            tool = app.standing_tool(question)
            call = updates.asked(asked[approval_id], _longer_yes(question, tool) if tool else "")
            options = [_ALLOW_ONCE, *(_LONGER if tool else ()), _REJECT]
            answer = await self._request(session_id, call, options)
            if answer is None or session_id in self._cancelled:
                return False
            decision: Decision = "approve" if answer in _SCOPES else "deny"
            app.decide(approval_id, decision, _SCOPES.get(answer, "once"))
        return True

    async def _request(
        self, session_id: str, call: schema.ToolCallUpdate, options: list[schema.PermissionOption]
    ) -> str | None:
        """The option that the person chose; None: the turn is cancelled."""
        assert self._client is not None
        answer = await self._client.request_permission(session_id=session_id, tool_call=call, options=options)
        chosen = answer.outcome
        return chosen.option_id if isinstance(chosen, schema.AllowedOutcome) else None

    async def _tell(self, session_id: str, update: Any) -> None:
        assert self._client is not None
        await self._client.session_update(session_id=session_id, update=update)

    async def _opened(self, cwd: str) -> App:
        folder = _folder_at(cwd)
        if self._app is None:
            # As if it had been started there: settings, plug-ins and the workspace are those of the folder.
            os.chdir(folder)
            try:
                self._app = await self._stack.enter_async_context(self._open_app())
            except PersonError as error:
                raise _mistake(str(error)) from error
            self._folder = folder
        elif folder != self._folder:
            raise _mistake(f"this agent works in {self._folder}; start another one for {folder}")
        return self._app

    def _require_app(self) -> App:
        if self._app is None:
            raise _mistake("there is no session yet")
        return self._app

    @property
    def _root(self) -> Path:
        assert self._folder is not None
        return self._folder


def _folder_at(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute() or not folder.is_dir():
        raise _mistake(f"'{cwd}' is not a folder of this machine")
    return folder.resolve()


def _longer_yes(question: Question, tool: Tool) -> str:
    """What the options that last would allow: often more than the call that is shown."""
    unread = not_covered(question)
    return f"a longer yes would let {question.agent} {allowed(question, tool)}" + (
        f" (not covered: {unread})" if unread else ""
    )


def _text_of(block: Block) -> str:
    if isinstance(block, schema.TextContentBlock):
        return block.text
    if isinstance(block, schema.ResourceContentBlock):
        return f"[file: {block.uri.removeprefix('file://')}]"
    if isinstance(block, schema.EmbeddedResourceContentBlock):
        # Its text is not the person's: an agent reads the file itself, with its label.
        return f"[file: {block.resource.uri.removeprefix('file://')}]"
    raise _mistake(f"only text and files can be read, and no {block.type}")


def _mistake(text: str) -> acp.RequestError:
    return acp.RequestError(-32602, text)


async def serve_editor(open_app: OpenApp) -> None:
    """Answer the editor that has started this program, until it closes our stdin."""
    agent = EditorAgent(open_app)
    try:
        # The methods that it lacks are answered as not known.
        await acp.run_agent(cast("acp.Agent", agent))
    finally:
        await agent.close()

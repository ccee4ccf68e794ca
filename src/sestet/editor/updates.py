"""The events of a turn as an editor shows them: text as it comes, a plan, and tool calls with diffs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import acp
from acp.helpers import SessionUpdate, ToolCallContentVariant
from acp.schema import ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind

from sestet.core.clean import clean, one_line
from sestet.core.event import (
    ApprovalRequested,
    DelegationFinished,
    DelegationStarted,
    Event,
    ModelCalled,
    OutputStreamed,
    TextStreamed,
    ToolCalled,
    ToolFinished,
    TurnFailed,
    TurnFinished,
)
from sestet.core.message import ToolCall
from sestet.core.preview import Changes

_BETWEEN = "\n\n"
_LONGEST_TITLE, _LONGEST_OUTPUT = 120, 8_000
#: How an editor draws a call, by the beginning of the tool's name; the longest one counts.
_KINDS: dict[str, ToolKind] = {
    "fs_": "read",
    "fs_write": "edit",
    "fs_edit": "edit",
    "fs_append": "edit",
    "fs_delete": "delete",
    "fs_move": "move",
    "fs_copy": "edit",
    "fs_search": "search",
    "exec": "execute",
    "skill_": "execute",
    "browser_": "fetch",
    "search_": "search",
    "rag_": "search",
    "graph_": "search",
    "memory_recall": "search",
}
_STATUS: dict[str, ToolCallStatus] = {"ok": "completed"}


class Updates:
    """Reads the events of one turn, also through its pauses."""

    def __init__(self, root: Path) -> None:
        """``root``: where relative paths start."""
        self._root = root
        self._reply, self._is_whole, self._told = "", False, False
        self._replies: set[str] = set()
        self._delegated: set[str] = set()
        self._plan: dict[str, acp.schema.PlanEntry] = {}
        self._calls: set[str] = set()
        self._printed: dict[str, str] = {}

    def read(self, event: Event) -> Iterator[SessionUpdate]:
        """What the editor is told of one event."""
        if piece := self._piece(event):
            yield acp.update_agent_message_text(piece)
        match event:
            case DelegationStarted():
                text = f"{event.agent}: {one_line(event.request, _LONGEST_TITLE)}"
                self._plan[event.delegation_id] = acp.plan_entry(text, status="in_progress")
                yield acp.update_plan(self._plan.values())
            case DelegationFinished() if event.delegation_id in self._plan:
                done = self._plan[event.delegation_id]
                self._plan[event.delegation_id] = acp.plan_entry(done.content, status="completed")
                yield acp.update_plan(self._plan.values())
            case ApprovalRequested():
                yield self.start(event.call, event.changes, "pending")
            case ToolCalled():
                yield self.start(event.call, event.changes, "in_progress")
            case OutputStreamed() if event.call_id in self._calls:
                printed = self._printed.get(event.call_id, "") + event.text
                self._printed[event.call_id] = printed[-_LONGEST_OUTPUT:]
                yield acp.update_tool_call(event.call_id, content=[_text(self._printed[event.call_id])])
            case ToolFinished():
                yield from self._finished(event)
            case _:
                pass

    def start(
        self, call: ToolCall, changes: Changes | None, status: ToolCallStatus
    ) -> acp.schema.ToolCallStart | acp.schema.ToolCallProgress:
        """A call that begins, or goes on after the person's decision."""
        if call.id in self._calls:
            return acp.update_tool_call(call.id, status=status)
        self._calls.add(call.id)
        return acp.start_tool_call(
            call.id,
            title_of(call),
            kind=kind_of(call.name),
            status=status,
            content=self.content(call, changes),
            locations=[ToolCallLocation(path=path) for path in self._paths(call)],
            raw_input=dict(call.arguments),
        )

    def asked(self, event: ApprovalRequested, longer: str = "") -> ToolCallUpdate:
        """The call of a question, with the reason, what a ``longer`` yes means, and what it would change."""
        why = "\n".join(filter(None, (event.reason + _from(event.sources), longer)))
        content = [_text(why), *self.content(event.call, event.changes)]
        return ToolCallUpdate(
            tool_call_id=event.call.id,
            title=title_of(event.call),
            kind=kind_of(event.call.name),
            status="pending",
            content=content,
            raw_input=dict(event.call.arguments),
        )

    def content(self, call: ToolCall, changes: Changes | None) -> list[ToolCallContentVariant]:
        """What a call would change: a diff of its file, or the lines that say it."""
        if changes is None or not changes.lines:
            return []
        paths = self._paths(call)
        old, new = (
            "\n".join(line.text for line in changes.lines if line.mark in marks) for marks in (" -", " +")
        )
        more = [_text(f"{changes.left_out:,} more lines are not shown here")] if changes.left_out else []
        if len(paths) == 1 and old != new:
            return [acp.tool_diff_content(paths[0], new, old or None), *more]
        lines = [f"{line.mark} {line.text}" for line in changes.lines]
        return [_text("\n".join(lines)), *more]

    def _finished(self, event: ToolFinished) -> Iterator[SessionUpdate]:
        if event.call.id not in self._calls:
            yield self.start(event.call, None, "in_progress")
        text = clean(event.for_person or event.text)[:_LONGEST_OUTPUT]
        status = _STATUS.get(event.outcome, "failed")
        yield acp.update_tool_call(event.call.id, status=status, content=[_text(text)] if text else None)

    def _paths(self, call: ToolCall) -> list[str]:
        given = [call.arguments.get(name) for name in ("path", "destination")]
        named = [path for path in given if isinstance(path, str) and path and call.name.startswith("fs_")]
        return [str(self._root / Path(path).expanduser()) for path in named]

    def _piece(self, event: Event) -> str:
        """The next piece of the answer; texts of several agents at once are not mixed."""
        match event:
            case DelegationStarted():
                self._delegated.add(event.delegation_id)
                if event.reply:
                    self._replies.add(event.delegation_id)
            case TextStreamed() if not event.delegation_id or (
                event.delegation_id in self._replies and len(self._delegated) == 1
            ):
                if self._is_whole:
                    self._reply, self._is_whole = "", False
                between = _BETWEEN if self._told and not self._reply else ""
                self._reply, self._told = self._reply + event.text, True
                return between + event.text
            case ModelCalled():
                self._is_whole = True
                if not event.delegation_id:
                    self._delegated.clear()
            case TurnFinished() | TurnFailed():
                if self._reply and event.text.startswith(self._reply):
                    return event.text[len(self._reply) :]
                return (_BETWEEN if self._told else "") + event.text
            case _:
                pass
        return ""


def kind_of(tool: str) -> ToolKind:
    # A tool of an MCP server has two of them after the server's name, which may be any word.
    beginnings = [] if "__" in tool else [each for each in _KINDS if tool.startswith(each)]
    return _KINDS[max(beginnings, key=len)] if beginnings else "other"


def title_of(call: ToolCall) -> str:
    arguments = " ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items()
    )
    return one_line(f"{call.name} {arguments}", _LONGEST_TITLE)


def _from(sources: Sequence[str]) -> str:
    return f"\nfrom: {', '.join(sources)}" if sources else ""


def _text(text: str) -> acp.schema.ContentToolCallContent:
    return acp.tool_content(acp.text_block(clean(text)))

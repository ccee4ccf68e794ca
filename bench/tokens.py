"""``python -m bench.tokens``: the tokens that models read in a turn, with specialists and with a flat agent.

It runs in the present environment with the default settings and a scripted model. Four characters count as
one token, in instructions, messages, calls and definitions of tools alike.
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sestet
from sestet.core.agent import ASSISTANT, ORCHESTRATOR, SHOW_RESULTS, TRANSFER
from sestet.core.message import AssistantMessage
from sestet.core.model import CHARACTERS_PER_TOKEN, ModelRequest
from sestet.models.scripted import ScriptItem

#: What the specialists may read of what the flat agent reads.
BAR = 0.6
_TURNS = 10
_LIST, _SEARCH, _RECALL = (
    sestet.ToolCall("fs_list", {}),
    sestet.ToolCall("search_knowledge", {"query": "refunds"}),
    sestet.ToolCall("memory_recall", {"query": "tea"}),
)
_OWNERS = {"operator": _LIST, "librarian": _SEARCH, "chronicler": _RECALL}
_PARTS = "list the files here, look up refunds in the knowledge base, and tell me what I said about tea"
_ANSWER = "Nothing was found for this."


class Story(NamedTuple):
    """A conversation: what the person says, and which specialists have a part in each turn."""

    name: str
    texts: Sequence[str]
    agents: Sequence[str]


STORIES = (
    Story("a greeting", ["hello"], []),
    Story("one tool", ["list the files here"], ["operator"]),
    Story("three parts", [_PARTS], ["operator", "librarian", "chronicler"]),
    Story("ten turns with one tool each", ["list the files here"] * _TURNS, ["operator"]),
)


class Row(NamedTuple):
    story: str
    flat: int
    #: The specialists write their answers, and the answers of several are joined by code.
    written: int
    #: The specialists let the results of their tools go to the person.
    shown: int


class Tokens(NamedTuple):
    tools: int
    rows: list[Row]

    def to_json(self) -> dict[str, object]:
        return {"tools": self.tools, "rows": [row._asdict() for row in self.rows]}


def measure_tokens() -> Tokens:
    rows: list[Row] = []
    tools = 0
    for story in STORIES:
        tools, flat = asyncio.run(_read(story, _flat(story), multi_agent=False))
        counts = [
            asyncio.run(_read(story, _delegated(story, shows), multi_agent=True))[1]
            for shows in (False, True)
        ]
        rows.append(Row(story.name, flat, *counts))
    return Tokens(tools, rows)


def _flat(story: Story) -> dict[str, list[ScriptItem]]:
    turn: list[ScriptItem] = [[_OWNERS[agent] for agent in story.agents]] if story.agents else []
    return {ASSISTANT: [*turn, _ANSWER] * len(story.texts)}


def _delegated(story: Story, shows: bool) -> dict[str, list[ScriptItem]]:
    if not story.agents:
        return {ORCHESTRATOR: [_ANSWER]}
    show = sestet.ToolCall(SHOW_RESULTS, {})
    calls = [
        sestet.ToolCall(TRANSFER, {"agent_name": agent, "request": _PARTS[:30], "reply": True})
        for agent in story.agents
    ]
    script: dict[str, list[ScriptItem]] = {ORCHESTRATOR: [calls] * len(story.texts)}
    for agent in story.agents:
        turn: list[ScriptItem] = [[_OWNERS[agent], show]] if shows else [_OWNERS[agent], _ANSWER]
        script[agent] = turn * len(story.texts)
    return script


async def _read(
    story: Story, script: Mapping[str, list[ScriptItem]], *, multi_agent: bool
) -> tuple[int, int]:
    """The number of tools, and the tokens of all requests of the story."""
    model = sestet.ScriptedModel(script)
    with tempfile.TemporaryDirectory() as home:
        async with sestet.open({"agent": {"multiAgent": multi_agent}}, model=model, home=home) as app:
            agents = (app.root, *app.root.sub_agents)
            for text in story.texts:
                end = await app.ask(text, "s1")
                if end.outcome != "finished":
                    raise SystemExit(f"the story '{story.name}' ended as {end.outcome}")
            tools = sum(len(agent.tools or ()) for agent in agents)
    return tools, sum(map(_tokens, model.requests))


def _tokens(request: ModelRequest) -> int:
    calls = [
        call.arguments
        for each in request.messages
        if isinstance(each, AssistantMessage)
        for call in each.calls
    ]
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in request.tools
    ]
    texts = (
        request.instruction,
        *(message.text for message in request.messages),
        json.dumps(calls),
        json.dumps(tools),
    )
    return sum(map(len, texts)) // CHARACTERS_PER_TOKEN


def draw_tokens(found: Tokens) -> str:
    """One row for each story, with the ratios to the flat agent."""
    lines = [
        f"| tokens read, {found.tools} tools | flat agent | specialists that show results"
        " | that write answers | bar |",
        "|---|---|---|---|---|",
    ]
    for story, flat, written, shown in found.rows:
        ratios = " | ".join(f"{count:,} ({count / flat:.2f})" for count in (shown, written))
        lines.append(f"| {story} | {flat:,} | {ratios} | ≤ {BAR} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(draw_tokens(measure_tokens()))

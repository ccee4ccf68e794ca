"""A whole request in the form of each vendor, word for word."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sestet.core.message import AssistantMessage, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelRequest
from sestet.core.schema import object_schema
from sestet.core.tool import Tool
from tests.models.dialects import DIALECTS, Dialect, Text
from tests.models.test_dialects import items_of, model_at

PLACE = Path(__file__).parent / "golden"
READ = Tool(
    "fs_read",
    "Read a file.",
    object_schema({"path": {"type": "string"}, "lines": {"type": "integer", "default": 10}}, ["path"]),
)
LIST = Tool("fs_list", "List a directory.", object_schema({"path": {"type": "string"}}, ["path"]))
REQUEST = ModelRequest(
    "operator",
    "Be brief.",
    (
        UserMessage("read both"),
        AssistantMessage(
            "Reading.", (ToolCall("fs_read", {"path": "a"}, "c-1"), ToolCall("fs_list", {}, "c-2"))
        ),
        ToolMessage("c-1", "fs_read", "alpha"),
        ToolMessage("c-2", "fs_list", "no such directory", failed=True),
        AssistantMessage("", (ToolCall("fs_read", id="c-3", malformed='{"p'),)),
        ToolMessage("c-3", "fs_read", "that is not JSON", failed=True),
        AssistantMessage("Half done."),
        UserMessage("go on"),
    ),
    (READ, LIST),
)


async def body_of(dialect: Dialect) -> Mapping[str, object]:
    async with model_at(dialect, dialect.reply(Text(["ok"]))) as (model, server):
        await items_of(model, REQUEST)
    return server.body


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.type)
async def test_a_request_on_the_wire_is_the_one_on_record(dialect: Dialect) -> None:
    on_record = json.loads((PLACE / f"{dialect.type}.json").read_text(encoding="utf-8"))
    assert await body_of(dialect) == on_record

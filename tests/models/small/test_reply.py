"""Real replies of small models: calls are found, and other JSON is left alone."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sestet.core.message import ToolCall
from sestet.core.schema import object_schema
from sestet.core.tool import Tool
from sestet.models.small.loose_json import find_json, parse_loosely
from sestet.models.small.reply import AnswerStream, Reply, read_reply

READ = Tool(
    "fs_read",
    "Read a file",
    object_schema({"path": {"type": "string"}, "lines": {"type": "integer"}}, ["path"]),
)
LIST = Tool("fs_list", "List", object_schema({"folder": {"type": "string"}}))
TOOLS = (READ, LIST)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)
CALL = ToolCall("fs_read", {"path": "notes.txt"})


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "fs_read", "arguments": {"path": "notes.txt"}}',
        '```json\n{"name": "fs_read", "arguments": {"path": "notes.txt"}}\n```',
        '```json\n{\n  "name": "fs_read",\n  "parameters": {\n    "path": "notes.txt"\n  }\n}\n```',
        '<tool_call>\n{"name": "fs_read", "arguments": {"path": "notes.txt"}}\n</tool_call>',
        '<tools>{"name": "fs_read", "arguments": {"path": "notes.txt"}}</tools>',
        "{'tool': 'fs_read', 'arguments': {'path': 'notes.txt',},}",
        '{"tool": "FS-Read", "arguments": {"Path": "notes.txt"}}',
        '{"tool": "fs_read", "path": "notes.txt"}',
        '{"fs_read": {"path": "notes.txt"}}',
        '{"path": "notes.txt"}',
        '{"function": {"name": "fs_read", "arguments": "{\\"path\\": \\"notes.txt\\"}"}}',
        '{"type": "function", "function": {"name": "fs_read", "parameters": {"path": "notes.txt"}}}',
        '{"tool_calls": [{"name": "fs_read", "arguments": {"path": "notes.txt"}}]}',
        '[{"name": "fs_read", "arguments": {"path": "notes.txt"}}]',
        "{tool: fs_read, arguments: {path: notes.txt}}",
        '{"tool": "fs_read", "arguments": {"path": "notes.txt"}',
        '{"tool": "fs_read", "arguments": "notes.txt"}',
        '{"tool": "fs_read", "arguments": {"arguments": {"path": "notes.txt"}}}',
        '{"action": "fs_read", "action_input": {"path": "notes.txt"}}',
    ],
)
def test_a_call_is_found_however_it_is_written(text: str) -> None:
    assert read_reply(text, TOOLS) == Reply("", (CALL,))


def test_what_is_said_before_a_call_is_kept_and_what_follows_is_not() -> None:
    text = 'I will read it.\n```json\n{"name": "fs_read", "arguments": {"path": "notes.txt"}}\n```\nDone!'

    assert read_reply(text, TOOLS) == Reply("I will read it.", (CALL,))


def test_several_calls_in_one_reply_are_all_made() -> None:
    text = '{"tool": "fs_list", "arguments": {}}\n{"tool": "fs_read", "path": "notes.txt"}'

    assert read_reply(text, TOOLS).calls == (ToolCall("fs_list"), CALL)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "It says: \\"milk\\"."}', 'It says: "milk".'),
        ('```json\n{"answer": "Two files."}\n```', "Two files."),
        ('{"source": "garden.md", "answer": "On Mondays."}', "On Mondays.\n\nSource: garden.md"),
        ('{"source": "none", "answer": "Nothing was found."}', "Nothing was found."),
        ('{"source": "garden.md", "answer": "garden.md says Mondays."}', "garden.md says Mondays."),
        ('{"answer": "cut off in the mid', "cut off in the mid"),
        ("Just words.", "Just words."),
        ("", ""),
        ('The file is:\n{"name": "shop", "version": 2}', 'The file is:\n{"name": "shop", "version": 2}'),
        ('{"name": "shop", "version": 2}', '{"name": "shop", "version": 2}'),
        ("Use {braces} and [brackets] freely.", "Use {braces} and [brackets] freely."),
    ],
)
def test_an_answer_is_read_and_other_json_is_left_alone(text: str, answer: str) -> None:
    assert read_reply(text, TOOLS) == Reply(answer)


def test_a_tool_that_nobody_has_is_called_by_its_name_so_that_the_model_is_told() -> None:
    reply = read_reply('{"tool": "shell_run", "arguments": {"command": "ls"}}', TOOLS)

    assert reply.calls == (ToolCall("shell_run", {"command": "ls"}),)


def test_arguments_that_mean_nothing_are_passed_on_as_malformed() -> None:
    two = Tool("pair", "", object_schema({"a": {"type": "string"}, "b": {"type": "string"}}, ["a", "b"]))

    assert read_reply('{"tool": "pair", "arguments": [1, 2]}', (two,)).calls[0].malformed


@given(st.text() | st.text("{}[]\"':,\\ntfuse0 1"))
@example("{00")
@example("{a: ٣}")
@example(f"[{'9' * 5_000}, ]")
def test_no_reply_raises(text: str) -> None:
    read_reply(text, TOOLS)


@given(ANY_JSON)
def test_json_that_is_right_is_read_as_it_is(value: object) -> None:
    if isinstance(value, (dict, list)):
        assert parse_loosely(json.dumps(value)) == value
        assert [found.value for found in find_json(f"so: {json.dumps(value)}.")] == [value]


def test_a_row_of_digits_without_end_is_no_number() -> None:
    digits = "9" * 5_000

    assert parse_loosely(f"{{'number': {digits}}}") == {"number": digits}
    assert parse_loosely(f'{{"number": {digits}}}') == {"number": digits}


def test_a_text_full_of_braces_ends_soon() -> None:
    assert read_reply("{" * 100_000, TOOLS).calls == ()


@given(st.text(), st.integers(1, 7))
def test_an_answer_is_shown_piece_by_piece_without_its_wrapping(answer: str, width: int) -> None:
    text = json.dumps({"answer": answer})
    stream, shown = AnswerStream(), ""
    for start in range(0, len(text), width):
        shown += stream.feed(text[start : start + width])
        assert answer.startswith(shown)
    assert shown == answer.rstrip()
    assert shown + stream.rest(answer) == answer


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["Let me ", "look.\n``", '`json\n{"tool": "fs_list"}\n```'], "Let me look."),
        (['{"to', 'ol": "fs_list", "arguments": {}}'], ""),
        (["<tool", '_call>{"name": "fs_list"}'], ""),
        (["Two ", "files", "."], "Two files."),
        (['{"source": "a \\"b\\"", ', '"answer": "yes', " \\u00e9\\ud83d", '\\ude00"}'], "yes é😀"),
    ],
)
def test_calls_are_never_shown(pieces: list[str], shown: str) -> None:
    stream = AnswerStream()

    assert "".join(stream.feed(piece) for piece in pieces) == shown

"""Work whose order code knows: the small model writes the script, and decides nothing else."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from sestet.core.message import AssistantMessage, Found, Message, ToolCall, ToolMessage, UserMessage
from sestet.core.model import ModelReply, ModelRequest, TextDelta, Usage
from sestet.core.schema import JsonObject, object_schema
from sestet.core.tool import Tool
from sestet.models.scripted import ScriptedModel
from sestet.models.small.model import SmallModel
from sestet.runtime.delegation import REJECT_TOOL
from tests.models.small.test_small_model import TRANSFER, Writer

_TEXT: JsonObject = {"type": "string"}
WRITE = Tool("fs_write", "Write a file.", object_schema({"path": _TEXT, "text": _TEXT}, ["path", "text"]))
RUN = Tool("exec_run", "Run a command.", object_schema({"command": _TEXT}, ["command"]))
SKILL = Tool("skill_run", "Run a skill.", object_schema({"name": _TEXT}, ["name"]))
LIST = Tool("fs_list", "List files.", object_schema({"path": _TEXT}, []))
SEARCH = Tool("fs_search", "Search files.", object_schema({"text": _TEXT}, ["text"]))
TOOLS = (WRITE, RUN, SKILL, LIST, SEARCH, REJECT_TOOL)
COUNT = "write a script that counts the words in notes.txt and run it"
GOOD = '{"tool": "fs_write", "arguments": {"path": "count.py", "text": "print(3)\\n"}}'


def _request(text: str, *done: tuple[ToolCall, ToolMessage]) -> ModelRequest:
    messages: list[Message] = [UserMessage(text)]
    for call, result in done:
        messages += [AssistantMessage("", (call,)), result]
    return ModelRequest("operator", "You are the operator.", tuple(messages), TOOLS)


async def _ask(model: Writer, request: ModelRequest) -> tuple[str, ModelReply]:
    *shown, reply = [item async for item in SmallModel(model, ()).stream(request)]
    assert isinstance(reply, ModelReply)
    return "".join(item.text for item in shown if isinstance(item, TextDelta)), reply


def _written(
    text: str = "Wrote count.py, a new file: 1 line.", *, failed: bool = False, for_person: str = ""
):
    call = ToolCall("fs_write", {"path": "count.py", "text": "print(3)\n"}, "1")
    return call, ToolMessage("1", "fs_write", text, failed, for_person)


def _ran(text: str) -> tuple[ToolCall, ToolMessage]:
    return ToolCall("exec_run", {"command": "python3 count.py"}, "2"), ToolMessage("2", "exec_run", text)


async def test_for_a_script_the_model_can_only_write_a_new_python_file() -> None:
    model = Writer(GOOD)

    shown, reply = await _ask(model, _request(COUNT))

    assert shown == ""
    assert reply.calls == (ToolCall("fs_write", {"path": "count.py", "text": "print(3)\n"}),)
    (only,) = _choices(model)
    assert only["tool"] == {"const": "fs_write"}
    pattern = str(_path(only)["pattern"])
    assert re.search(pattern, "count_words.py")
    for path in ("notes.txt", "../x.py", "/etc/x.py", ".py", "a/b.py", "notes.txt\nx.py"):
        assert not re.search(pattern, path), path


def _choices(model: Writer) -> list[Mapping[str, JsonObject]]:
    """The fields of each reply that the grammar allows."""
    schema = model.requests[0].schema
    assert schema is not None
    choices = cast("Sequence[JsonObject]", schema["anyOf"])
    return [cast("Mapping[str, JsonObject]", choice["properties"]) for choice in choices]


def _path(choice: Mapping[str, JsonObject]) -> JsonObject:
    return cast("Mapping[str, JsonObject]", choice["arguments"]["properties"])["path"]


async def test_the_instruction_is_the_usual_one_so_that_it_is_read_only_once() -> None:
    model = Writer(GOOD, '{"answer": "Nothing."}')
    await _ask(model, _request(COUNT))
    await _ask(model, _request("tell me about this folder"))

    assert model.requests[0].instruction == model.requests[1].instruction


@pytest.mark.parametrize(
    ("request_text", "allowed", "language"),
    [
        ("write a script called tally.py that counts lines and run it", "tally.py", "Python"),
        ("write a script called tally.sh that counts lines and run it", "tally.sh", "Bash"),
        ("write a bash script that counts lines and run it", "count_lines.sh", "Bash"),
    ],
)
async def test_the_name_and_the_language_are_those_of_the_request(
    request_text: str, allowed: str, language: str
) -> None:
    model = Writer('{"tool": "fs_write", "arguments": {"path": "x", "text": "x"}}')

    await _ask(model, _request(request_text))

    path = _path(_choices(model)[0])
    assert path == {"const": allowed} or re.search(str(path["pattern"]), allowed)
    assert f"the whole {language} script" in model.requests[0].messages[-1].text


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("for x in y\n", "line 1: expected ':'"),
        ("import sys\nprint(sys.argv[1])\n", "it is started without arguments"),
        ("print(input())\n", "nobody types anything for it"),
    ],
)
async def test_a_script_that_cannot_work_is_written_once_more(broken: str, told: str) -> None:
    model = Writer(_reply(broken), GOOD)

    _, reply = await _ask(model, _request("write a script that prints three and run it"))

    assert reply.calls[0].arguments["text"] == "print(3)\n"
    _, written, objection = model.requests[1].messages
    assert (written.text, told in objection.text) == (_reply(broken), True)


async def test_a_script_that_reads_arguments_gets_the_files_that_the_request_names() -> None:
    text = "import sys\nprint(open(sys.argv[1]).read())\n"
    model = Writer(_reply(text))
    _, reply = await _ask(model, _request(COUNT))
    assert reply.calls[0].arguments["text"] == text

    call = ToolCall("fs_write", {"path": "count.py", "text": text}, "1")
    _, reply = await _ask(Writer(), _request(COUNT, (call, ToolMessage("1", "fs_write", "Wrote count.py."))))

    assert reply.calls == (ToolCall("exec_run", {"command": "python3 count.py notes.txt"}),)


async def test_the_tokens_of_both_attempts_are_counted() -> None:
    broken = ModelReply(_reply("for x in y\n"), usage=Usage(10, 5))
    model = ScriptedModel({"operator": [broken, ModelReply(GOOD, usage=Usage(20, 7))]})

    *_, reply = [item async for item in SmallModel(model, ()).stream(_request(COUNT))]

    assert isinstance(reply, ModelReply)
    assert reply.usage == Usage(30, 12)


async def test_a_second_script_that_cannot_work_is_shown_to_the_person_as_it_is() -> None:
    model = Writer(_reply("for x in y\n"), _reply("still wrong(\n"))

    _, reply = await _ask(model, _request(COUNT))

    assert reply.calls[0].arguments["text"] == "still wrong(\n"
    assert model.texts == []


def _reply(text: str) -> str:
    return json.dumps({"tool": "fs_write", "arguments": {"path": "count.py", "text": text}})


async def test_code_runs_the_script_that_was_written() -> None:
    _, reply = await _ask(Writer(), _request(COUNT, _written()))

    assert reply.calls == (ToolCall("exec_run", {"command": "python3 count.py"}),)
    assert reply.free


async def test_the_answer_is_what_the_script_printed_and_nothing_else() -> None:
    shown, reply = await _ask(Writer(), _request(COUNT, _written(), _ran("Exit code 0\n# 3 ```")))

    assert shown == reply.text == "Wrote count.py, a new file: 1 line.\n\n````\nExit code 0\n# 3 ```\n````"
    assert reply.calls == ()


async def test_a_denied_script_is_neither_run_nor_written_again() -> None:
    denied = _written("the person said no; do not try again", failed=True, for_person="not done: you said no")

    shown, reply = await _ask(Writer(), _request(COUNT, denied))

    assert (shown, reply.calls) == ("not done: you said no", ())


async def test_a_script_that_is_not_to_be_run_is_not_run() -> None:
    shown, reply = await _ask(Writer(), _request(COUNT.removesuffix(" and run it"), _written()))

    assert (shown, reply.calls) == ("Wrote count.py, a new file: 1 line.", ())


async def test_a_named_script_that_no_program_runs_is_left_to_the_model() -> None:
    call = ToolCall("fs_write", {"path": "count.xyz", "text": "3"}, "1")
    done = (call, ToolMessage("1", "fs_write", "Wrote count.xyz."))

    _, reply = await _ask(Writer('{"answer": "Done."}'), _request(COUNT, done))

    assert reply.text == "Done."


async def test_the_tests_of_a_project_are_found_by_rule() -> None:
    _, reply = await _ask(Writer(), _request("run the tests"))

    assert [call.name for call in reply.calls] == ["fs_list"]


@pytest.mark.parametrize("path", ["notes.txt", "garden/notes.txt"])
async def test_words_are_counted_by_a_command_and_not_in_the_head_of_the_model(path: str) -> None:
    asked = "how many words are in notes.txt"
    _, reply = await _ask(Writer(), _request(asked))
    assert reply.calls == (ToolCall("fs_search", {"text": "notes.txt"}),)

    there = ToolMessage("1", "fs_search", path, found=(Found(path, ""),))
    looked = (ToolCall("fs_search", {"text": "notes.txt"}, "1"), there)
    _, reply = await _ask(Writer(), _request(asked, looked))
    assert reply.calls == (ToolCall("exec_run", {"command": f"wc -w {path}"}),)

    ran = ToolCall("exec_run", {"command": f"wc -w {path}"}, "2")
    counted = (ran, ToolMessage("2", "exec_run", f"15 {path}"))
    shown, _ = await _ask(Writer(), _request(asked, looked, counted))
    assert shown == f"```\n15 {path}\n```"


async def test_words_are_counted_at_once_where_no_tool_finds_files() -> None:
    request = _request("how many words are in notes.txt")

    _, reply = await _ask(Writer(), request._replace(tools=(RUN, REJECT_TOOL)))

    assert reply.calls == (ToolCall("exec_run", {"command": "wc -w notes.txt"}),)


async def test_an_orchestrator_goes_on_as_before() -> None:
    model = Writer('{"answer": "Hello."}')
    request = ModelRequest("orchestrator", "You route.", (UserMessage(COUNT),), (TRANSFER,))

    _, reply = await _ask(model, request)

    assert reply.text == "Hello."


async def test_without_the_tools_for_it_the_model_decides() -> None:
    model = Writer('{"answer": "I cannot."}')
    request = _request(COUNT)._replace(tools=(LIST, REJECT_TOOL))

    assert (await _ask(model, request))[1].text == "I cannot."

"""A whole turn over a server on loopback whose model makes its calls in text."""

import json
from pathlib import Path

import pytest

import sestet
from sestet.core.errors import ConfigError, PersonError
from sestet.core.event import ApprovalRequested, Event, ToolFinished, TurnFinished
from tests.models.model_server import Answer, ModelServer, refused, said, serve
from tests.models.openai_wire import finish, text


def wrote(reply: object) -> Answer:
    """A reply in two pieces."""
    written = reply if isinstance(reply, str) else json.dumps(reply)
    return said(text(written[:7]), text(written[7:]), finish())


def asks(agent: str, request: str) -> Answer:
    arguments = {"agent_name": agent, "request": request, "reply": True}
    return wrote({"tool": "transfer_to_agent", "arguments": arguments})


def settings(server: ModelServer) -> dict[str, object]:
    home = {"baseUrl": server.url, "toolCalls": "text", "retries": 0}
    return {"agent": {"provider": "home", "model": "tiny"}, "providers": {"home": home}}


async def run(app: sestet.App, words: str) -> list[Event]:
    return [event async for event in app.run_turn("s1", words)]


async def test_calls_in_text_drive_a_turn_from_the_request_to_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fenced = '```json\n{"name": "fs_read", "parameters": {"Path": "notes.txt"}}\n```'
    replies = [asks("operator", "Notizen ansehen"), wrote(fenced), wrote({"answer": "It says: buy milk."})]
    async with serve(*replies) as server, sestet.open(settings(server), home=tmp_path / "home") as app:
        # Rules lead what they understand, and they understand no German.
        end = (await run(app, "Kannst du meine Notizen ansehen?"))[-1]

    assert isinstance(end, TurnFinished)
    assert (end.author, end.text) == ("operator", "It says: buy milk.")
    first, _, last = (received.body for received in server.received)
    assert "tools" not in first
    assert first["response_format"]["json_schema"]["schema"]["anyOf"][0]["properties"]["tool"] == {
        "const": "transfer_to_agent"
    }
    assert last["messages"][-1]["content"].startswith("fs_read gave this result:\nnotes.txt")


async def test_what_it_would_change_is_asked_about_every_time(tmp_path: Path) -> None:
    remember = wrote({"tool": "memory_remember", "arguments": {"fact": "I like tea"}})
    again = wrote({"tool": "memory_remember", "arguments": {"fact": "I like coffee"}})
    replies = [
        asks("chronicler", "Merken!"),
        remember,
        wrote({"answer": "Done."}),
        asks("chronicler", "Auch das!"),
        again,
    ]
    async with serve(*replies) as server, sestet.open(settings(server), home=tmp_path) as app:
        asked = [event for event in await run(app, "Ich mag Tee") if isinstance(event, ApprovalRequested)]
        assert asked[0].reason == "it changes something, and a small local model chose it"
        with pytest.raises(PersonError, match="only be approved once at a time"):
            app.decide(asked[0].approval_id, "approve", "always")
        app.approvals.decide(asked[0].approval_id, "approve", "always")
        rest = [event async for event in app.resume_turn(asked[0].stamp.turn_id)]
        assert [event.outcome for event in rest if isinstance(event, ToolFinished)] == ["ok"]
        # The standing answer was given for a larger model.
        assert any(isinstance(event, ApprovalRequested) for event in await run(app, "und Kaffee"))
        assert app.is_small


async def test_a_server_that_knows_no_schema_is_asked_without_one(tmp_path: Path) -> None:
    answers = [refused(400, "response_format is not supported"), wrote("Hello there!")]
    async with serve(*answers) as server, sestet.open(settings(server), home=tmp_path) as app:
        end = (await run(app, "Wie heißt du?"))[-1]

    assert isinstance(end, TurnFinished)
    assert end.text == "Hello there!"
    assert ["response_format" in received.body for received in server.received] == [True, False]


async def test_only_servers_that_speak_openais_protocol_take_calls_in_text(tmp_path: Path) -> None:
    home = {"type": "anthropic", "apiKey": "k", "toolCalls": "text"}
    given = {"agent": {"provider": "home", "model": "m"}, "providers": {"home": home}}
    with pytest.raises(ConfigError, match=r"providers\.home\.toolCalls: 'text' is for servers"):
        async with sestet.open(given, home=tmp_path):
            pass


async def test_what_rules_understand_takes_no_call_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("Buy milk.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    async with serve() as server, sestet.open(settings(server), home=tmp_path / "home") as app:
        read = (await run(app, "read notes.txt"))[-1]
        sums = (await run(app, "what is 17 * 23?"))[-1]
        mail = (await run(app, "send an email to Bob"))[-1]

    assert not server.received
    assert isinstance(read, TurnFinished)
    assert (read.author, read.text) == ("operator", "notes.txt:\nBuy milk.")
    assert isinstance(sums, TurnFinished)
    assert "391" in sums.text
    assert isinstance(mail, TurnFinished)
    assert mail.text.startswith("I cannot send or read messages")


async def test_a_file_to_think_about_is_read_by_rule_and_the_model_answers_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garden.md").write_text("The roses are watered on Monday.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    request = "read garden.md and tell me on which day the roses are watered"
    reply = wrote("On Monday.")
    async with serve(reply) as server, sestet.open(settings(server), home=tmp_path / "home") as app:
        events = await run(app, request)

    end = events[-1]
    assert isinstance(end, TurnFinished)
    assert (end.author, end.text) == ("operator", "On Monday.")
    (received,) = server.received
    assert "The roses are watered on Monday." in received.body["messages"][-1]["content"]
    assert [event.call.name for event in events if isinstance(event, ToolFinished)] == ["fs_read"]


async def test_a_question_without_an_answer_on_record_is_the_models_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with serve(wrote("Paris.")) as server, sestet.open(settings(server), home=tmp_path) as app:
        end = (await run(app, "what is the capital of France?"))[-1]
        personal = (await run(app, "what is my shoe size?"))[-1]

    assert isinstance(end, TurnFinished)
    assert end.text == "Paris."
    assert len(server.received) == 1
    assert isinstance(personal, TurnFinished)
    assert "nothing on record" in personal.text


async def test_talk_is_asked_for_with_a_short_instruction_and_no_schema(tmp_path: Path) -> None:
    async with serve(wrote("Hello!")) as server, sestet.open(settings(server), home=tmp_path) as app:
        end = (await run(app, "hello"))[-1]

    assert isinstance(end, TurnFinished)
    assert end.text == "Hello!"
    (received,) = server.received
    assert "response_format" not in received.body
    assert "transfer_to_agent" not in json.dumps(received.body)


async def test_a_change_is_never_guessed_by_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "Souviens-toi que j'aime le café."
    replies = [asks("operator", words), wrote({"answer": "Je ne peux pas le faire ici."})]
    async with serve(*replies) as server, sestet.open(settings(server), home=tmp_path / "home") as app:
        events = await run(app, words)

    assert not any(isinstance(event, ApprovalRequested) for event in events)
    assert len(server.received) == 2

"""Requests to a remote agent, and how its answers are read."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from a2a.helpers import new_text_message, new_text_part
from a2a.server.tasks import TaskUpdater
from a2a.types import TaskState
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sestet.config.settings import RemoteAgentSettings
from sestet.core.errors import InDoubtError, ToolError
from sestet.remote.load import LoadedPeer, load_remote_agents
from tests.remote.server import PATIENCE, Agent, Json, card_json, hang, plain_server, running_agent

_INTERFACES = [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3")]


@asynccontextmanager
async def _peer(url: str, seconds: float = PATIENCE) -> AsyncGenerator[LoadedPeer]:
    entry = RemoteAgentSettings("weather", url)
    loaded = await load_remote_agents([entry], timeout=PATIENCE, answer_timeout=seconds)
    assert loaded.warnings == ()
    (peer,) = loaded.peers
    try:
        yield peer
    finally:
        await peer.close()


async def _ask(agent: Agent, request: str = "How is the weather?") -> str:
    async with running_agent(agent) as server, _peer(server.url) as peer:
        return await peer.ask(request)


async def test_a_message_is_the_answer() -> None:
    assert await _ask(Agent("It is sunny.")) == "It is sunny."


async def test_the_text_parts_of_a_message_are_joined() -> None:
    message = new_text_message("It is sunny.")
    message.parts.add(url="https://example.org/map.png")
    message.parts.add(text="It will rain.")

    assert await _ask(Agent(message)) == "It is sunny.\nIt will rain."


async def test_the_request_arrives_alone() -> None:
    async with running_agent(Agent("sunny")) as server, _peer(server.url) as peer:
        await peer.ask("How is the weather in Köln?")

    card, sent = server.received
    assert card.body == {}
    assert sent.body["method"] == "SendMessage"
    assert sent.body["params"]["message"].pop("messageId")
    assert sent.body["params"] == {
        "message": {"role": "ROLE_USER", "parts": [{"text": "How is the weather in Köln?"}]},
        "configuration": {"returnImmediately": True},
    }
    assert set(card.headers) <= set(sent.headers) | {"accept"}
    assert set(sent.headers) == {
        "accept",
        "accept-encoding",
        "a2a-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }


async def test_nothing_ties_two_requests_together() -> None:
    async def respond(request: Request) -> Response:
        if request.method == "GET":
            return JSONResponse(card_json(str(request.base_url)), headers={"set-cookie": "who=you"})
        message = {"messageId": "1", "contextId": "c", "role": "ROLE_AGENT", "parts": [{"text": "sunny"}]}
        answer = {"jsonrpc": "2.0", "id": "1", "result": {"message": message}}
        return JSONResponse(answer, headers={"set-cookie": "who=you"})

    async with plain_server(respond) as server, _peer(server.url) as peer:
        await peer.ask("one")
        await peer.ask("two")

    _, one, two = server.received
    assert "cookie" not in {*one.headers, *two.headers}
    assert one.body["params"]["message"]["messageId"] != two.body["params"]["message"]["messageId"]
    assert "contextId" not in two.body["params"]["message"]


@pytest.mark.parametrize(("binding", "version"), _INTERFACES)
async def test_a_task_is_waited_for_whatever_the_agent_speaks(binding: str, version: str) -> None:
    async def work(task: TaskUpdater) -> None:
        await task.start_work()
        await task.add_artifact([new_text_part("It is sun"), new_text_part("ny.")])
        await task.add_artifact([new_text_part("It will rain.")])
        await task.complete(task.new_agent_message([new_text_part("done")]))

    async with (
        running_agent(Agent(work), binding=binding, version=version) as server,
        _peer(server.url) as peer,
    ):
        assert await peer.ask("How is the weather?") == "It is sunny.\n\nIt will rain."


async def test_a_task_that_ends_later_is_asked_after_until_it_ends() -> None:
    was_asked_after = asyncio.Event()

    async def work(task: TaskUpdater) -> None:
        await task.start_work()
        await was_asked_after.wait()
        await task.complete(task.new_agent_message([new_text_part("It is sunny.")]))

    async with running_agent(Agent(work)) as server, _peer(server.url) as peer:
        server.polled = was_asked_after
        answer = await peer.ask("How is the weather?")

    assert answer == "It is sunny."
    assert server.methods[:2] == ["SendMessage", "GetTask"]
    assert {request.body["params"]["historyLength"] for request in server.received[2:]} == {0}


async def test_a_question_is_given_back_as_the_answer() -> None:
    async def work(task: TaskUpdater) -> None:
        await task.requires_input(task.new_agent_message([new_text_part("In which town?")]))

    assert await _ask(Agent(work)) == "In which town?"


async def test_a_task_without_text_is_an_empty_answer() -> None:
    async def work(task: TaskUpdater) -> None:
        await task.complete()

    assert await _ask(Agent(work)) == ""


@pytest.mark.parametrize(
    ("state", "what"),
    [
        (TaskState.TASK_STATE_FAILED, "failed"),
        (TaskState.TASK_STATE_REJECTED, "declined the request"),
        (TaskState.TASK_STATE_CANCELED, "cancelled its task"),
        (TaskState.TASK_STATE_AUTH_REQUIRED, "wants credentials that it has not been given"),
    ],
)
async def test_a_task_that_ends_badly_is_an_error_that_names_the_agent(state: TaskState, what: str) -> None:
    async def work(task: TaskUpdater) -> None:
        await task.update_status(state, task.new_agent_message([new_text_part("no\n### station")]))

    with pytest.raises(ToolError) as error:
        await _ask(Agent(work))

    assert str(error.value) == f"the remote agent 'weather' {what}: no station"


async def test_an_agent_that_breaks_is_an_error_that_names_it() -> None:
    async def work(task: TaskUpdater) -> None:
        raise OSError("the mast fell over")

    with pytest.raises(ToolError, match=r"^the remote agent 'weather' "):
        await _ask(Agent(work))


def _rpc(result: Json) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": "1", "result": result})


def _task(**status: object) -> Response:
    return _rpc({"task": {"id": "t", "contextId": "c", "status": status}})


_HALF_A_CHARACTER = '{"jsonrpc": "2.0", "result": {"task": {"status": {"state": "\\ud800"}}}}'
_ERROR: Json = {"jsonrpc": "2.0", "id": "1", "error": {"code": -32603, "message": "broken"}}

#: A server's answer that breaks the protocol → the words of the error.
_BROKEN: dict[str, tuple[Callable[[], Response], str]] = {
    "html": (lambda: Response("<html>"), "JSON"),
    "endless nesting": (lambda: Response("[" * 900_000), "recursion"),
    "not utf-8": (lambda: Response(b"\xff"), "decode"),
    "server error": (lambda: Response(status_code=500), "500"),
    "unauthorized": (lambda: Response(status_code=401), "401"),
    "protocol error": (lambda: JSONResponse(_ERROR), "broken"),
    "no result": (lambda: JSONResponse({"jsonrpc": "2.0", "id": "1"}), "result"),
    "empty result": (lambda: _rpc({}), "neither task nor message"),
    "wrong part": (lambda: _rpc({"message": {"parts": [{"text": 5}]}}), "could not be asked"),
    "wrong message": (lambda: _rpc({"message": 5}), "could not be asked"),
    "wrong result": (lambda: JSONResponse({"jsonrpc": "2.0", "result": 5}), "could not be asked"),
    "half a character": (lambda: Response(_HALF_A_CHARACTER), "could not be asked"),
    "no state": (lambda: _task(), "a state that is not known here"),
    "unknown state": (lambda: _task(state=99), "a state that is not known here"),
    "large": (lambda: _rpc({"message": {"parts": [{"text": "x" * 8_000_000}]}}), "larger than 8 MB"),
    "compressed": (lambda: Response("{}", headers={"content-encoding": "gzip"}), "compressed"),
}


@pytest.mark.parametrize(("make", "detail"), _BROKEN.values(), ids=_BROKEN)
async def test_an_answer_against_the_protocol_is_an_error_that_names_the_agent(
    make: Callable[[], Response], detail: str
) -> None:
    async def respond(request: Request) -> Response:
        return JSONResponse(card_json(str(request.base_url))) if request.method == "GET" else make()

    async with plain_server(respond) as server, _peer(server.url) as peer:
        with pytest.raises(ToolError) as error:
            await peer.ask("How is the weather?")

    assert str(error.value).startswith("the remote agent 'weather' ")
    assert detail in str(error.value)
    assert len(str(error.value)) < 400


async def test_a_request_is_not_sent_on_to_where_an_answer_points() -> None:
    async with running_agent(Agent("stolen")) as other:

        async def respond(request: Request) -> Response:
            if request.method == "GET":
                return JSONResponse(card_json(str(request.base_url)))
            return RedirectResponse(other.url, status_code=307)

        async with plain_server(respond) as server, _peer(server.url) as peer:
            with pytest.raises(ToolError, match="the remote agent 'weather' could not be asked"):
                await peer.ask("How is the weather?")

    assert other.received == []


async def test_an_agent_that_has_gone_is_an_error_that_names_it() -> None:
    async with running_agent(Agent("sunny")) as server:
        entry = RemoteAgentSettings("weather", server.url)
        (peer,) = (await load_remote_agents([entry], timeout=PATIENCE)).peers

    with pytest.raises(ToolError, match=r"the remote agent 'weather' could not be asked: .*connect") as error:
        await peer.ask("How is the weather?")

    assert not isinstance(error.value, InDoubtError), "nothing was sent"
    await peer.close()


async def test_a_request_whose_connection_breaks_is_in_doubt() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with running_agent(Agent("sunny")) as server:
        entry = RemoteAgentSettings("weather", server.url)
        (peer,) = (await load_remote_agents([entry], timeout=PATIENCE)).peers
        port = int(server.url.rpartition(":")[2].strip("/"))
    async with await asyncio.start_server(break_off, "127.0.0.1", port):
        with pytest.raises(InDoubtError, match="the remote agent 'weather' could not be asked"):
            await peer.ask("How is the weather?")

    await peer.close()


async def test_a_task_that_can_no_longer_be_followed_is_in_doubt() -> None:
    async def respond(request: Request) -> Response:
        if request.method == "GET":
            return JSONResponse(card_json(str(request.base_url)))
        if (await request.json())["method"] == "SendMessage":
            return _rpc({"task": {"id": "1", "contextId": "1", "status": {"state": "TASK_STATE_WORKING"}}})
        return Response(status_code=500)

    async with plain_server(respond) as server, _peer(server.url) as peer:
        with pytest.raises(InDoubtError, match="the remote agent 'weather' could not be asked"):
            await peer.ask("How is the weather?")


@pytest.mark.parametrize("character", ["a", "é", "😀"])
async def test_a_long_answer_is_cut_between_characters_and_says_so(character: str) -> None:
    answer = await _ask(Agent(character * 1_000_001))

    assert len(answer.encode()) <= 1_000_000
    text, _, mark = answer.rpartition("\n")
    assert mark == "[cut here: the answer is larger than 1 MB]"
    assert set(text) == {character}
    assert len(text.encode()) > 999_900


async def test_an_answer_of_just_the_limit_is_whole() -> None:
    assert await _ask(Agent("a" * 1_000_000)) == "a" * 1_000_000


async def _never(task: TaskUpdater) -> None:
    await task.start_work()
    await asyncio.Event().wait()


async def _answer_nothing_but_the_card(request: Request) -> Response:
    return JSONResponse(card_json(str(request.base_url))) if request.method == "GET" else await hang(request)


async def test_a_task_that_takes_too_long_is_an_error() -> None:
    async with running_agent(Agent(_never)) as server, _peer(server.url, seconds=0.3) as peer:
        with pytest.raises(InDoubtError, match=r"^the remote agent 'weather' took longer than 0\.3 seconds$"):
            await peer.ask("How is the weather?")


async def test_an_agent_that_never_answers_is_an_error() -> None:
    async with plain_server(_answer_nothing_but_the_card) as server, _peer(server.url, seconds=0.3) as peer:
        with pytest.raises(InDoubtError, match=r"^the remote agent 'weather' took longer than 0\.3 seconds$"):
            await peer.ask("How is the weather?")


async def test_a_cancelled_request_withdraws_its_task() -> None:
    async with running_agent(Agent(_never)) as server, _peer(server.url) as peer:
        asking = asyncio.create_task(peer.ask("How is the weather?"))
        await asyncio.wait_for(server.polled.wait(), PATIENCE)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    assert server.methods[-1] == "CancelTask"
    sent = server.received[-1].body["params"]["id"]
    assert sent == server.received[-2].body["params"]["id"]


async def test_requests_run_at_the_same_time_and_get_their_own_answers() -> None:
    both = asyncio.Barrier(2)

    async def respond(request: Request) -> Response:
        if request.method == "GET":
            return JSONResponse(card_json(str(request.base_url)))
        (part,) = (await request.json())["params"]["message"]["parts"]
        await both.wait()
        return _rpc({"message": {"messageId": "1", "parts": [{"text": f"{part['text']}: sunny"}]}})

    async with plain_server(respond) as server, _peer(server.url) as peer:
        answers = await asyncio.gather(peer.ask("Köln"), peer.ask("Rome"))

    assert answers == ["Köln: sunny", "Rome: sunny"]


async def test_closing_ends_the_connection_and_may_be_repeated() -> None:
    async with running_agent(Agent("sunny")) as server, _peer(server.url) as peer:
        await peer.ask("How is the weather?")
        await peer.close()
        await peer.close()
        await asyncio.wait_for(server.has_no_connection(), PATIENCE)
        with pytest.raises(ToolError, match="the remote agent 'weather' could not be asked"):
            await peer.ask("How is the weather?")

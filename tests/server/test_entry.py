"""Who may enter: hosts, pages, tokens, codes, cookies and scopes."""

import asyncio
import logging
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

import sestet
from sestet.server import event_stream
from sestet.server.entry import EntryCodes
from sestet.server.limits import RequestLimits
from tests.server.served import Served, serving
from tests.server.test_conversations import exec_send, send, to_operator
from tests.server.wire import ask, head

LIST = "/api/sessions"


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def own_host(served: Served) -> str:
    return urlsplit(served.url).netloc


async def enter(served: Served, code: str) -> httpx2.Response:
    async with served.client("") as client:
        return await client.get("/enter", params={"code": code})


async def test_a_request_without_a_known_token_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for headers in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer sestet_wrong"},
            {"Authorization": f"Basic {served.token}"},
            {"Authorization": served.token},
            {"Cookie": "sestet_token=sestet_wrong"},
        ):
            async with served.client("", **headers) as client:
                answer = await client.get(LIST)
            assert code_of(answer) == (401, "unauthorized"), headers
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "server-token" in answer.json()["error"]["way_out"]


async def test_paths_that_tell_nothing_need_no_token(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as client:
        for path in ("/", "/health", "/ready"):
            assert (await client.get(path)).status_code == 200


async def test_a_stopping_server_is_not_ready(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client("") as client:
        served.server.host.turns.is_stopping = True
        assert code_of(await client.get("/ready")) == (503, "unavailable")
        assert (await client.get("/health")).status_code == 200


async def test_a_foreign_host_name_is_refused_although_it_leads_here(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        port = own_host(served).partition(":")[2]
        for host in (
            "evil.example",
            f"evil.example:{port}",
            "127.0.0.1",
            f"127.0.0.1.evil.example:{port}",
            "",
        ):
            async with served.client(Host=host) as client:
                assert code_of(await client.get(LIST)) == (421, "misdirected"), host
                # Not even whether the server is well.
                assert code_of(await client.get("/health")) == (421, "misdirected"), host
        for host in (f"LOCALHOST:{port}", f"127.0.0.1:{port}"):
            async with served.client(Host=host) as client:
                assert (await client.get(LIST)).status_code == 200, host


async def test_a_request_names_exactly_one_host(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        host = own_host(served).encode()
        without = await ask(served.url, head(f"GET {LIST} HTTP/1.1"))
        old = await ask(served.url, head(f"GET {LIST} HTTP/1.0"))
        line = f"GET {LIST} HTTP/1.1\r\n".encode()
        double = await ask(served.url, line + b"Host: " + host + b"\r\nHost: " + host + b"\r\n\r\n")

    assert [(each.status, each.code) for each in (without, old, double)] == [
        (400, "bad_request"),
        (421, "misdirected"),
        (400, "bad_request"),
    ]


async def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        port = own_host(served).partition(":")[2]
        for headers in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": f"https://127.0.0.1:{port}"},
            {"Origin": f"http://localhost:{port}"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            for method in ("GET", "POST"):
                answer = await client.request(method, LIST, headers=headers)
                assert code_of(answer) == (403, "forbidden"), headers
                assert "access-control-allow-origin" not in answer.headers
        for headers in (
            {"Origin": served.url},
            {"Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "none"},
        ):
            assert (await client.get(LIST, headers=headers)).status_code == 200, headers


async def test_a_token_in_an_address_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for name in ("token", "access_token", "Api_Key", "anything"):
            for shown in ("", served.token):
                async with served.client(shown) as client:
                    answer = await client.get(LIST, params={name: served.token})
                assert code_of(answer) == (400, "bad_request"), name
                assert served.token not in answer.text


async def test_a_code_lets_a_browser_in_once(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        code = served.server.codes.new()
        first, again = await enter(served, code), await enter(served, code)
        cookie = first.headers["set-cookie"]
        shown = {"Cookie": f"odd[1]=2; {cookie.partition(';')[0]}"}
        async with served.client("", **shown, Origin=served.url) as client:
            sent = await client.post("/api/sessions", json={"text": "hi"})
            listed = await client.get(LIST)

    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        "httponly",
        "samesite=strict",
        "path=/",
        "max-age=31536000",
    }
    assert served.token not in cookie
    assert (sent.status_code, listed.status_code) == (202, 200)
    assert code_of(again) == (401, "unauthorized")
    assert "set-cookie" not in again.headers


async def test_a_code_that_is_expired_or_invented_lets_nobody_in(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        for code in (served.server.codes.new(seconds=0), "invented", ""):
            answer = await enter(served, code)
            assert code_of(answer) == (401, "unauthorized")
            assert "set-cookie" not in answer.headers


def test_codes_are_long_and_never_the_same() -> None:
    codes = EntryCodes()
    made = {codes.new() for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) >= 32


async def test_a_revoked_token_is_refused_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(served.new_token("read", "phone")) as client:
        assert (await client.get(LIST)).status_code == 200
        served.server.host.tokens.revoke("phone")
        assert code_of(await client.get(LIST)) == (401, "unauthorized")


async def test_an_open_stream_ends_when_its_token_is_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "QUIET_SECONDS", 0.05)
    async with serving(tmp_path, "Hello!") as served:
        await send(served, "s1", "hi")
        async with (
            served.client(served.new_token("read", "phone")) as client,
            client.stream("GET", "/api/sessions/s1/events") as response,
        ):
            pieces = response.aiter_bytes()
            assert await anext(pieces)
            served.server.host.tokens.revoke("phone")
            async with asyncio.timeout(20):
                async for _ in pieces:
                    pass


SCOPES = [
    # scope, method, path, body, status
    ("chat", "POST", "/api/sessions", {"text": "hi"}, 202),
    ("chat", "GET", "/api/sessions", None, 403),
    ("chat", "GET", "/api/search?words=hi", None, 403),
    ("chat", "GET", "/api/approvals", None, 403),
    ("chat", "POST", "/api/approvals/a1", {"decision": "approve"}, 403),
    ("chat", "PATCH", "/api/sessions/s1", {"title": "mine"}, 403),
    ("read", "GET", "/api/sessions", None, 200),
    ("read", "GET", "/api/approvals", None, 200),
    ("read", "POST", "/api/sessions", {"text": "hi"}, 403),
    ("read", "POST", "/api/sessions/s1/messages", {"text": "hi"}, 403),
    ("read", "POST", "/api/turns/t1/cancel", None, 403),
    ("read", "POST", "/api/approvals/a1", {"decision": "approve"}, 403),
    ("read", "PATCH", "/api/sessions/s1", {"title": "mine"}, 403),
]


async def test_a_scope_allows_what_it_says_and_no_more(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!") as served:
        tokens = {"chat": served.new_token("chat"), "read": served.new_token("read")}
        for scope, method, path, body, status in SCOPES:
            async with served.client(tokens[scope]) as client:
                answer = await client.request(method, path, json=body)
            assert answer.status_code == status, (scope, method, path)
            if status == 403:
                assert answer.json()["error"]["code"] == "forbidden"


async def test_a_chat_token_cannot_approve_the_call_that_it_has_caused(tmp_path: Path) -> None:
    replies = (to_operator("send"), sestet.ToolCall("exec_send", {"to": "carol"}))
    async with serving(tmp_path, *replies, tools=[exec_send]) as served:
        async with served.client(served.new_token("chat")) as client:
            accepted = (await client.post("/api/sessions", json={"text": "send a note to carol"})).json()
            async with client.stream("GET", f"/api/turns/{accepted['turn']}/events") as response:
                await response.aread()
            (question,) = served.app.approvals.pending()
            answer = await client.post(f"/api/approvals/{question.id}", json={"decision": "approve"})
        assert code_of(answer) == (403, "forbidden")
        assert served.app.approvals.pending() == [question]


async def test_too_many_requests_of_one_token_are_refused_and_others_go_on(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=RequestLimits(requests_a_minute=3)) as served:
        async with served.client() as client:
            answers = [await client.get(LIST) for _ in range(4)]
        async with served.client(served.new_token("read")) as other:
            assert (await other.get(LIST)).status_code == 200

    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert answers[3].json()["error"]["code"] == "too_many_requests"
    # Three a minute: one every twenty seconds.
    assert 15 <= int(answers[3].headers["retry-after"]) <= 20


async def test_one_token_has_a_limited_number_of_open_streams(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!", limits=RequestLimits(streams=1)) as served:
        await send(served, "s1", "hi")
        url = "/api/sessions/s1/events"
        async with served.client() as client, served.client(served.new_token("read")) as other:
            async with client.stream("GET", url) as open_one:
                # Kept: without it, the client would leave after the first bytes.
                reading = open_one.aiter_bytes()
                await anext(reading)
                async with client.stream("GET", url) as second:
                    assert second.status_code == 429
                    assert b"too_many_requests" in await second.aread()
                async with other.stream("GET", url) as response:
                    assert response.status_code == 200
            status = 0
            async with asyncio.timeout(20):
                # The place is free as soon as the server has seen that the first client left.
                while status != 200:
                    async with client.stream("GET", url) as response:
                        status = response.status_code


async def test_a_stream_that_is_only_asked_for_its_head_ends(tmp_path: Path) -> None:
    async with serving(tmp_path, "Hello!", limits=RequestLimits(streams=1)) as served:
        await send(served, "s1", "hi")
        async with served.client() as client:
            for _ in range(3):
                answer = await client.head("/api/sessions/s1/events")
                assert (answer.status_code, answer.content) == (200, b"")


async def test_no_token_is_logged_or_stored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(tmp_path, "Hello!") as served:
        chat = served.new_token("chat")
        async with served.client(chat) as client:
            accepted = (await client.post("/api/sessions", json={"text": "hi"})).json()
            async with client.stream("GET", f"/api/turns/{accepted['turn']}/events") as response:
                await response.aread()
            await client.get(LIST, params={"token": chat})
        tokens, directory = (chat, served.token), served.app.database.path.parent

    kept = {file.name: file.read_bytes() for file in directory.rglob("*") if file.is_file()}
    assert kept.pop("server-token").decode().strip() == served.token
    # The client of this test logs its own requests.
    logged = [each.getMessage() for each in caplog.records if not each.name.startswith("http")]
    for token in tokens:
        assert [line for line in logged if token in line] == []
        assert [name for name, content in kept.items() if token.encode() in content] == []

"""``sestet a2a check``, and what the doctor and the list of agents tell of remote agents."""

import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.remote.server import card_json, refused_url


class _Cards(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(card_json(f"http://127.0.0.1:{self.connection.getsockname()[1]}")).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """The address of an agent that has a card."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), _Cards) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_a_check_says_what_an_agent_tells(call: Call, agent: str) -> None:
    shown = call("a2a", "check", agent)
    found = json.loads(call("a2a", "check", agent, "--json").out)

    assert shown.code == 0
    assert "Weather Office" in shown.out
    assert (found["problem"], found["skills"]) == ("", ["forecast"])


@pytest.mark.parametrize("url", ["", "http://user:pw@127.0.0.1", "nonsense"])
def test_a_check_says_why_an_agent_cannot_be_used(call: Call, url: str) -> None:
    done = call("a2a", "check", url or refused_url())

    assert done.code == 1
    assert "This agent cannot be used: " in done.err
    assert "pw" not in done.err


def test_the_doctor_and_the_list_tell_of_agents_that_were_reached_and_of_others(
    home: Home, call: Call, agent: str
) -> None:
    entries = [{"name": "weather", "url": agent}, {"name": "gone", "url": refused_url()}]
    (home.work / "sestet.yaml").write_text(json.dumps({"a2a": {"enabled": True, "remoteAgents": entries}}))
    checks = json.loads(call("doctor", "--json").out)["checks"]
    listed = call("agents")

    told = [(each["status"], each["detail"]) for each in checks if each["name"] == "remote agents"]
    assert [status for status, _ in told] == ["ok", "warning"]
    assert told[0][1] == "reached: weather"
    assert "'gone'" in told[1][1]
    assert "weather" in listed.out
    assert "'gone'" in listed.err

"""``sestet mcp``: from an entry in the settings to tools that an agent can call."""

import json
import sys
from pathlib import Path

from tests.cli.conftest import Call
from tests.cli.program import Home
from tests.services.mcp.world import PROGRAMS

HOSTILE = (sys.executable, str(PROGRAMS / "hostile.py"))


def test_a_server_is_added_looked_at_trusted_and_removed(call: Call) -> None:
    assert "no MCP server" in call("mcp", "list").err
    assert call("mcp", "add", "notes", "--agent", "operator", "--", *HOSTILE).code == 0
    (added,) = json.loads(call("mcp", "list", "--json").out)
    assert (added["state"], added["agent"], added["tools"]) == ("untrusted", "operator", [])

    shown = json.loads(call("mcp", "test", "notes", "--json").out)
    assert [tool["name"] for tool in shown["listed"]] == ["notes__look"]
    quarantined = json.loads(call("tools", "--json").out)[-1]
    assert (quarantined["name"], quarantined["owner"]) == ("notes__look", None)

    trusted = call("mcp", "trust", "notes", "--yes")
    assert "notes__look" in trusted.out
    assert "operator can call them" in trusted.err
    owned = json.loads(call("tools", "--json").out)[-1]
    assert (owned["name"], owned["owner"], owned["origin"]) == (
        "notes__look",
        "operator",
        "the MCP server notes",
    )
    (health,) = json.loads(call("agents", "--json").out)["mcp_servers"]
    assert (health["state"], health["tools"]) == ("ready", 1)
    assert "MCP server notes  ready, 1 tools for operator" in call("agents").out

    removed = call("mcp", "remove", "notes")
    assert removed.code == 0
    assert json.loads(call("mcp", "list", "--json").out) == []
    assert "mcpServers" not in Path(removed.err.partition(":")[0]).read_text()


def test_trust_asks_a_person_and_no_script(call: Call) -> None:
    call("mcp", "add", "notes", "--", *HOSTILE)
    refused = call("mcp", "trust", "notes")
    assert (refused.code, "--yes" in refused.err) == (2, True)


def test_trust_is_taken_back(call: Call) -> None:
    call("mcp", "add", "notes", "--agent", "operator", "--", *HOSTILE)
    call("mcp", "trust", "notes", "--yes")
    assert call("mcp", "trust", "notes", "--revoke").code == 0
    assert json.loads(call("mcp", "list", "--json").out)[0]["state"] == "untrusted"
    assert call("mcp", "trust", "notes", "--revoke").code == 1


def test_the_doctor_names_a_changed_list_and_the_way_out(call: Call, home: Home) -> None:
    server, content = home.work / "server.py", (PROGRAMS / "hostile.py").read_text()
    server.write_text(content)
    call("mcp", "add", "notes", "--agent", "operator", "--", sys.executable, str(server))
    call("mcp", "trust", "notes", "--yes")

    def examined() -> tuple[str, str, str]:
        checks = json.loads(call("doctor", "--json").out)["checks"]
        (check,) = (check for check in checks if check["name"] == "MCP servers")
        return check["status"], check["detail"], check["way_out"]

    assert examined()[:2] == ("ok", "'notes' answers; 1 tool for operator")
    server.write_text(content.replace("A tool.", "Another tool."))
    status, detail, way_out = examined()
    assert (status, "not those that you trusted" in detail) == ("problem", True)
    assert "sestet mcp trust notes" in way_out
    # The doctor has kept what it saw, so no conversation offers the tool any more.
    assert "quarantined" in call("agents").err
    again = call("mcp", "trust", "notes", "--yes")
    assert "Since you trusted it: changed: look" in again.out


def test_orders_in_a_description_are_shown_as_text(call: Call) -> None:
    call("mcp", "add", "notes", "--", *HOSTILE, "orders")
    shown = call("mcp", "test", "notes").out
    assert "IGNORE ALL RULES" in shown
    assert "\u202e" not in shown


def test_mistakes_are_named(call: Call) -> None:
    assert "either a command or a url" in call("mcp", "add", "notes").err
    assert "there is no agent 'nobody'" in call("mcp", "add", "notes", "--agent", "nobody", "--", "x").err
    assert "NAME=VALUE" in call("mcp", "add", "notes", "--env", "TOKEN", "--", "x").err
    assert "there is no MCP server 'notes'" in call("mcp", "test", "notes").err
    assert "there is no MCP server 'notes'" in call("mcp", "remove", "notes").err
    call("mcp", "add", "notes", "--", "x")
    assert "already" in call("mcp", "add", "notes", "--", "x").err


def test_a_secret_variable_is_not_shown(call: Call) -> None:
    call("mcp", "add", "notes", "--env", "TOKEN=canary-123", "--", *HOSTILE)
    shown = call("config", "show").out + call("mcp", "list").out + call("mcp", "list", "--json").out
    assert "canary-123" not in shown

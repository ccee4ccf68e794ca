"""The OpenAPI document: complete, valid, and the same table as in the documentation."""

import re
from pathlib import Path

from sestet.server.application import all_endpoints
from sestet.server.openapi import document
from sestet.server.own_api import ENDPOINTS as API
from tests.server.served import serving

PAGE = Path(__file__).parents[2] / "docs" / "server.md"


async def test_the_server_gives_a_document_with_every_endpoint(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(served.new_token("read")) as client:
        answer = await client.get("/api/openapi.json")

    described = answer.json()
    assert answer.status_code == 200
    assert described["openapi"].startswith("3.1")
    operations = {(method.upper(), path) for path, each in described["paths"].items() for method in each}
    assert operations == {(each.method, each.path) for each in API}


def test_every_endpoint_is_in_the_documentation() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for each in all_endpoints():
        assert re.search(rf"\| {each.method} \| `{re.escape(each.path)}` \|.*{re.escape(each.summary)}", page)


def test_every_operation_has_a_name_of_its_own_and_says_its_errors() -> None:
    operations = [each for path in document(API)["paths"].values() for each in path.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    for each in operations:
        assert {"400", "401", "403", "421", "429", "503"} <= each["responses"].keys()
        assert all(parameter["schema"] for parameter in each["parameters"])


def test_streams_are_marked_as_event_streams() -> None:
    paths = document(API)["paths"]
    for each in API:
        content = paths[each.path][each.method.lower()]["responses"][str(each.status)].get("content", {})
        assert ("text/event-stream" in content) == (each.stream or "text/event-stream" in each.gives)


def test_every_reference_leads_to_a_part_of_the_document() -> None:
    described = document(API)
    text = str(described)
    for group, name in re.findall(r"#/components/(\w+)/([\w.-]+)", text):
        assert name in described["components"][group], name


def test_only_the_owner_may_change_anything() -> None:
    chatting = {
        *("/api/sessions", "/api/sessions/{session}/messages", "/api/turns/{turn}/steer"),
        *("/v1/chat/completions", "/v1/responses", "/agui"),
    }
    for each in all_endpoints():
        if each.method != "GET":
            assert "read" not in each.scopes, each.path
            if "chat" in each.scopes:
                assert each.path in chatting or each.path.endswith("/cancel"), each.path

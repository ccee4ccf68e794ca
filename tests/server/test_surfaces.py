"""The surfaces of the server: each is loaded with its first request, and every one answers."""

import asyncio
import subprocess
import sys
from pathlib import Path

from sestet.server.application import SURFACES, all_endpoints
from tests.server.served import serving


def test_the_start_of_the_server_loads_no_surface() -> None:
    look = "import sys, sestet.server.serve; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, encoding="utf-8", check=True)
    loaded = set(done.stdout.split())
    assert "sestet.server.application" in loaded
    assert not loaded & {*SURFACES.values(), "sestet.data", "sestet.doctor", "sestet.setup"}


async def test_first_requests_to_all_surfaces_at_once_are_answered(tmp_path: Path) -> None:
    paths = ("/api/sessions", "/v1/models", "/metrics", "/api/agents", "/v1/models")
    async with serving(tmp_path) as served, served.client() as client:
        answers = await asyncio.gather(*(client.get(path) for path in paths))
        run = await client.get("/agui")
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    assert (run.status_code, run.headers["allow"]) == (405, "POST")


def test_every_endpoint_is_below_its_surface_alone() -> None:
    for each in all_endpoints():
        assert len([surface for surface in SURFACES if each.path.startswith(surface)]) == 1, each.path


async def test_a_method_that_a_path_does_not_have_is_told_with_those_that_it_has(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client() as client:
        item = await client.post("/api/memory/items/m1")
        entrance = await client.delete("/enter")
        head = await client.head("/api/sessions")
        nothing = await client.get("/api/nothing")

    assert (item.status_code, item.headers["allow"]) == (405, "DELETE, GET, PATCH")
    assert (entrance.status_code, entrance.headers["allow"]) == (405, "GET, POST")
    assert (head.status_code, head.content) == (200, b"")
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (404, "not_found")

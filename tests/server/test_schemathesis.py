"""Generated requests against the real server: conforming answers, and never a failure of the server."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sestet
from sestet.server.limits import RequestLimits
from sestet.server.serve import Address, listening
from tests.server.served import SETTINGS, Served

pytestmark = pytest.mark.slow

#: Streams have no end; the set-up and the doctor look at the machine, and have tests of their own.
_LEFT_OUT = r"/events$|^/api/(stream|setup|doctor)"
#: A valid request may ask for something that is not possible, such as a fact with an unknown link.
_CONFIG = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "415", "429"]
"""


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SESTET_HOME", str(tmp_path / "data"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@asynccontextmanager
async def serving_built_in_model(home: Path) -> AsyncGenerator[Served]:
    """A server that answers every message, however many there are."""
    limits = RequestLimits(requests_a_minute=10**6, streams=10**6)
    async with (
        sestet.open(SETTINGS, home=home / "data") as app,
        listening(app, Address(port=0), limits=limits) as server,
    ):
        yield Served(app, server)


async def test_schemathesis_finds_no_failure(own_home: Path) -> None:
    config = own_home / "schemathesis.toml"
    config.write_text(_CONFIG)
    async with serving_built_in_model(own_home) as served:
        process = await asyncio.create_subprocess_exec(
            *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config), "run"),
            *(f"{served.url}/api/openapi.json", "-H", f"Authorization: Bearer {served.token}"),
            *("--checks", "all", "--phases", "coverage,fuzzing", "--max-examples", "5", "--seed", "1"),
            *("--max-time", "90", "--request-timeout", "20", "--exclude-path-regex", _LEFT_OUT, "--no-color"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()

    assert process.returncode == 0, told.decode(errors="replace")[-20_000:]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
_PATHS = (
    ("POST", "/api/sessions"),
    ("POST", "/api/memory/forget"),
    ("POST", "/api/graph/facts"),
    ("POST", "/api/settings/validate"),
    ("PUT", "/api/knowledge/entry?title=a"),
)


async def test_bodies_of_any_form_never_break_the_server(own_home: Path) -> None:
    async with serving_built_in_model(own_home) as served:
        url, token = served.url, served.token

        @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
        @given(
            st.sampled_from(_PATHS), st.binary(max_size=60) | _VALUES.map(lambda v: json.dumps(v).encode())
        )
        def send(where: tuple[str, str], body: bytes) -> None:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            with httpx2.Client(base_url=url, headers=headers, timeout=20, trust_env=False) as client:
                answer = client.request(*where, content=body)
            assert answer.status_code < 500, answer.text
            answer.json()

        await asyncio.to_thread(send)

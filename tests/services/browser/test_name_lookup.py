"""Look-ups of names with the system's resolver."""

import subprocess
import sys

import pytest

from sestet.services.browser.name_lookup import NameLookup

_SILENT_SERVER = """
import asyncio, socket, threading
from sestet.services.browser.name_lookup import NameLookup

socket.getaddrinfo = lambda *arguments, **options: threading.Event().wait()

async def main():
    lookup = NameLookup()
    for _ in range(20):
        try:
            async with asyncio.timeout(0.01):
                await lookup.addresses("silent.example")
        except TimeoutError:
            pass
    print(threading.active_count() - 1)

asyncio.run(main())
"""


async def test_this_machine_has_its_loopback_addresses() -> None:
    assert "127.0.0.1" in await NameLookup().addresses("127.0.0.1")


async def test_a_name_that_no_resolver_takes_has_no_address() -> None:
    with pytest.raises(OSError, match="no address"):
        await NameLookup().addresses(f"{'a' * 64}.example")


def test_a_silent_dns_server_does_not_keep_the_program_alive() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _SILENT_SERVER], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout == "16\n", "the number of waiting threads is limited"

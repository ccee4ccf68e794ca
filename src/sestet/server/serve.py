"""Runs the server: opens the assistant, listens, prints the address, and stops gracefully."""

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from sestet.app import App
from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.detached.turns import GRACE
from sestet.server.application import application
from sestet.server.entry import EntryCodes, loopback_hosts
from sestet.server.host import Host, hosting
from sestet.server.limits import RequestLimits

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: Seconds that open requests get when the server stops. Streams end at once.
_GRACE = 5
_HEAD_BYTES = 65_536


class Address(Record):
    """Where to listen, and who may come from beyond this machine."""

    host: str = "127.0.0.1"
    port: int = 7373
    certificate: Path | None = None
    key: Path | None = None
    #: A proxy on this machine or network adds TLS.
    behind_proxy: bool = False
    #: Further names that this server answers to, such as the proxy's.
    names: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        return "https" if self.certificate or self.behind_proxy else "http"


def require_safe(address: Address) -> None:
    """Refuse to listen where others could read along."""
    if bool(address.certificate) != bool(address.key):
        raise PersonError("TLS needs both files: --tls-certificate and --tls-key")
    if address.host not in _LOOPBACK and not address.certificate and not address.behind_proxy:
        raise PersonError(
            f"'{address.host}' can be reached from other machines, and without TLS they could read along: "
            "give --tls-certificate and --tls-key, or --behind-proxy if a proxy adds TLS"
        )


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the signals to ``serve``: turns reach their safe points before connections are closed."""
        yield


def listening_socket(address: Address) -> socket.socket:
    """A socket that listens at the address; port 0 takes a free one."""
    try:
        return socket.create_server(
            (address.host, address.port),
            family=socket.AF_INET6 if ":" in address.host else socket.AF_INET,
            backlog=2048,
        )
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise PersonError(
            f"cannot listen at {address.host}, port {address.port}: {why}; choose another with --port"
        ) from error


class Listening(NamedTuple):
    """A server that answers."""

    url: str
    host: Host
    codes: EntryCodes


@asynccontextmanager
async def listening(
    app: App, address: Address, settings_file: Path | None = None, limits: RequestLimits | None = None
) -> AsyncGenerator[Listening]:
    """Serve an assistant. At the end, turns reach safe points, then streams and connections close."""
    require_safe(address)
    with closing(listening_socket(address)) as opened:
        port = opened.getsockname()[1]
        async with hosting(app, settings_file) as host:
            host.tokens.owner_file()
            codes = EntryCodes()
            hosts = (*loopback_hosts(port), *_names(address, port))
            server = _Server(_config(application(host, codes, hosts, limits or RequestLimits()), address))
            running = asyncio.create_task(server.serve([opened]))
            try:
                yield Listening(f"{address.scheme}://{_shown(address.host)}:{port}", host, codes)
            finally:
                await host.turns.stop(GRACE)
                server.should_exit = True
                await running


def _config(inner: ASGIApp, address: Address) -> uvicorn.Config:
    return uvicorn.Config(
        inner,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_graceful_shutdown=_GRACE,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )


async def serve(
    app: App, address: Address, on_ready: Callable[[str, EntryCodes], None], settings_file: Path | None = None
) -> None:
    """Serve until SIGINT or SIGTERM. ``on_ready`` is called with the server's URL once it answers."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    async with listening(app, address, settings_file) as server:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, asked.set)
        on_ready(server.url, server.codes)
        await asked.wait()


def _names(address: Address, port: int) -> list[str]:
    own = [] if address.host in ("0.0.0.0", "::") else [f"{_shown(address.host)}:{port}"]  # noqa: S104
    return [*own, *address.names]


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host

"""Runs the server: opens the assistant, listens, prints the address, and stops gracefully."""

import asyncio
import ipaddress
import os
import resource
import signal
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from sestet.app import App
from sestet.core.errors import PersonError
from sestet.core.record import Record
from sestet.detached.turns import GRACE
from sestet.server.application import application
from sestet.server.connection import GuardedConnection, WaitingRoom
from sestet.server.entry import EntryCodes, loopback_hosts, written_hosts
from sestet.server.host import Host, hosting
from sestet.server.limits import RequestLimits

#: Seconds that open requests get when the server stops. Streams end at once.
_GRACE = 5
_HEAD_BYTES = 65_536
_BACKLOG = 2048
#: The addresses that stand for every address of the machine, with one of its own.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
_DESCRIPTORS = 65_536


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
        """The scheme that clients see."""
        return "https" if self.certificate or self.behind_proxy else "http"

    def url(self, port: int) -> str:
        """Where the server listens."""
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://{_shown(_EVERYWHERE.get(self.host, self.host))}:{port}"

    def entrance(self, url: str) -> str:
        """Where a browser finds a server that listens at a URL: at the proxy, if it has a name."""
        return f"https://{self.names[0]}" if self.behind_proxy and self.names else url


def require_safe(address: Address) -> ssl.SSLContext | None:
    """Refuse to listen where others could read along; return what TLS needs."""
    if bool(address.certificate) != bool(address.key):
        raise PersonError("TLS needs both files: --tls-certificate and --tls-key")
    if not _is_loopback(address.host) and not address.certificate and not address.behind_proxy:
        raise PersonError(
            f"'{address.host}' can be reached from other machines, and without TLS they could read along: "
            "give --tls-certificate and --tls-key, or --behind-proxy if a proxy adds TLS"
        )
    return _tls(address.certificate, address.key) if address.certificate and address.key else None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    for option, file in (("--tls-certificate", certificate), ("--tls-key", key)):
        try:
            file.read_bytes()
        except OSError as error:
            raise PersonError(f"{option}: '{file}' cannot be read: {error.strerror}") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # With a passphrase of our own, OpenSSL does not ask for one at the terminal.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        raise PersonError(
            f"TLS cannot use '{certificate}' with '{key}': both must be PEM files, "
            "the key must belong to the certificate and have no passphrase"
        ) from error
    return context


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, tls: ssl.SSLContext | None, room: WaitingRoom) -> None:
        super().__init__(config)
        self._tls = tls
        self._room = room

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen with connections that close when their client is too slow."""
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(
                lambda: GuardedConnection(self._room, self.config, self.server_state, loop),
                sock=each,
                ssl=self._tls,
                backlog=_BACKLOG,
                ssl_handshake_timeout=self._room.limits.handshake if self._tls else None,
            )
            for each in sockets or ()
        ]
        self.started = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the signals to ``serve``: turns reach their safe points before connections are closed."""
        yield


def listening_socket(address: Address) -> socket.socket:
    """A socket that listens at the address; port 0 takes a free one."""
    where = f"cannot listen at '{address.host}', port {address.port}"
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise PersonError(f"{where}: this machine knows no such host; choose another with --host") from error
    # A name may have addresses of both families; most clients try the older one too.
    family, _, _, _, place = min(found, key=lambda each: each[0] != socket.AF_INET)
    try:
        opened = socket.create_server(place[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise PersonError(f"{where}: {why}; choose another with --port or --host") from error
    # Connections inherit it. Otherwise an event waits for the client's acknowledgement of the one before.
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


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
    tls = require_safe(address)
    limits = limits or RequestLimits()
    with closing(listening_socket(address)) as opened:
        port = opened.getsockname()[1]
        async with hosting(app, settings_file) as host:
            host.tokens.owner_file()
            codes = EntryCodes()
            hosts = (*loopback_hosts(port, address.scheme), *_names(address, port))
            served = application(host, codes, hosts, limits, address.scheme)
            server = _Server(_config(served), tls, WaitingRoom(limits.connection))
            running = asyncio.create_task(server.serve([opened]))
            try:
                yield Listening(address.url(port), host, codes)
            finally:
                await host.turns.stop(GRACE)
                server.should_exit = True
                await running


def _config(served: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        served,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        # Below errors there are only requests that are not HTTP, and anybody can send those.
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_graceful_shutdown=_GRACE,
    )


async def serve(
    app: App,
    address: Address,
    on_ready: Callable[[str, EntryCodes], None],
    settings_file: Path | None = None,
    *,
    can_restart: bool = False,
) -> bool:
    """Serve until SIGINT or SIGTERM; a second signal ends the process at once.

    ``on_ready`` is called with the server's URL once it answers. With ``can_restart`` the owner can also end
    it by a request; True is returned then, and the caller starts it again.
    """
    _allow_many_connections()
    loop, asked, restarts = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def restart() -> None:
        restarts.set()
        asked.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    async with listening(app, address, settings_file) as server:
        for number in signals:
            loop.add_signal_handler(number, asked.set)
        server.host.restart = restart if can_restart else None
        on_ready(server.url, server.codes)
        await asked.wait()
        for number in signals:
            loop.remove_signal_handler(number)
    return restarts.is_set()


def _allow_many_connections() -> None:
    """Each connection needs a descriptor, and many systems allow a process 1,024 of them by default."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _names(address: Address, port: int) -> list[str]:
    own = [] if address.host in _EVERYWHERE else written_hosts(_shown(address.host), port, address.scheme)
    # A proxy has a port of its own, so its name alone is a name of the server.
    return [*own, *(written for name in address.names for written in (name, f"{name}:{port}"))]


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host

"""The browser's one way out: an HTTP proxy that connects only to addresses which it has checked."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from sestet.core.errors import SestetError
from sestet.core.record import Record
from sestet.core.words import duration
from sestet.services.browser.address_rules import (
    Address,
    AddressRules,
    Destination,
    RefusedError,
    blocked,
    canonical_host,
    is_this_machine,
    reached,
)
from sestet.services.browser.name_lookup import NameLookup
from sestet.services.browser.proxy_request import BadMessageError, ProxyRequest, parse_request
from sestet.services.browser.relay import Patience, Stream, exchange, read_head, tunnel

#: The addresses of a name, as text.
Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
#: A socket that is connected to exactly this address and port.
Connect: TypeAlias = Callable[[Address, int], Awaitable[socket.socket]]

_log = logging.getLogger(__name__)

_LOOPBACK: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
_MOST_ADDRESSES: Final = 8
_MOST_TROUBLES: Final = 512
_FAREWELL_SECONDS: Final = 2.0
_FAREWELL_BYTES: Final = 1_000_000
_BACKLOG: Final = 512
_ESTABLISHED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
_REASONS: Final = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
}
#: The statuses of answers that the proxy itself gives; sites give them too.
PROXY_STATUSES: Final = frozenset(_REASONS)


class Limits(Record):
    """``connect_seconds``: for the look-up and all addresses; ``attempt_seconds``: for each but the last."""

    connections: int = 256
    head_bytes: int = 65_536
    answer_head_bytes: int = 262_144
    head_seconds: float = 30.0
    connect_seconds: float = 10.0
    attempt_seconds: float = 3.0
    #: A WebSocket may be silent for a while.
    patience: Patience = Patience(idle=600.0, last=30.0)


class _UnreachableError(SestetError):
    """The destination is allowed, and there is no connection."""

    def __init__(self, text: str, status: int = 502) -> None:
        super().__init__(text)
        self.status = status


class _Trouble(NamedTuple):
    refused: bool
    text: str


async def connect_exactly(address: Address, port: int) -> socket.socket:
    """Connect without any look-up of a name."""
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    family, kind, protocol, _, place = socket.getaddrinfo(
        str(address), port, type=socket.SOCK_STREAM, flags=numeric
    )[0]
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setblocking(False)
        await asyncio.get_running_loop().sock_connect(opened, place)
    except BaseException:
        opened.close()
        raise
    return opened


class Egress:
    """Serves the browser on a listening socket of the loopback interface.

    For each connection it looks the name up once, checks every address of the answer, and connects to one of
    exactly these. So no second answer of a DNS server can lead elsewhere.
    """

    def __init__(
        self,
        rules: AddressRules,
        *,
        resolve: Resolve | None = None,
        connect: Connect = connect_exactly,
        limits: Limits | None = None,
    ) -> None:
        self._rules = rules
        self._resolve = resolve or NameLookup().addresses
        self._connect = connect
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._port = 0
        self._tasks = set[asyncio.Task[None]]()
        self._troubles = dict[tuple[str, int], _Trouble]()

    @property
    def connections(self) -> int:
        """How many connections of the browser are open."""
        return len(self._tasks)

    async def start(self, listening: socket.socket) -> None:
        """Serve until ``close``, which also closes the socket."""
        host, port = listening.getsockname()[:2]
        if not ip_address(host).is_loopback:
            raise ValueError(f"the browser's proxy listens on a loopback address alone, not on '{host}'")
        self._port = port
        self._server = await asyncio.start_server(
            self._accept, sock=listening, limit=self._limits.head_bytes, backlog=_BACKLOG
        )

    async def close(self) -> None:
        """End every connection and its task."""
        if self._server is not None:
            self._server.close()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    def refusal(self, host: str, port: int) -> str | None:
        """Why the last connection to this host was refused; None: it was not."""
        trouble = self._troubles.get((canonical_host(host), port))
        return trouble.text if trouble is not None and trouble.refused else None

    def failure(self, host: str, port: int) -> str | None:
        """Why the last connection to this host failed although it is allowed; None: it did not."""
        trouble = self._troubles.get((canonical_host(host), port))
        return trouble.text if trouble is not None and not trouble.refused else None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Stream(reader, writer)
        # A full proxy says so, to a limited number of clients as well.
        if len(self._tasks) >= 2 * self._limits.connections:
            client.end()
            return
        full = len(self._tasks) >= self._limits.connections
        task = asyncio.create_task(self._serve(client, full))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: Stream, full: bool) -> None:
        """One connection of the browser, with one request."""
        try:
            try:
                await self._carry_out(client, full)
            except (BadMessageError, _UnreachableError) as error:
                await _say(client, error.status, str(error))
            except RefusedError as error:
                await _say(client, 403, str(error))
        except Exception as error:
            # The edge of one connection: either side goes away at any time. Addresses stay out of the log.
            _log.debug("a connection of the browser ended: %s", type(error).__name__)
        finally:
            client.end()

    async def _carry_out(self, client: Stream, full: bool) -> None:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                head = await read_head(client.reader, 431)
        except TimeoutError:
            raise BadMessageError("the head of the request took too long", 408) from None
        if not head:
            return
        if full:
            raise BadMessageError("the browser has too many connections open", 503)
        request = parse_request(head)
        server = await self._reach(request)
        try:
            if request.tunnel:
                await client.send(_ESTABLISHED)
                await tunnel(client, server, self._limits.patience)
            else:
                await exchange(client, server, request, self._limits.patience)
        finally:
            server.end()

    async def _reach(self, request: ProxyRequest) -> Stream:
        """A connection to the host of the request. A failure is remembered for the person."""
        key = (canonical_host(request.host), request.port)
        self._troubles.pop(key, None)
        try:
            opened = await self._open(self._rules.destination(request.host, request.port))
        except (RefusedError, _UnreachableError) as error:
            self._troubles[key] = _Trouble(isinstance(error, RefusedError), str(error))
            while len(self._troubles) > _MOST_TROUBLES:
                del self._troubles[next(iter(self._troubles))]
            raise
        try:
            return Stream(*await asyncio.open_connection(sock=opened, limit=self._limits.answer_head_bytes))
        except BaseException:
            opened.close()
            raise

    async def _open(self, destination: Destination) -> socket.socket:
        seconds = self._limits.connect_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._first_of(destination, await self._addresses(destination))
        except TimeoutError:
            text = f"{destination} did not answer within {duration(seconds)}"
            raise _UnreachableError(text, 504) from None

    async def _addresses(self, destination: Destination) -> list[Address]:
        """Every address of the destination, all of them checked: one bad address refuses the others too."""
        if destination.address is not None:
            found = [destination.address]
        elif destination.local:
            found = list(_LOOPBACK)
        else:
            try:
                found = [ip_address(text) for text in await self._resolve(destination.host)]
            except (OSError, ValueError):
                found = []
        if not found:
            raise _UnreachableError(f"no address was found for the name {destination.host}")
        addresses = list(dict.fromkeys(map(reached, found)))
        for address in addresses:
            self._rules.check(destination, address)
            if destination.port == self._port and is_this_machine(address):
                raise RefusedError(f"{destination} is the browser's own proxy")
            if not destination.allowed and _is_own(address, destination.port):
                raise blocked(destination, address)
        return addresses

    async def _first_of(self, destination: Destination, addresses: list[Address]) -> socket.socket:
        """The first address that answers. IPv4 and IPv6 take turns, since one of them may not work here."""
        first = [address for address in addresses if address.version == addresses[0].version]
        other = [address for address in addresses if address.version != addresses[0].version]
        turns = [address for pair in zip_longest(first, other) for address in pair if address is not None]
        turns = turns[:_MOST_ADDRESSES]
        why = ""
        for place, address in enumerate(turns, 1):
            try:
                async with asyncio.timeout(self._limits.attempt_seconds if place < len(turns) else None):
                    return await self._connect(address, destination.port)
            except TimeoutError:
                why = "no answer"
            except OSError as error:
                why = (error.strerror or "no connection").lower()
        raise _UnreachableError(f"{destination} cannot be reached: {why}")


def _is_own(address: Address, port: int) -> bool:
    """Whether this machine has the address. A firewall does not protect its public addresses from inside.

    The kernel sends from the very address that it sends to. Connecting a UDP socket sends nothing.
    """
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), port))
            return ip_address(probe.getsockname()[0]) == address
    except OSError:
        return False  # No route leads there, so no connection will either.


async def _say(client: Stream, status: int, text: str) -> None:
    content = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\n"
        f"Content-Length: {len(content)}\r\n"
        "Connection: close\r\n\r\n"
    )
    async with asyncio.timeout(_FAREWELL_SECONDS):
        await client.send(head.encode() + content)
        client.writer.write_eof()
        # Closing with unread bytes would reset the connection, and the client would lose the answer.
        left = _FAREWELL_BYTES
        while left > 0 and (piece := await client.reader.read(65_536)):
            left -= len(piece)

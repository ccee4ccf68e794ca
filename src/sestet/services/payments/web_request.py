"""One GET from a server: a public host over https, no redirects, a bounded answer."""

import asyncio
from typing import NamedTuple

from sestet.core.errors import ToolError
from sestet.core.masking import mask_address
from sestet.core.words import duration
from sestet.services.browser.address_rules import kind_of
from sestet.services.payments.http_client import HttpAnswer, HttpClient, HttpError

_SECONDS = 30.0
_LONGEST_URL = 2_000


class WebAddress(NamedTuple):
    """An address that may be asked; ``host`` has the port if the address names one."""

    url: str
    host: str


def check_address(url: str, hosts: tuple[str, ...]) -> WebAddress:
    """Raise unless it is a clear address of a public host over https, or of a host that the owner names."""
    # Imported on use, here and below: every start loads this module, and few sessions pay for a page.
    from urllib.parse import SplitResult, urlsplit

    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = SplitResult("", "", "", "", ""), "", None
    shown = mask_address(url[:200])
    if parts.scheme not in ("https", "http") or not host or not url.isascii() or len(url) > _LONGEST_URL:
        raise ToolError(f"'{shown}' is not the address of a page, such as https://api.example.com/report")
    if parts.username or parts.password or any(character.isspace() for character in url.strip()):
        raise ToolError(f"'{shown}' holds a name, a password or a blank; leave it out")
    named = f"{host}:{port}" if port else host
    if parts.scheme == "http" and named not in hosts:
        raise ToolError(f"'{shown}' must begin with https, or '{named}' must stand under payments.x402Hosts")
    return WebAddress(parts._replace(fragment="").geturl(), named)


class WebRequest:
    """Asks a server; every failure is a ``ToolError`` in our own words."""

    def __init__(self, hosts: tuple[str, ...], seconds: float = _SECONDS) -> None:
        self._hosts = hosts
        self._seconds = seconds

    async def get(self, url: str, headers: dict[str, str] | None = None) -> HttpAnswer:
        address = check_address(url, self._hosts)
        try:
            async with asyncio.timeout(self._seconds):
                number = await self._resolve(address)
                return await self._get(address, number, headers or {})
        except TimeoutError:
            raise ToolError(f"'{address.host}' took longer than {duration(self._seconds)}") from None

    async def _resolve(self, address: WebAddress) -> str:
        """The number of the host. The connection goes to exactly this one: a second look-up could lie."""
        import ipaddress
        import socket
        from urllib.parse import urlsplit

        parts = urlsplit(address.url)
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                parts.hostname, parts.port or 443, type=socket.SOCK_STREAM
            )
        except (OSError, UnicodeError):
            raise ToolError(f"the host '{address.host}' cannot be found") from None
        numbers = [str(entry[4][0]) for entry in found]
        if address.host not in self._hosts:
            for number in numbers:
                if kind_of(ipaddress.ip_address(number.partition("%")[0])):
                    raise ToolError(
                        f"'{address.host}' is in your own network; if you want that, see payments.x402Hosts"
                    )
        return numbers[0]

    async def _get(self, address: WebAddress, number: str, headers: dict[str, str]) -> HttpAnswer:
        from urllib.parse import urlsplit

        parts = urlsplit(address.url)
        host = f"[{number}]" if ":" in number else number
        url = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
        sent = {"Host": address.host, "User-Agent": "sestet", "Accept": "*/*", **headers}
        client = HttpClient(self._seconds, secure=parts.scheme == "https")
        try:
            return await client.get(url, sent, parts.hostname or "")
        except HttpError as error:
            raise ToolError(f"'{address.host}' {error}") from None
        finally:
            await client.close()

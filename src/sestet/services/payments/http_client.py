"""HTTP for payments: no proxy, no redirects, bounded answers. Only this module of payments knows httpx2."""

from typing import NamedTuple

from sestet.core.errors import SestetError

_MOST_BYTES = 1_000_000


class HttpError(SestetError):
    """There is no answer; the text says why in a few words of ours."""


class HttpAnswer(NamedTuple):
    status: int
    #: The names in lower case.
    headers: dict[str, str]
    body: bytes


class HttpClient:
    """Connections to one server, opened on use."""

    def __init__(self, seconds: float, *, secure: bool) -> None:
        from httpx2 import AsyncClient

        # Certificates take a while to load, and plain http needs none.
        self._client = AsyncClient(trust_env=False, follow_redirects=False, timeout=seconds, verify=secure)

    async def get(self, url: str, headers: dict[str, str], server_name: str) -> HttpAnswer:
        """``server_name``: the name that the certificate has to be for."""
        return await self._request("GET", url, headers, b"", {"sni_hostname": server_name})

    async def post(self, url: str, headers: dict[str, str], content: bytes) -> HttpAnswer:
        return await self._request("POST", url, headers, content, {})

    async def close(self) -> None:
        await self._client.aclose()

    async def _request(
        self, method: str, url: str, headers: dict[str, str], content: bytes, extensions: dict[str, str]
    ) -> HttpAnswer:
        from httpx2 import HTTPError, InvalidURL

        body = b""
        try:
            async with self._client.stream(
                method, url, headers=headers, content=content or None, extensions=extensions
            ) as response:
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _MOST_BYTES:
                        raise HttpError(f"its answer is larger than {_MOST_BYTES:,} bytes")
                found = {name.lower(): value for name, value in response.headers.items()}
                return HttpAnswer(response.status_code, found, body)
        except (HTTPError, InvalidURL, OSError) as error:
            raise HttpError(f"cannot be reached ({type(error).__name__})") from None

"""Asks a vendor or a server for the names of its models."""

import json
import re
import time
from collections.abc import Mapping
from typing import NamedTuple

from sestet.config.vendors import ProviderType
from sestet.core.errors import ModelError
from sestet.core.masking import mask_addresses
from sestet.models.provider import Endpoint
from sestet.models.servers import Members, can_converse, items, member, reach_question

_SECONDS = 15.0
_CONNECT_SECONDS = 5.0
_MOST_BYTES = 8_000_000
#: A proxy of the environment cannot reach servers on this machine.
_THIS_MACHINE = ("all://localhost", "all://127.0.0.1", "all://[::1]")


class _Protocol(NamedTuple):
    """How models are listed: the path, the header with the key, and where the names stand in the answer."""

    path: str
    header: str
    key: str
    members: str
    name: str
    #: Headers that every request has.
    extra: Mapping[str, str] = {}


_PROTOCOLS: Mapping[ProviderType, _Protocol] = {
    "openai": _Protocol("/models", "Authorization", "Bearer {}", "data", "id"),
    "anthropic": _Protocol(
        "/v1/models?limit=1000", "x-api-key", "{}", "data", "id", {"anthropic-version": "2023-06-01"}
    ),
    "google": _Protocol("/v1beta/models?pageSize=1000", "x-goog-api-key", "{}", "models", "name"),
}


def list_models(endpoint: Endpoint) -> list[str]:
    """The names of the models that hold conversations, the newest first where their age is known.

    A ``ModelError`` says why there is no list; its kind is "auth" when the key is missing or wrong.
    """
    protocol = _PROTOCOLS[endpoint.settings.type]
    base = endpoint.base_url.rstrip("/")
    if endpoint.settings.type != "openai":
        # These protocols have the version in their own paths.
        base = re.sub(r"/v\d\w*$", "", base)
    headers = {"Accept": "application/json", "User-Agent": "sestet", **protocol.extra}
    if key := endpoint.settings.api_key:
        headers[protocol.header] = protocol.key.format(key)
    status, content = _get(endpoint, base + protocol.path, headers)
    if status in (401, 403) or (status == 400 and b"API_KEY_INVALID" in content):
        says = "does not accept the key" if key else "wants a key"
        raise ModelError(f"{endpoint.server} {says} (status {status})", "auth")
    entries = _entries(content, protocol) if status == 200 else None
    if entries is None:
        raise ModelError(f"{endpoint.server} answers, but not with a list of models (status {status})")
    entries.sort(key=lambda entry: -_created(entry))
    names = (str(entry.get(protocol.name, "")).removeprefix("models/") for entry in entries)
    return list(dict.fromkeys(name for name in names if name))


def _get(endpoint: Endpoint, address: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    # Loading it takes a quarter of a second, which only this question needs.
    import httpx2

    patience = httpx2.Timeout(_SECONDS, connect=_CONNECT_SECONDS)
    deadline = time.monotonic() + _SECONDS
    content = b""
    try:
        # The key goes only to the server that was named, so a redirect is not followed.
        with (
            httpx2.Client(timeout=patience, mounts=dict.fromkeys(_THIS_MACHINE)) as client,
            client.stream("GET", address, headers=dict(headers)) as response,
        ):
            for piece in response.iter_bytes():
                content += piece
                if len(content) > _MOST_BYTES or time.monotonic() > deadline:
                    raise ModelError(f"{endpoint.server} sends a list without end")
            return response.status_code, content
    except httpx2.TimeoutException:
        raise ModelError(f"{endpoint.server} did not answer in time", "timeout") from None
    except httpx2.TransportError:
        ask = reach_question(endpoint.base_url)
        raise ModelError(f"{endpoint.server} cannot be reached: {ask}", "transient") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ImportError, ValueError) as error:
        told = endpoint.without_secrets(mask_addresses(str(error)))
        raise ModelError(f"{endpoint.server} could not be asked: {told}") from None


def _entries(content: bytes, protocol: _Protocol) -> list[Members] | None:
    """The models in an answer; None when it is no such answer."""
    try:
        answer: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(member(answer, protocol.members), list):
        return None
    return [entry for entry in items(answer, protocol.members) if _can_converse(entry, protocol)]


def _can_converse(entry: Members, protocol: _Protocol) -> bool:
    """Whether a model writes text and calls tools, as far as its entry says."""
    methods, abilities = entry.get("supportedGenerationMethods"), entry.get("supported_parameters")
    if isinstance(methods, list) and "generateContent" not in methods:
        return False
    if isinstance(abilities, list) and "tools" not in abilities:
        return False
    return can_converse(str(entry.get(protocol.name, "")))


def _created(entry: Members) -> int:
    created = entry.get("created")
    return created if isinstance(created, int) else 0

"""Opens the vendors' clients: one function for each protocol. No setting comes from the environment."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from functools import cache
from ssl import SSLContext
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from httpx2 import InvalidURL, Request, Response, create_ssl_context
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from sestet.config.vendors import VENDORS
from sestet.core.errors import ModelError
from sestet.core.masking import mask_addresses
from sestet.models.provider import Endpoint
from sestet.models.vendor.errors import CONNECT_SECONDS

_THIS_MACHINE = ("all://localhost", "all://127.0.0.1", "all://[::1]")

#: The clients require a key; local servers do not.
_NO_KEY = "none"

#: The responses of the call in this context.
_RESPONSES: ContextVar[list[Response]] = ContextVar("responses")

T = TypeVar("T")


class Client(NamedTuple):
    """A vendor's model and its connections."""

    model: Model
    connections: DefaultAsyncHttpxClient
    settings: ModelSettings = ModelSettings()


def open_client(endpoint: Endpoint) -> Client:
    """Load the package for the endpoint's protocol; nothing is called yet."""
    return _OPENERS[endpoint.settings.type](endpoint, _connections())


def _connections() -> DefaultAsyncHttpxClient:
    # The reader of the reply enforces the time limits, since it knows whether the reply has begun.
    patience = Timeout(None, connect=CONNECT_SECONDS)

    async def keep(request: Request) -> None:
        # Some clients set their own time limit on every request.
        request.extensions["timeout"] = patience.as_dict()

    try:
        return DefaultAsyncHttpxClient(
            timeout=patience,
            verify=_trusted(),
            # A proxy from the environment cannot reach servers on this machine.
            mounts=dict.fromkeys(_THIS_MACHINE),
            event_hooks={"request": [keep], "response": [_note]},
            # The key and the conversation go only to the server that the settings name.
            follow_redirects=False,
        )
    except (ImportError, ValueError, InvalidURL) as error:
        raise ModelError(
            "the proxy of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) cannot be used: "
            + mask_addresses(str(error))
        ) from error


@cache
def _trusted() -> SSLContext:
    # Reading the certificates is the slowest part of opening a client.
    return create_ssl_context()


@asynccontextmanager
async def letting_go(call: AbstractAsyncContextManager[T]) -> AsyncGenerator[T, None]:
    """A call whose connection is closed at the end. Not every client closes a response that was not read."""
    responses: list[Response] = []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close_all, responses)
        token = _RESPONSES.set(responses)
        try:
            opened = await stack.enter_async_context(call)
        finally:
            _RESPONSES.reset(token)
        yield opened


async def _note(response: Response) -> None:
    _RESPONSES.get().append(response)


async def _close_all(responses: list[Response]) -> None:
    for response in responses:
        await response.aclose()


def _without_version(base_url: str) -> str:
    """The address without ``/v1``: people copy it along, and these clients add it themselves."""
    return re.sub(r"/v\d\w*/?$", "", base_url)


def _open_openai(endpoint: Endpoint, connections: DefaultAsyncHttpxClient) -> Client:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    client = AsyncOpenAI(
        api_key=endpoint.settings.api_key or _NO_KEY,
        base_url=endpoint.base_url,
        http_client=connections,
        max_retries=0,
    )
    # The client fills these from the environment, and would send them to any server.
    client.organization = client.project = None
    client._custom_headers = {}  # pyright: ignore[reportPrivateUsage] - no other way to empty it
    if urlsplit(endpoint.base_url).hostname == urlsplit(VENDORS["openai"].url).hostname:
        provider = OpenAIProvider(openai_client=client)
    else:
        provider = OpenAICompatibleProvider(endpoint.provider_id, openai_client=client)
    profile = OpenAIModelProfile(
        # Off, since AnswerFilter does it: the library recognises a thinking tag only when it arrives as one
        # piece, and loses the answer when the end tag does not.
        thinking_tags=("", ""),
        # Without it, a stream that ends too early would count as a complete reply.
        openai_chat_streaming_requires_finish_reason=True,
    )
    return Client(OpenAIChatModel(endpoint.model, provider=provider, profile=profile), connections)


def _open_anthropic(endpoint: Endpoint, connections: DefaultAsyncHttpxClient) -> Client:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=endpoint.settings.api_key or _NO_KEY,
        base_url=_without_version(endpoint.base_url),
        http_client=connections,
        max_retries=0,
        open_telemetry=False,
    )
    client._custom_headers = {}  # pyright: ignore[reportPrivateUsage] - no other way to empty it
    model = AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))
    # This vendor caches the beginning of a prompt only on request.
    return Client(model, connections, ModelSettings(cache=True))


def _open_google(endpoint: Endpoint, connections: DefaultAsyncHttpxClient) -> Client:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=endpoint.settings.api_key or _NO_KEY,
        http_client=connections,
        base_url=_without_version(endpoint.base_url),
    )
    return Client(GoogleModel(endpoint.model, provider=provider), connections)


_OPENERS: Mapping[str, Callable[[Endpoint, DefaultAsyncHttpxClient], Client]] = {
    "openai": _open_openai,
    "anthropic": _open_anthropic,
    "google": _open_google,
}

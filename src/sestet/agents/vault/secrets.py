"""Tools for secrets: they know names and references, and never a value."""

from collections.abc import Mapping
from typing import Annotated, cast

from sestet.agents._shared.opened_vault import ask_vault
from sestet.agents._shared.text import given
from sestet.core.errors import ToolError
from sestet.core.tool import CallInfo, CallRules, tool
from sestet.services.vault.entries import EntryInfo
from sestet.services.vault.vault import Vault, held_key

_NAME_LENGTH = 64
_MOST_SHOWN = 200_000
#: Servers do nothing but answer to these.
_READING = ("GET", "HEAD")
#: Headers by which many servers take another method than that of the request.
_OTHER_METHOD = frozenset({"x-http-method-override", "x-http-method", "x-method-override"})

Name = Annotated[str, "The name of the secret, such as github-token"]


@tool(
    risk="guarded",
    caution="you type the value yourself, unseen; the listed hosts may get it",
    standing="ask you for the value of {name}, for {destinations}",
    reads=(),
    effect="local",
    targets=("name", "destinations"),
    recovery="unsafe",
    typed="name",
    examples=(
        "store a secret called {name}",
        "store a secret named {name}",
        "store a new secret called {name}",
        "save a secret called {name}",
        "keep a secret called {name}",
        "store an api key called {name}",
        "store my api key as {name}",
        "store a password called {name}",
        "put a secret called {name} into the vault",
    ),
)
async def secrets_store(
    call: CallInfo,
    vault: Vault,
    /,
    name: Name,
    destinations: Annotated[list[str], "Hosts that may get it, such as api.github.com"] = [],  # noqa: B006 - never changed
    replace: Annotated[bool, "Whether it takes the place of a secret with this name"] = False,
) -> str:
    """Store a secret. The person types its value when they approve; never ask for it or write it yourself."""
    name = given(name, "name", _NAME_LENGTH)
    key = held_key(call.turn_id, name)
    info = await ask_vault(vault, lambda: vault.store_held(key, name, destinations, replace=replace))
    return f"Stored as {info.reference}, {_bound(info)}."


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "get the secret {name}",
        "give me the secret {name}",
        "do you have a secret called {name}",
        "is there a secret called {name}",
        "the reference of the secret {name}",
        "where may the secret {name} go",
    ),
)
async def secrets_get(vault: Vault, /, name: Name) -> str:
    """Get the reference of a secret and the hosts that may get it. Nobody here can see its value."""
    info = await ask_vault(vault, lambda: vault.info(given(name, "name", _NAME_LENGTH)))
    if info.kind != "secret":
        raise ToolError(f"'{info.name}' is a key, not a secret; crypto_keys tells about keys")
    return f"{info.reference}, {_bound(info)}. Its value cannot be shown here."


@tool(
    risk="safe",
    reads=(),
    effect="none",
    recovery="pure",
    examples=(
        "which secrets have i stored",
        "which api keys have i stored",
        "which secrets do you have",
        "list my secrets",
        "list the secrets",
        "show my secrets",
        "what is in the vault",
        "which passwords have i stored",
    ),
)
async def secrets_list(vault: Vault, /) -> str:
    """List the stored secrets by name, with the hosts that may get each."""
    infos = await ask_vault(vault, vault.infos) if vault.exists() else []
    secrets = [info for info in infos if info.kind == "secret"]
    if not secrets:
        return "The vault holds no secrets."
    return "\n".join(("The vault holds:", *(f"- {info.reference}, {_bound(info)}" for info in secrets)))


async def _is_deleted(vault: Vault, /, name: str) -> str | None:
    infos = await ask_vault(vault, vault.infos)
    return None if any(info.name == name for info in infos) else f"Deleted {name}."


@tool(
    risk="guarded",
    caution="a deleted secret cannot be brought back",
    standing="delete the secret {name}",
    reads=(),
    effect="local",
    targets=("name",),
    recovery="probe",
    probe=_is_deleted,
    examples=(
        "delete the secret {name}",
        "remove the secret {name}",
        "forget the secret {name}",
        "delete the api key {name}",
        "remove {name} from the vault",
        "delete the password {name}",
    ),
)
async def secrets_delete(vault: Vault, /, name: Name) -> str:
    """Delete a secret for good."""
    name = given(name, "name", _NAME_LENGTH)
    await ask_vault(vault, lambda: vault.delete(name, ("secret",)))
    return f"Deleted {name}."


def _request_rules(_: Vault, /, **arguments: object) -> CallRules:
    """A request that only reads needs no question; any other may change something at its server."""
    headers = cast("Mapping[str, object]", arguments.get("headers", {}))
    overrides = any(name.strip().casefold().replace("_", "-") in _OTHER_METHOD for name in headers)
    if str(arguments.get("method", "GET")).upper() in _READING and not overrides:
        return CallRules("safe", "external", "pure")
    return CallRules("guarded", "external", "unsafe", "the server may change or send something in your name")


@tool(
    risk="guarded",
    caution="the server may change or send something in your name",
    standing="send ANY request of this method to {url} with {secret}",
    reads=("untrusted", "private"),
    effect="external",
    targets=("url", "secret"),
    binds=("method",),
    recovery="unsafe",
    timeout=45,
    rules=_request_rules,
    examples=(
        "request {url} with the secret {secret}",
        "fetch {url} with the secret {secret}",
        "call {url} with the secret {secret}",
        "get {url} with the secret {secret}",
        "open {url} with the secret {secret}",
        "ask {url} with the secret {secret}",
    ),
)
async def secrets_http_request(
    vault: Vault,
    /,
    url: Annotated[str, "The whole address; its host must be one that may get the secret"],
    secret: Annotated[str, "The name or the reference of the secret"],
    method: Annotated[str, "GET, HEAD, POST, PUT, PATCH or DELETE"] = "GET",
    headers: Annotated[dict[str, str], "Further headers; {secret} in a value is replaced by the secret"] = {},  # noqa: B006 - never changed
    body: Annotated[str, "The body, for POST, PUT and PATCH"] = "",
) -> str:
    """Make an HTTP request with a secret in it; its value stays hidden.

    Without {secret} in a header, it is sent as 'Authorization: Bearer'. The answer has the status, the
    headers and the text; a redirect to another host is not followed.
    """
    answer = await ask_vault(vault, lambda: vault.web_request(secret, method, url, headers, body))
    shown = "\n".join(f"{name}: {value}" for name, value in sorted(answer.headers.items()))
    return f"{answer.status}\n{shown}\n\n{answer.body[:_MOST_SHOWN]}".rstrip()


def _bound(info: EntryInfo) -> str:
    if places := [*info.destinations, *(f"the command '{pattern}'" for pattern in info.commands)]:
        return f"for {', '.join(places)}"
    return f"for no host yet ('sestet secrets bind {info.name} --to HOST' names one)"

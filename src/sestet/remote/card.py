"""Fetches an agent's card and takes from it only what a stranger may say about itself."""

import json
from collections.abc import Iterable
from typing import NamedTuple

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from google.protobuf.json_format import ParseError

from sestet.remote.plain import one_line

CARD_LIMIT = 1_000_000
_REDIRECTS = 3
_DESCRIPTION_LIMIT = 300
_REASON_LIMIT = 200
_SHOWN_OF_NAME = 80

# The parsers raise these for endless nesting, and for half a character where they expect a name.
BROKEN_JSON = (RecursionError, SystemError)


class CardError(Exception):
    """Why an agent cannot be used; the text completes "skipped: …"."""


class CardFacts(NamedTuple):
    """What a card tells a person, each text as one harmless line."""

    name: str
    description: str
    versions: tuple[str, ...]
    protocols: tuple[str, ...]
    streaming: bool
    skills: tuple[str, ...]
    wants: tuple[str, ...]


def card_facts(card: AgentCard) -> CardFacts:
    def lines(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one_line(text, _SHOWN_OF_NAME) for text in texts))

    return CardFacts(
        one_line(card.name, _SHOWN_OF_NAME),
        one_line(card.description, _DESCRIPTION_LIMIT),
        lines(each.protocol_version or "0.3" for each in card.supported_interfaces),
        lines(each.protocol_binding for each in card.supported_interfaces),
        card.capabilities.streaming,
        lines(skill.name for skill in card.skills),
        lines(card.security_schemes),
    )


async def fetch_card(connection: httpx.AsyncClient, base: str) -> AgentCard:
    """The card below ``base``, with those of its addresses that lie on the same host."""
    try:
        address = httpx.URL(base.rstrip("/") + AGENT_CARD_WELL_KNOWN_PATH)
        body = await _download(connection, address)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CardError(_explain(error)) from error
    return _keep_own_addresses(_parse(body), address)


def describe(card: AgentCard) -> str:
    """One line for the orchestrator: what the card says of the agent and its skills."""
    skills = "; ".join(
        f"{skill.name} ({skill.description})" if skill.description else skill.name for skill in card.skills
    )
    parts = (card.name, card.description, skills)
    return one_line(". ".join(part.strip().rstrip(".") for part in parts if part.strip()), _DESCRIPTION_LIMIT)


async def _download(connection: httpx.AsyncClient, address: httpx.URL) -> bytes:
    for _ in range(1 + _REDIRECTS):
        response = await connection.get(address)
        if response.next_request is None:
            break
        target = response.next_request.url
        if not is_same_place(address, target):
            raise CardError(f"it redirects to another host: '{_place(target)}'")
        address = target
    else:
        raise CardError(f"it redirects more than {_REDIRECTS} times")
    if not response.is_success:
        raise CardError(f"it answered with HTTP {response.status_code}")
    return response.content


def _parse(body: bytes) -> AgentCard:
    try:
        values = json.loads(body)
    except (ValueError, *BROKEN_JSON) as error:
        raise CardError("its answer is not JSON") from error
    try:
        card = parse_agent_card(values)
    except (ParseError, ValueError, *BROKEN_JSON) as error:
        raise CardError(f"its answer is not an agent card: {one_line(str(error), _REASON_LIMIT)}") from error
    if not card.name.strip() or not card.supported_interfaces:
        raise CardError("its answer is not an agent card: a name and an address are missing")
    return card


def _keep_own_addresses(card: AgentCard, address: httpx.URL) -> AgentCard:
    # The owner named a host. A card may not choose another one to receive what the agent is asked.
    own = [interface for interface in card.supported_interfaces if _is_on(address, interface.url)]
    if own and not any(_is_known(interface.protocol_version) for interface in own):
        versions = ", ".join(sorted({one_line(each.protocol_version, 20) for each in own}))
        raise CardError(f"it speaks A2A {versions}, and Sestet speaks 1.x and 0.3")
    own = [interface for interface in own if _is_known(interface.protocol_version)]
    if not own:
        named = one_line(card.supported_interfaces[0].url, _REASON_LIMIT)
        raise CardError(f"its card names another host, '{named}': set that as the url if you trust it")
    kept = AgentCard()
    kept.CopyFrom(card)
    del kept.supported_interfaces[:]
    kept.supported_interfaces.extend(own)
    return kept


def _is_known(version: str) -> bool:
    # An empty one is of a card of 0.3, or of an agent that says nothing.
    return not version or version.partition(".")[0] == "1" or version.split(".")[:2] == ["0", "3"]


def _is_on(address: httpx.URL, url: str) -> bool:
    try:
        return is_same_place(address, httpx.URL(url))
    except httpx.InvalidURL:
        return False


def is_same_place(url: httpx.URL, other: httpx.URL) -> bool:
    """Whether both addresses have the same host and port; going from http to https is allowed."""
    if other.userinfo or other.host != url.host:
        return False
    ports = (url.scheme, url.port), (other.scheme, other.port)
    return ports[0] == ports[1] or ports == (("http", None), ("https", None))


def _place(url: httpx.URL) -> str:
    return one_line(f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}", _REASON_LIMIT)


def _explain(error: Exception) -> str:
    return one_line(str(error), _REASON_LIMIT) or type(error).__name__

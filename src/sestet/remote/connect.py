"""Turns entries of the settings into peers, all at the same time."""

import asyncio
import ssl
from collections.abc import Iterable

import httpx

from sestet.config.settings import RemoteAgentSettings
from sestet.remote.card import CARD_LIMIT, CardError, fetch_card
from sestet.remote.connection import open_connection
from sestet.remote.peer import A2APeer


async def connect_all(
    entries: Iterable[RemoteAgentSettings], seconds: float, answer_seconds: float
) -> list[A2APeer | str]:
    """For each entry, in order, its peer or the reason why there is none."""
    # Reading the trusted certificates is the slow part of opening a connection: once is enough.
    trusted = httpx.create_ssl_context()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_connect(entry, trusted, seconds, answer_seconds)) for entry in entries]
    return [task.result() for task in tasks]


async def _connect(
    entry: RemoteAgentSettings, trusted: ssl.SSLContext, seconds: float, answer_seconds: float
) -> A2APeer | str:
    try:
        async with asyncio.timeout(seconds), open_connection(CARD_LIMIT, trusted) as connection:
            card = await fetch_card(connection, entry.url)
        return A2APeer.connect(entry.name, card, trusted, answer_seconds)
    except TimeoutError:
        return f"it did not answer within {seconds:g} s"
    except CardError as error:
        return str(error)

"""Finds out, before the first turn, which of the remote agents in the settings can be used."""

import logging
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from sestet.config.installation import install_command
from sestet.config.settings import RemoteAgentSettings
from sestet.core.agent import NAME_RULE, RemotePeer, is_valid_name, normalise_name
from sestet.remote.plain import one_line

_SHOWN = 200
#: Seconds in which an agent has to give its card.
CARD_SECONDS = 3.0

_log = logging.getLogger("sestet.remote")


class LoadedPeer(RemotePeer, Protocol):
    """A peer that holds a connection until it is closed."""

    async def close(self) -> None: ...


class LoadedPeers(NamedTuple):
    """The agents that can be used, in the order of the settings, and why the others cannot."""

    peers: tuple[LoadedPeer, ...]
    warnings: tuple[str, ...]


async def load_remote_agents(
    entries: Sequence[RemoteAgentSettings],
    *,
    timeout: float = CARD_SECONDS,  # noqa: ASYNC109 - it bounds each agent apart; a caller's would end them all
    answer_timeout: float = 300.0,
) -> LoadedPeers:
    """Read every agent's card at the same time; an agent without a usable card is skipped with a warning.

    ``timeout`` bounds the reading of a card, ``answer_timeout`` what an agent may take for one request.
    """
    problems = _find_problems(entries)
    usable = [entry for entry, problem in zip(entries, problems, strict=True) if not problem]
    try:
        connected = await _connect_all(usable, timeout, answer_timeout) if usable else ()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "sestet":
            raise
        return _report([], [f"remote agents need the extra: {install_command('a2a')}"])
    in_turn = iter(connected)
    results = [problem or next(in_turn) for problem in problems]
    return _report(
        [result for result in results if not isinstance(result, str)],
        [
            _warning(entry, result)
            for entry, result in zip(entries, results, strict=True)
            if isinstance(result, str)
        ],
    )


async def _connect_all(
    entries: Sequence[RemoteAgentSettings], seconds: float, answer_seconds: float
) -> Sequence[LoadedPeer | str]:
    # Loaded on use: the libraries of the protocol take longer to import than the rest of a start-up.
    from sestet.remote.peer import connect_all

    return await connect_all(entries, seconds, answer_seconds)


def _find_problems(entries: Iterable[RemoteAgentSettings]) -> list[str]:
    """For each entry of the settings, its problem; empty when it has none."""
    seen: set[str] = set()
    problems: list[str] = []
    for entry in entries:
        problem = problem_of(entry, seen)
        if not problem:
            seen.add(normalise_name(entry.name))
        problems.append(problem)
    return problems


def problem_of(entry: RemoteAgentSettings, seen: set[str]) -> str:
    """Why an entry of the settings cannot be used, before anything is sent; empty: it can."""
    # A name that the tree refuses would stop the local agents as well.
    if not is_valid_name(entry.name):
        return f"its name {NAME_RULE}"
    if normalise_name(entry.name) in seen:
        return "another remote agent has this name"
    # Credentials in a url need an '@', so we look for that alone and depend on no parser.
    if "@" in entry.url:
        return "credentials in a url are not accepted (an '@' in its path is written %40)"
    if "?" in entry.url or "#" in entry.url:
        return "the url is a base address: it cannot have a '?' or a '#'"
    return ""


def _warning(entry: RemoteAgentSettings, reason: str) -> str:
    # Credentials stand before an '@'; keys are often written after a '?'.
    shown = re.split(r"[?#]", entry.url.rpartition("@")[2])[0]
    name, url = one_line(entry.name, _SHOWN), one_line(shown, _SHOWN)
    return f"the remote agent '{name}' at '{url}' is skipped: {reason}"


def _report(peers: Iterable[LoadedPeer], warnings: Iterable[str]) -> LoadedPeers:
    loaded = LoadedPeers(tuple(peers), tuple(warnings))
    for warning in loaded.warnings:
        _log.warning("%s", warning)
    return loaded

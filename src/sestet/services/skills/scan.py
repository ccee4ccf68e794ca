"""Looks through the text of a skill for what a person should read before they trust it. It runs nothing.

A scan finds the usual tricks and not every one: the sandbox and the owner's trust protect, not the scan.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, TypeAlias

from sestet.core.record import Record
from sestet.core.visible import is_visible
from sestet.services.text_encoding import is_binary

Kind: TypeAlias = Literal[
    "pipe to shell", "encoded payload", "hidden characters", "network", "private files", "orders", "binary"
]

_FETCH = r"(?:curl|wget|fetch|iwr|invoke-webrequest|http)\b"
_SHELL = r"(?:(?:ba|da|z|k|a)?sh|python[\d.]*|perl|ruby|node|php|iex|source|eval)\b"
#: Bounded, so that no text makes the search slow.
_SOME = r"[^\n]{0,300}"
_PATTERNS: Mapping[Kind, tuple[str, ...]] = {
    "pipe to shell": (
        rf"{_FETCH}{_SOME}\|\s{{0,9}}(?:(?:sudo|env|exec)\s{{1,9}}){{0,3}}(?:/\S{{0,60}}/)?{_SHELL}",
        rf"{_SHELL}{_SOME}(?:<\(|\$\(|`){_SOME}{_FETCH}",
        rf"\b(?:exec|eval|compile)\s?\({_SOME}(?:urlopen|requests|httpx|fetch)\b",
    ),
    "encoded payload": (
        rf"\bbase64\s+(?:-d\b|--decode)|\bxxd\s+-r|\bopenssl\s+enc\b{_SOME}-d\b",
        r"\b(?:b64decode|b32decode|b85decode|fromhex|unhexlify|atob)\s?\(",
        r"fromcharcode|(?:\\x[0-9a-f]{2}){8}|(?:\\u[0-9a-f]{4}){8}",
        r"[a-z0-9+/]{160}",
    ),
    "network": (
        r"\b(?:curl|wget|ssh|scp|rsync|nc|ncat|socat|telnet)\s+\S",
        r"\bhttps?://|/dev/(?:tcp|udp)/",
        r"\b(?:import|from)\s+(?:requests|httpx|urllib|socket|http|aiohttp|ftplib|smtplib)\b",
        r"\bfetch\s?\(|XMLHttpRequest|new\s+WebSocket|require\(['\"](?:https?|net|axios)['\"]",
    ),
    "private files": (
        r"\.ssh\b|id_(?:rsa|ed25519|ecdsa)|\.aws\b|\.gnupg\b|\.netrc|/etc/shadow|\.npmrc",
        r"\.env\b|os\.environ|process\.env|\bprintenv\b|keychain|\.config/sestet",
    ),
    "orders": (
        r"(?:ignore|forget|disregard)\s+(?:(?:all|any|the|your)\s+){0,3}(?:previous|earlier|prior|above)",
        r"(?:do\s+not|don't|never)\s+(?:tell|mention|show|inform|ask)\s+(?:\w+\s+)?(?:user|person|owner)",
        r"without\s+(?:asking|telling)|bypass\s+(?:the\s+)?(?:approval|sandbox|permission)",
    ),
}
#: Findings that are shown of one kind in one file, and characters of each.
_MOST_OF_A_KIND, _SHOWN = 5, 120


class Finding(Record):
    kind: Kind
    file: str
    line: int
    #: The text at this place, shortened; it may hold anything.
    text: str


@cache
def _rules() -> dict[Kind, list[re.Pattern[str]]]:
    """Compiled on use: most processes scan nothing."""
    return {
        kind: [re.compile(each, re.IGNORECASE) for each in each_of] for kind, each_of in _PATTERNS.items()
    }


def scan_skill(files: Mapping[str, bytes]) -> list[Finding]:
    """Everything that was found, by file and line."""
    return [finding for path in sorted(files) for finding in _scan_file(path, files[path])]


def _scan_file(path: str, content: bytes) -> Iterator[Finding]:
    if is_binary(content[:8_000]) or b"\0" in content:
        yield Finding("binary", path, 0, f"{len(content):,} bytes that cannot be read as text")
        return
    counts: dict[Kind, int] = {}
    # Continued lines of a shell script are one command.
    text = content.decode("utf-8", "replace").replace("\\\n", "  ")
    for number, line in enumerate(text.split("\n"), 1):
        for kind, found in _scan_line(line):
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= _MOST_OF_A_KIND:
                yield Finding(kind, path, number, found)


def _scan_line(line: str) -> Iterator[tuple[Kind, str]]:
    visible = line.rstrip("\r").replace("\t", " ")
    if not is_visible(visible):
        hidden = next(index for index, character in enumerate(visible) if not is_visible(character))
        yield "hidden characters", visible[max(0, hidden - _SHOWN // 2) : hidden + _SHOWN // 2]
    for kind, patterns in _rules().items():
        found = next(filter(None, (pattern.search(line) for pattern in patterns)), None)
        if found:
            start = max(0, found.start() - 20)
            yield kind, line[start : start + _SHOWN].strip()

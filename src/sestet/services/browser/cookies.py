"""Cookies of the sites that the owner wants to stay signed in to, in a file that only the owner can read."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from sestet.services.browser.connection import Message

#: Below the data directory.
FILE_NAME = "browser-cookies.json"
#: What Chromium takes back of what it tells about a cookie.
_FIELDS = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


class CookieStore:
    """The cookies of ``browser.profiles``. Every other cookie ends with its conversation."""

    def __init__(self, path: Path, profiles: Mapping[str, Sequence[str]]) -> None:
        self._path = path
        self._sites = [site.casefold().lstrip(".") for sites in profiles.values() for site in sites]

    def load(self) -> list[Message]:
        """The kept cookies of the sites that the settings still name."""
        if not self._sites:
            return []
        with suppress(OSError, ValueError):
            kept = json.loads(self._path.read_text())
            if isinstance(kept, list):
                return [each for each in cast("list[Message]", kept) if self._keeps(each)]
        return []

    def keeps_host(self, host: str) -> bool:
        name = host.casefold().partition(":")[0]
        return any(name == site or name.endswith(f".{site}") for site in self._sites)

    def save(self, cookies: Sequence[Message]) -> None:
        """Replace what is kept, in one step."""
        if not self._sites:
            return
        kept = [
            {name: each[name] for name in _FIELDS if name in each} for each in cookies if self._keeps(each)
        ]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w") as file:
            json.dump(kept, file)
        temporary.replace(self._path)

    def _keeps(self, cookie: Message) -> bool:
        return self.keeps_host(str(cookie.get("domain", "")).lstrip("."))

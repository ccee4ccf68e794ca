"""Who may talk with the server: named tokens with a scope, made, checked and revoked."""

import os
import re
import secrets
import stat
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sestet.core.errors import BusyError, PersonError, StorageError
from sestet.storage.database import Database
from sestet.storage.tokens import TokenRow, TokenScope, TokenStore

__all__ = ["OWNER_FILE", "TokenRow", "TokenScope", "Tokens", "is_token"]

#: The owner's own token, beside the database.
OWNER_FILE = "server-token"
_OWNER = "owner"
_PREFIX = "sestet_"
_NAME = re.compile(r"[\w.@:+-]{1,64}")
#: A token's last use is noted at most this often.
_NOTE_SECONDS = 60.0
_FILE_BYTES = 1000
#: A browser that has not come for so long has to be let in again: 30 days.
BROWSER_SECONDS = 30 * 24 * 3600.0


class Tokens:
    def __init__(self, database: Database) -> None:
        self._store = TokenStore(database)
        self._directory = database.path.parent

    def new(self, name: str, scope: TokenScope, lifetime: float = 0) -> str:
        """Make a token. It is shown this once: only a hash of it is stored.

        ``lifetime``: it ends so many seconds after its last use; 0: only when it is revoked.
        """
        if not _NAME.fullmatch(name):
            raise PersonError(
                f"'{name[:80]}' cannot be a token's name: use letters, digits and . _ - @ : +, 64 at most"
            )
        token = _PREFIX + secrets.token_urlsafe(32)
        if not self._store.add(name, scope, _digest(token), time.time(), lifetime):
            raise PersonError(f"there is already a token '{name}'; revoke it first, or choose another name")
        return token

    def new_for_browser(self) -> str:
        """A token of the owner for one browser, which keeps it in a cookie. Each use renews it."""
        return self.new(f"browser-{secrets.token_hex(3)}", "owner", BROWSER_SECONDS)

    def find(self, token: str) -> TokenRow | None:
        """The token that a client shows; None: it is unknown, was revoked or has ended."""
        now = time.time()
        row = self._store.find(_digest(token), now) if is_token(token) else None
        if row is not None and now - row.used_at > _NOTE_SECONDS:
            # When it was used last is not worth waiting for another process.
            with suppress(BusyError):
                self._store.used(row.id, now)
        return row

    def is_valid(self, token: TokenRow) -> bool:
        """Whether a token that was found before is still there."""
        return self._store.has(token.id, time.time())

    def all(self) -> list[TokenRow]:
        return self._store.all(time.time())

    def revoke(self, name: str) -> None:
        if not self._store.remove(name):
            raise PersonError(f"there is no token '{name}'; 'sestet tokens list' lists them")

    def owner_file(self) -> Path:
        """The file with the owner's token.

        It is made anew if it is missing, was revoked, or if others could read or have put it there.
        """
        file = self._directory / OWNER_FILE
        row = self.find(_read_private(file))
        if row is None or row.name != _OWNER:
            self._store.remove(_OWNER)
            _write_private(file, self.new(_OWNER, "owner"))
        return file


def is_token(text: str) -> bool:
    """Whether a text looks like one of our tokens."""
    return text.startswith(_PREFIX)


def _digest(token: str) -> bytes:
    # A token has 256 random bits, so a plain hash cannot be guessed.
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _read_private(file: Path) -> str:
    """The text of a file that only we can read; of a link, or a file that others can read, nothing."""
    try:
        # Not blocking: something else than a file, such as a pipe, might never answer.
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        facts = os.fstat(descriptor)
        is_ours = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
        return os.read(descriptor, _FILE_BYTES).decode("ascii", "replace").strip() if is_ours else ""
    finally:
        os.close(descriptor)


def _write_private(file: Path, token: str) -> None:
    new = file.with_name(f"{file.name}.new")
    try:
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{token}\n")
        new.replace(file)
    except OSError as error:
        raise StorageError(f"{file}: the token of the server cannot be written: {error.strerror}") from error

"""The tokens of a server's clients. Only a hash of each is stored."""

from typing import Literal, TypeAlias

from sestet.core.record import Record
from sestet.storage.database import Database

#: ``owner`` may do everything, ``chat`` may talk and read its answers, ``read`` may look and change nothing.
TokenScope: TypeAlias = Literal["owner", "chat", "read"]
_COLUMNS = "id, client, scope, created_at, used_at"


class TokenRow(Record):
    id: int
    name: str
    scope: TokenScope
    created_at: float
    #: 0: never.
    used_at: float


class TokenStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, scope: TokenScope, digest: bytes, at: float) -> bool:
        """Store a token; False if another one has this name."""
        done = self._database.execute(
            "INSERT OR IGNORE INTO tokens (client, scope, digest, created_at) VALUES (?, ?, ?, ?)",
            (name, scope, digest, at),
        )
        return done.rowcount == 1

    def find(self, digest: bytes) -> TokenRow | None:
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM tokens WHERE digest = ?",  # noqa: S608 - the columns above
            (digest,),
        )
        return TokenRow(*rows[0]) if rows else None

    def has(self, token_id: int) -> bool:
        return bool(self._database.execute("SELECT 1 FROM tokens WHERE id = ?", (token_id,)))

    def all(self) -> list[TokenRow]:
        rows = self._database.execute(f"SELECT {_COLUMNS} FROM tokens ORDER BY id")  # noqa: S608
        return [TokenRow(*row) for row in rows]

    def used(self, token_id: int, at: float) -> None:
        self._database.execute("UPDATE tokens SET used_at = ? WHERE id = ?", (at, token_id))

    def remove(self, name: str) -> bool:
        return self._database.execute("DELETE FROM tokens WHERE client = ?", (name,)).rowcount == 1

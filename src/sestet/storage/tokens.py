"""The tokens of a server's clients. Only a hash of each is stored."""

from typing import Literal, TypeAlias

from sestet.core.record import Record
from sestet.storage.database import Database

#: ``owner`` may do everything, ``chat`` may talk and read its answers, ``read`` may look and change nothing.
#: ``a2a`` is for the agents of others: they may ask over A2A alone.
TokenScope: TypeAlias = Literal["owner", "chat", "read", "a2a"]
_COLUMNS = "id, client, scope, created_at, used_at, lifetime"
_IS_ALIVE = "(lifetime = 0 OR max(created_at, used_at) + lifetime > ?)"


class TokenRow(Record):
    id: int
    name: str
    scope: TokenScope
    created_at: float
    #: 0: never.
    used_at: float
    #: Seconds after its last use when it ends; 0: only when it is revoked.
    lifetime: float


class TokenStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, scope: TokenScope, digest: bytes, at: float, lifetime: float) -> bool:
        """Store a token, and delete those that have ended; False if another one has this name."""
        self._database.execute(f"DELETE FROM tokens WHERE NOT {_IS_ALIVE}", (at,))  # noqa: S608 - text above
        done = self._database.execute(
            """INSERT OR IGNORE INTO tokens (client, scope, digest, created_at, lifetime)
               VALUES (?, ?, ?, ?, ?)""",
            (name, scope, digest, at, lifetime),
        )
        return done.rowcount == 1

    def find(self, digest: bytes, at: float) -> TokenRow | None:
        """The token with this hash, unless it has ended by then."""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM tokens WHERE digest = ? AND {_IS_ALIVE}",  # noqa: S608 - texts above
            (digest, at),
        )
        return TokenRow(*rows[0]) if rows else None

    def has(self, token_id: int, at: float) -> bool:
        alive = f"SELECT 1 FROM tokens WHERE id = ? AND {_IS_ALIVE}"  # noqa: S608 - text above
        return bool(self._database.execute(alive, (token_id, at)))

    def all(self, at: float) -> list[TokenRow]:
        alive = f"SELECT {_COLUMNS} FROM tokens WHERE {_IS_ALIVE} ORDER BY id"  # noqa: S608 - texts above
        return [TokenRow(*row) for row in self._database.execute(alive, (at,))]

    def used(self, token_id: int, at: float) -> None:
        self._database.execute("UPDATE tokens SET used_at = ? WHERE id = ?", (at, token_id))

    def remove(self, name: str) -> bool:
        return self._database.execute("DELETE FROM tokens WHERE client = ?", (name,)).rowcount == 1

"""The load: how many clients, turns and sessions. The server's child reads it too."""

#: Connections at once, of the throughput.
CONNECTIONS = (16, 64)
REQUESTS = 640
#: As in the other figures: a fresh session every ten turns.
TURNS_A_SESSION = 10

READERS = 1_000
READ_SESSIONS = 250
TURNS_A_SECOND = 50
SECONDS = 20


def session_of(name: str, number: int) -> str:
    """The session of a block's turn with this number."""
    return f"{name}-{number // TURNS_A_SESSION}"

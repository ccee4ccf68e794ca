"""The errors that a client gets. Every one has the same form: a code, a sentence, and often a way out."""

from typing import Literal, TypeAlias

from starlette.requests import ClientDisconnect

from sestet.core.errors import BusyError, PersonError, SestetError, StorageError
from sestet.core.record import Record
from sestet.detached.turns import TooManyWaitingError

ErrorCode: TypeAlias = Literal[
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "too_slow",
    "conflict",
    "too_large",
    "unsupported_media_type",
    "misdirected",
    "too_many_requests",
    "internal",
    "unavailable",
]
STATUS: dict[ErrorCode, int] = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "conflict": 409,
    "too_large": 413,
    "unsupported_media_type": 415,
    "misdirected": 421,
    "too_many_requests": 429,
    "internal": 500,
    "unavailable": 503,
}


class ErrorFacts(Record):
    code: ErrorCode
    message: str
    #: What to do about it; empty: the message says it.
    way_out: str = ""


class ErrorBody(Record):
    """The body of every answer that is no success."""

    error: ErrorFacts


class ApiError(SestetError):
    """Ends a request with an error for its client."""

    def __init__(self, code: ErrorCode, message: str, way_out: str = "", retry_after: int = 1) -> None:
        """``retry_after``: the seconds after which a client that asked too often may ask again."""
        super().__init__(message)
        self.facts = ErrorFacts(code, message, way_out)
        self.status = STATUS[code]
        self.retry_after = retry_after


def api_error(error: Exception) -> ApiError:
    """What a client is told about an error. A bug and the storage tell nothing of their own words."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ClientDisconnect):
        # No client reads this: it keeps a client that leaves from looking like a bug in the log.
        return ApiError("bad_request", "the client left before the body ended")
    if isinstance(error, TooManyWaitingError):
        return ApiError("too_many_requests", str(error))
    if isinstance(error, BusyError):
        return ApiError("unavailable", "the database is busy", "send the request again in a moment")
    if isinstance(error, StorageError):
        return ApiError("unavailable", "the database cannot be used now", "run 'sestet doctor' on the server")
    if isinstance(error, PersonError):
        return ApiError("bad_request", str(error))
    return ApiError("internal", "something went wrong inside Sestet", "the server's log has the details")


def not_found(what: str, name: str) -> ApiError:
    return ApiError("not_found", f"there is no {what} '{name[:80]}'")

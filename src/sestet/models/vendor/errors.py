"""Explains why a vendor's model gave no reply: the kind of failure, and one sentence for the person."""

import json
import re
from typing import NamedTuple, cast

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from sestet.core.errors import FailureKind, ModelError
from sestet.core.message import whole
from sestet.core.words import duration
from sestet.models.provider import Endpoint
from sestet.models.servers import reach_question

CONNECT_SECONDS = 10.0

#: How many characters of a server's message are quoted.
_QUOTED = 200
#: A longer wait is no time that a server means.
_LONGEST_WAIT = 366 * 86_400.0


class _Failure(NamedTuple):
    kind: FailureKind
    sentence: str


_TOO_LONG = _Failure(
    "context_too_long",
    "The conversation is too long for the model '{model}'{status}: lower agent.contextTokens.",
)
_WITHHELD = _Failure("content_filter", "The model '{model}' withheld its answer (content filter).")
_NO_KEY = _Failure("auth", "{server} wants a key, and {key_setting} is empty{status}: {key_remedy}.")
_UNREACHABLE = _Failure("transient", "{server} cannot be reached: {ask}")
_NOT_CONNECTED = _Failure("timeout", "{server} did not take the call within {connect}: {ask}")
_SILENT = _Failure("timeout", "{server} sent nothing for {idle} ({settings}.idleSeconds).")
_NOT_BEGUN = _Failure(
    "timeout", "{server} did not begin its reply within {first} ({settings}.firstTokenSeconds)."
)
_NOT_DONE = _Failure("timeout", "{server} did not end its reply within {call} ({settings}.callSeconds).")
_BROKEN_OFF = _Failure("transient", "The connection to {server} broke off before the reply was complete.")
_ELSEWHERE = _Failure(
    "other",
    "{server} redirects to another address, which Sestet does not follow: "
    "write that address into {settings}.baseUrl.",
)
_UNREADABLE = _Failure("transient", "{server} sent something that cannot be read ({message}).")
_OTHER = _Failure("other", "{server} could not be asked: {message}.")

#: The first class that fits decides, so a subclass stands before its parent.
_FAILURES: tuple[tuple[type[Exception], _Failure], ...] = (
    (
        ModelAuthenticationError,
        _Failure("auth", "{server} does not accept the key in {key_origin}{status}: {key_remedy}."),
    ),
    (
        ModelNotFoundError,
        _Failure(
            "unknown_model",
            "{server} does not know the model '{model}'{status}: check agent.model, "
            "and {settings}.baseUrl if the name is right.",
        ),
    ),
    (ModelContextWindowExceededError, _TOO_LONG),
    (ModelRequestRejectedError, _Failure("bad_request", "{server} did not accept the request{status}.")),
    (
        ModelRateLimitError,
        _Failure("rate_limit", "{server} has been asked too often{status}: wait {wait}, then ask again."),
    ),
    (
        ModelQuotaExceededError,
        _Failure("quota", "{server} says that the account has no credit left{status}."),
    ),
    (
        ModelUnavailableError,
        _Failure("transient", "{server} is not available at the moment{status}: try again later."),
    ),
    (ModelServerError, _Failure("transient", "{server} failed{status}.")),
    (ModelHTTPError, _Failure("other", "{server} failed{status}.")),
    (ModelAPIError, _Failure("transient", "{server} did not finish its reply: {message}.")),
    (ContentFilterError, _WITHHELD),
    (
        UnexpectedModelBehavior,
        _Failure("other", "{server} sent nothing that is a reply ({message}): check {settings}.baseUrl."),
    ),
)

#: The words of local servers, which send no code for it.
_SAYS_TOO_LONG = re.compile(r"context.?(size|length|window)|too many tokens", re.IGNORECASE)
#: The error codes of a content filter that stopped the request.
_SAYS_FILTERED = re.compile(r"\b(content_filter|content_policy_violation)\b")
#: The clients' message for a redirect, which the library reports as a broken reply.
_SAYS_REDIRECTED = re.compile(r"(Error code: )?30\d\b")
#: Google's form of Retry-After.
_RETRY_DELAY = re.compile(r"'retryDelay': '(\d+(?:\.\d+)?)s'")


def explain(endpoint: Endpoint, error: Exception) -> ModelError:
    """The error for the person. It has no cause: the vendor's error may quote the key."""
    body = error.body if isinstance(error, ModelAPIError) else None
    said = _said(endpoint, body)
    kind, sentence = _failure(endpoint, error, said)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    wait = _retry_after(error)
    settings = endpoint.settings
    named = isinstance(error, AgentRunError | UserError)
    message = error.message if named else f"{type(error).__name__}: {error}"
    text = sentence.format(
        server=endpoint.server,
        settings=f"providers.{endpoint.provider_id}",
        key_setting=endpoint.key_setting,
        key_origin=endpoint.key_origin,
        key_remedy=endpoint.key_remedy,
        model=endpoint.model,
        status=f" (status {status})" if status else "",
        wait=duration(wait) if wait is not None and 0 <= wait < _LONGEST_WAIT else "a while",
        connect=duration(CONNECT_SECONDS),
        first=duration(settings.first_token_seconds),
        idle=duration(settings.idle_seconds),
        call=duration(settings.call_seconds),
        ask=_reach_question(endpoint),
        message=_shown(endpoint, message.rstrip(".")),
    )
    return ModelError(f"{text} It said: {said}" if said else text, kind, wait)


def withheld(endpoint: Endpoint, words: object) -> ModelError:
    """The error for a reply that the vendor's filter stopped, with the vendor's reason if it gave one."""
    reason = _said(endpoint, words)
    text = _WITHHELD.sentence.format(model=endpoint.model)
    return ModelError(f"{text} It said: {reason}" if reason else text, _WITHHELD.kind)


def _failure(endpoint: Endpoint, error: Exception, said: str) -> _Failure:
    if isinstance(error, TimeoutError):
        return _SILENT
    if isinstance(error, ModelRequestTimeout):
        return _NOT_BEGUN if error.setting == "first_event_timeout" else _NOT_DONE
    if isinstance(error, ModelConnectionError):
        connected = error.phase in ("write", "read")
        if isinstance(error, ModelTimeoutError):
            return _SILENT if connected else _NOT_CONNECTED
        return _BROKEN_OFF if connected else _UNREACHABLE
    if isinstance(error, ModelAuthenticationError) and not endpoint.settings.api_key:
        return _NO_KEY
    if isinstance(error, ModelAPIError) and _SAYS_REDIRECTED.match(error.message):
        return _ELSEWHERE
    if not isinstance(error, AgentRunError | UserError):
        return _UNREADABLE
    found = next((failure for kind, failure in _FAILURES if isinstance(error, kind)), _OTHER)
    if found.kind != "bad_request":
        return found
    if isinstance(error, ModelAPIError) and _SAYS_FILTERED.search(str(error.body)):
        return _WITHHELD
    return _TOO_LONG if _SAYS_TOO_LONG.search(said) else found


def _reach_question(endpoint: Endpoint) -> str:
    ask = reach_question(endpoint.base_url)
    is_named = bool(endpoint.settings.base_url)
    return f"{ask} The address is providers.{endpoint.provider_id}.baseUrl." if is_named else ask


def _retry_after(error: Exception) -> float | None:
    if not isinstance(error, ModelAPIError):
        return None
    if error.retry_after is None and (delay := _RETRY_DELAY.search(str(error.body))):
        return float(delay[1])
    return error.retry_after


def _said(endpoint: Endpoint, body: object) -> str:
    """The server's message where its answer has one, else the whole answer."""
    if isinstance(body, str):
        body = _parsed(body)
    if isinstance(body, dict):
        answer = cast("dict[str, object]", body)
        inner = answer.get("error")
        if isinstance(inner, dict):
            answer = cast("dict[str, object]", inner)
        body = answer.get("message") or json.dumps(answer, ensure_ascii=False, default=str)
    return _shown(endpoint, str(body)) if body else ""


def _parsed(body: str) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _shown(endpoint: Endpoint, text: str) -> str:
    # Before the text is cut: half a key is still a secret.
    line = whole(endpoint.without_secrets(" ".join(text.split())))
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"

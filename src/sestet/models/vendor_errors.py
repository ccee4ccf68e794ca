"""Says in one sentence for the person why a vendor's model gave no reply."""

import json
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from sestet.core.errors import ModelError

#: How much of a server's own words is repeated.
_QUOTED = 200

#: The first class that fits decides, so a subclass stands before its parent.
_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (ModelAuthenticationError, "{server} does not accept the key in {settings}.apiKey{status}."),
    (
        ModelNotFoundError,
        "{server} does not know the model '{model}'{status}: check agent.model, "
        "and {settings}.baseUrl if the name is right.",
    ),
    (
        ModelContextWindowExceededError,
        "The conversation is too long for the model '{model}'{status}: lower agent.contextTokens.",
    ),
    (ModelRequestRejectedError, "{server} did not accept the request{status}."),
    (ModelRateLimitError, "{server} has been asked too often{status}: wait {wait}, then ask again."),
    (ModelQuotaExceededError, "{server} says that the account has no credit left{status}."),
    (ModelUnavailableError, "{server} is not available at the moment{status}: try again later."),
    (ModelHTTPError, "{server} failed{status}."),
    (ModelAPIError, "{server} did not finish its reply: {message}."),
    (UnexpectedModelBehavior, "{server} sent nothing that is a reply ({message}): check {settings}.baseUrl."),
)
_NO_KEY = "{server} wants a key, and {settings}.apiKey is empty{status}."
_UNREACHABLE = "{server} cannot be reached: is it running? The address is {settings}.baseUrl."
_NOT_CONNECTED = "{server} did not take the call within {connect:g} seconds: is it running?"
_SILENT = "{server} sent nothing for {idle:g} seconds."
_BROKEN_OFF = "The connection to {server} broke off before the reply was complete."
_OTHER = "{server} could not be asked: {message}."


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom a model call goes to, in the words of the settings."""

    provider_id: str
    model: str
    base_url: str
    api_key: str = field(repr=False)
    connect_timeout: float
    idle_timeout: float

    @property
    def address(self) -> str:
        """The base address without a name and password that may stand in it."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    def explain(self, error: AgentRunError | UserError) -> ModelError:
        """The error for the person. It does not refer to the vendor's own, which may quote the key."""
        said = self._said(error.body) if isinstance(error, ModelAPIError) else ""
        status = error.status_code if isinstance(error, ModelHTTPError) else None
        wait = error.retry_after if isinstance(error, ModelAPIError) else None
        sentence = self._template(error).format(
            server=f"'{self.provider_id}' at {self.address}",
            settings=f"providers.{self.provider_id}",
            model=self.model,
            status=f" (status {status})" if status else "",
            wait="a while" if wait is None else f"{wait:.0f} seconds",
            connect=self.connect_timeout,
            idle=self.idle_timeout,
            message=self._shown(error.message.rstrip(".")),
        )
        return ModelError(f"{sentence} It said: {said}" if said else sentence)

    def withheld(self, words: object) -> ModelError:
        """The error for a reply that the vendor's filter stopped, with the vendor's words if it gave any."""
        reason = self._said(words)
        sentence = f"The model '{self.model}' withheld its answer (content filter)."
        return ModelError(f"{sentence} It said: {reason}" if reason else sentence)

    def _template(self, error: AgentRunError | UserError) -> str:
        if isinstance(error, ModelAuthenticationError) and not self.api_key:
            return _NO_KEY
        if isinstance(error, ModelConnectionError):
            connected = error.phase in ("write", "read")
            if isinstance(error, ModelTimeoutError):
                return _SILENT if connected else _NOT_CONNECTED
            return _BROKEN_OFF if connected else _UNREACHABLE
        return next((sentence for kind, sentence in _SENTENCES if isinstance(error, kind)), _OTHER)

    def _said(self, body: object) -> str:
        """The server's own words: its message where the answer has one, else the answer as it came."""
        if isinstance(body, dict):
            answer = cast("dict[str, object]", body)
            body = answer.get("message") or json.dumps(answer, ensure_ascii=False, default=str)
        return self._shown(str(body)) if body else ""

    def _shown(self, text: str) -> str:
        line = " ".join(text.split())
        # Before it is cut: half a key is still a secret.
        if self.api_key:
            line = line.replace(self.api_key, "***")
        return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"

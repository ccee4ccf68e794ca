"""Vectors from a server with OpenAI's ``/v1/embeddings``: Ollama, llama.cpp, vendors."""

import json
import math
import struct
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import cast
from urllib.parse import urlsplit

from sestet.config.vendors import VENDORS
from sestet.core.errors import EmbeddingError, EmbeddingFault
from sestet.core.masking import mask_address, mask_addresses
from sestet.core.message import whole
from sestet.core.words import duration

_VENDOR = VENDORS["openai"].url
_SECONDS = 30.0
_MOST_BYTES = 64 * 1024 * 1024
_MOST_CHARACTERS = 8_000
_SHOWN = 200
#: More than any call uses.
_MOST_USED = 2**53

#: The meaning of a status, with the setting to change.
_STATUS = {
    400: "rejects the request; see embedding.model",
    401: "refuses the key; see embedding.apiKey",
    403: "refuses the key; see embedding.apiKey",
    404: "knows no such address or model; see embedding.baseUrl and embedding.model",
    413: "rejects the request as too large",
    429: "asks for fewer requests",
}
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
#: The server may reject one of the texts and accept the others.
_ABOUT_TEXT = frozenset({400, 413, 422})


class EndpointEmbedder:
    """One POST for each batch. Redirects are not followed, so that the key goes to no other host."""

    #: Models differ in the similarity of unrelated texts.
    noise = None
    is_instant = False
    batch = 64
    at_once = 0

    def __init__(self, base_url: str, model: str, api_key: str, seconds: float = _SECONDS) -> None:
        url = urlsplit((base_url or _VENDOR).rstrip("/"))
        if url.scheme not in ("http", "https") or not url.hostname:
            raise EmbeddingError(
                f"embedding.baseUrl: '{mask_address(base_url)}' is not an address such as {_VENDOR}"
            )
        if not model:
            raise EmbeddingError("embedding.model: name the model that the server should use")
        self._is_secure = url.scheme == "https"
        self._host, self._path = url.netloc.rpartition("@")[2], f"{url.path}/embeddings"
        self._model = model
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._api_key = api_key
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._seconds = seconds
        self._dimension: int | None = None
        self._used_tokens = 0
        self.space = f"openai {model} at {url.scheme}://{self._host}{url.path}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        # Some servers reject an empty text.
        tidy = [whole(text[:_MOST_CHARACTERS]).strip() or "-" for text in texts]
        answer = self._post({"model": self._model, "input": tidy})
        self._used_tokens += _used_tokens(answer)
        rows = self._rows(answer, len(tidy))
        dimensions = {len(row) for row in rows} | ({self._dimension} if self._dimension else set[int]())
        if len(dimensions) != 1:
            sizes = " and ".join(map(str, sorted(dimensions)))
            raise self._error(f"mixes vectors of {sizes} numbers")
        self._dimension = dimensions.pop()
        return [_packed(row) for row in rows]

    def take_used_tokens(self) -> int:
        used, self._used_tokens = self._used_tokens, 0
        return used

    def _post(self, body: object) -> object:
        try:
            status, content = self._exchange(json.dumps(body).encode())
        except TimeoutError as error:
            raise self._error(f"did not answer within {duration(self._seconds)}", "passing") from error
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            ask = "are you online, and is it running?"
            raise self._error(f"cannot be reached: {reason}; {ask}", "passing") from error
        if status != 200:
            raise self._refused(status, content)
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._error("answers with something that is not JSON") from error

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        """The status and body of the answer, within the limits of time and size."""
        until = time.monotonic() + self._seconds
        kind = HTTPSConnection if self._is_secure else HTTPConnection
        with closing(kind(self._host, timeout=self._seconds)) as connection:
            connection.request("POST", self._path, body, self._headers)
            with connection.getresponse() as answer:
                content = bytearray()
                while chunk := answer.read1(65_536):
                    content += chunk
                    if time.monotonic() > until:
                        raise TimeoutError
                    if len(content) > _MOST_BYTES:
                        raise self._error("sends an answer that is too large")
                return answer.status, bytes(content)

    def _rows(self, answer: object, count: int) -> list[list[float]]:
        """The vectors in the order of the texts; an error if one is missing or extra."""
        rows: dict[int, list[float]] = {}
        try:
            for item in cast("dict[str, list[dict[str, object]]]", answer)["data"]:
                vector = [float(number) for number in cast("list[float]", item["embedding"])]
                if not vector or not all(map(math.isfinite, vector)):
                    raise ValueError
                rows[cast("int", item["index"])] = vector
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._error("answers with something that is not a list of vectors") from error
        if sorted(rows) != list(range(count)):
            raise self._error(f"was asked for {count} vectors and gave {len(rows)}")
        return [rows[index] for index in range(count)]

    def _refused(self, status: int, content: bytes) -> EmbeddingError:
        meaning = _STATUS.get(status, f"answers with status {status}")
        said = " ".join(content[: 4 * _SHOWN].decode(errors="replace").split())
        if self._api_key:  # some servers repeat the key in their answer
            said = said.replace(self._api_key, "***")
        kind = "passing" if status in _PASSING else "text" if status in _ABOUT_TEXT else "lasting"
        said = mask_addresses(said)
        return self._error(f"{meaning}; it says: {said[:_SHOWN]}" if said else meaning, kind)

    def _error(self, what: str, kind: EmbeddingFault = "lasting") -> EmbeddingError:
        return EmbeddingError(f"the embedding server at {self._host} {what}", kind)


def _used_tokens(answer: object) -> int:
    """The tokens that the server counted; 0 if it does not say a number that can be."""
    try:
        used = cast("dict[str, dict[str, object]]", answer)["usage"]["prompt_tokens"]
    except (KeyError, TypeError):
        return 0
    return used if type(used) is int and 0 <= used < _MOST_USED else 0


def _packed(row: Sequence[float]) -> bytes:
    """The vector at unit length, in the stored format."""
    length = math.hypot(*row) or 1.0
    return struct.pack(f"<{len(row)}f", *(number / length for number in row))

"""The table of paths: finds what answers a request by its path and method."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sestet.server.endpoint import error_response
from sestet.server.errors import ApiError

Answer: TypeAlias = Callable[[Request], Awaitable[Response]]
_PART = re.compile(r"{(\w+)}")


class Path(NamedTuple):
    """One row of the table. A part in braces stands for any text without a slash."""

    method: str
    path: str
    answer: Answer


class Paths:
    """Answers requests by a table. HEAD is answered like GET."""

    def __init__(self, table: Iterable[Path]) -> None:
        #: By path, then by method.
        self._plain: dict[str, dict[str, Answer]] = {}
        self._patterns: dict[str, tuple[re.Pattern[str], dict[str, Answer]]] = {}
        for method, path, answer in table:
            if _PART.search(path):
                pattern = re.compile(_PART.sub(r"(?P<\1>[^/]+)", path))
                _, methods = self._patterns.setdefault(path, (pattern, {}))
            else:
                methods = self._plain.setdefault(path, {})
            methods[method] = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        methods, scope["path_params"] = self._find(scope["path"])
        answer = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if answer is not None:
            response = await answer(Request(scope, receive, send))
        elif methods:
            response = error_response(
                ApiError("method_not_allowed", f"{scope['method']} is not possible here")
            )
            response.headers["allow"] = ", ".join(sorted(methods))
        else:
            nothing = ApiError("not_found", "there is nothing at this path", "see /api/openapi.json")
            response = error_response(nothing)
        await response(scope, receive, send)

    def _find(self, path: str) -> tuple[dict[str, Answer], dict[str, str]]:
        """What answers at a path, by method, and the parts that the table has in braces."""
        if found := self._plain.get(path):
            return found, {}
        for pattern, methods in self._patterns.values():
            if fits := pattern.fullmatch(path):
                return methods, fits.groupdict()
        return {}, {}

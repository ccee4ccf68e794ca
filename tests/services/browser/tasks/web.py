"""Sites on loopback that remember what they received, for tasks on pages."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from email import message_from_bytes
from email.policy import HTTP
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from threading import Thread
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qs, urlsplit

HTML = "text/html; charset=utf-8"


class Received(NamedTuple):
    """A request as the server got it."""

    method: str
    path: str
    query: dict[str, list[str]]
    #: The fields of a form; those of files have the file's name.
    form: dict[str, list[str]]
    files: dict[str, bytes]
    cookies: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    body: str | bytes = ""
    status: int = 200
    kind: str = HTML
    headers: Mapping[str, str] = {}
    #: Seconds until it is sent.
    late: float = 0.0
    #: Break the connection off after the body, as if there were more.
    breaks: bool = False


Page: TypeAlias = str | bytes | Answer | Callable[[Received], "str | Answer"]


class Web:
    """Pages by their path. Whatever is posted elsewhere is answered with thanks."""

    def __init__(self, host: str, server: ThreadingHTTPServer) -> None:
        self.site = f"{host}:{server.server_port}"
        self.pages: dict[str, Page] = {}
        self.received: list[Received] = []
        self.broken: list[str] = []

    def url(self, path: str = "/") -> str:
        return f"http://{self.site}{path}"

    def posts(self, path: str = "") -> list[Received]:
        return [each for each in self.received if each.method == "POST" and each.path == (path or each.path)]

    def gets(self, path: str) -> list[Received]:
        return [each for each in self.received if each.method == "GET" and each.path == path]

    def clear(self) -> None:
        self.pages.clear()
        self.received.clear()
        self.broken.clear()

    def answer(self, received: Received) -> Answer:
        page = self.pages.get(received.path)
        if callable(page):
            page = page(received)
        if page is None:
            posted = received.method == "POST"
            page = Answer("<p>Thanks, it was received.") if posted else Answer("<p>Not found", 404)
        return page if isinstance(page, Answer) else Answer(page)


def _read(handler: BaseHTTPRequestHandler) -> Received:
    length = int(handler.headers.get("Content-Length") or 0)
    body, parts = handler.rfile.read(length), urlsplit(handler.path)
    kind = handler.headers.get("Content-Type") or ""
    form, files = dict[str, list[str]](), dict[str, bytes]()
    if kind.startswith("multipart/form-data"):
        message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body, policy=HTTP)
        for part in message.iter_parts():
            name = str(part.get_param("name", "", "content-disposition"))
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            if (file_name := part.get_filename()) is not None:
                files[name] = content
            form.setdefault(name, []).append(content.decode() if file_name is None else file_name)
    elif kind.startswith("application/x-www-form-urlencoded"):
        form = parse_qs(body.decode(), keep_blank_values=True)
    cookies = SimpleCookie(handler.headers.get("Cookie") or "")
    values = {name: morsel.value for name, morsel in cookies.items()}
    query = parse_qs(parts.query, keep_blank_values=True)
    return Received(handler.command, parts.path, query, form, files, values, body)


@contextmanager
def serving(host: str) -> Generator[Web]:
    """A site at a host of loopback, on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received = _read(self)
            web.received.append(received)
            try:
                self._send(web.answer(received))
            except ConnectionError:
                web.broken.append(received.path)

        def do_POST(self) -> None:
            self.do_GET()

        def _send(self, answer: Answer) -> None:
            time.sleep(answer.late)
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            if answer.status == 0:
                return self._break_off()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(body) + 10_000 * answer.breaks))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            if answer.breaks:
                self._break_off()
            return None

        def _break_off(self) -> None:
            self.wfile.flush()
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(SHUT_RDWR)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    # Names of loopback lead to the first address of it.
    server = ThreadingHTTPServer(("127.0.0.1" if host == "localhost" else host, 0), Handler)
    web = Web(host, server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield web
    server.shutdown()
    server.server_close()

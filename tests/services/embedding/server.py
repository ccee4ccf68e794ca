"""A server on loopback that speaks OpenAI's ``/v1/embeddings``, and breaks on demand."""

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

Vector = list[float]


@dataclass
class Answer:
    """The status and body of the next answer."""

    status: int = 200
    body: str = ""


def letters(text: str) -> Vector:
    """A vector that is easy to check: the counts of the first letters in the text."""
    return [float(text.lower().count(letter)) for letter in "abcdefgh"]


def as_answer(vectors: list[Vector]) -> Answer:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    # Servers promise an index, not an order.
    return Answer(body=json.dumps({"object": "list", "data": data[::-1], "model": "letters"}))


@dataclass
class EmbeddingServer:
    answer: Callable[[list[str]], Answer] = lambda texts: as_answer([letters(text) for text in texts])
    base_url: str = ""
    #: The body and the headers of each request.
    requests: list[tuple[dict[str, object], dict[str, str]]] = field(
        default_factory=list[tuple[dict[str, object], dict[str, str]]]
    )
    #: Released once for each request.
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    #: While it is clear, requests hang.
    going: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving() -> Generator[EmbeddingServer]:
    state = EmbeddingServer()
    state.going.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((body, {"path": self.path, **dict(self.headers)}))
            state.asked.release()
            state.going.wait()
            answer = state.answer(cast("list[str]", body["input"]))
            content = answer.body.encode()
            self.send_response(answer.status)
            if answer.status == 302:
                self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # A client that timed out has closed the connection.
    server.handle_error = lambda request, client_address: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        state.going.set()
        server.shutdown()
        thread.join()
        server.server_close()

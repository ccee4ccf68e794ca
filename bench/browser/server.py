"""Serves the saved pages under the names of their hosts, as a server and as a proxy."""

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

#: A saved page gets what stands in its file, and nothing from the network; its scripts would only fail.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class SavedSites:
    """Runs in threads of its own until it is closed."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = urlsplit(self.path)
                host = asked.hostname or self.headers.get("Host", "").partition(":")[0]
                body = contents.get(host, b"") if asked.path in ("", "/") else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Security-Policy", _POLICY)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Progress is told elsewhere."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

"""A real Chromium with one tab, and small sites on loopback, for tests of what is read of a page."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

from sestet.services.browser.connection import Connection, Message
from sestet.services.browser.frames import Frame
from sestet.services.browser.reading import Reading, read_page

PROGRAM = Path("/usr/lib/chromium/chromium-headless-shell")
NOBODY = 65_534
_FLAGS = (
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--site-per-process",
    "--host-resolver-rules=MAP *.test 127.0.0.1",
    "--window-size=1000,700",
)

_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


class RealPage:
    """One tab. Frames of other sites have processes and sessions of their own."""

    def __init__(self) -> None:
        self.connection = Connection()
        self._profile = tempfile.mkdtemp(prefix="sestet-reader-")
        self._sessions: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._session = self._target = ""
        self._loaded = asyncio.Event()
        self.next_ref = 1

    def _launch(self) -> tuple[int, int]:
        as_root = os.geteuid() == 0
        if as_root:
            os.chown(self._profile, NOBODY, NOBODY)
        commands, writing = os.pipe()
        reading, answers = os.pipe()
        # A shell moves the pipes to the numbers that Chromium expects.
        script = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", str(PROGRAM), *_FLAGS, f"--user-data-dir={self._profile}"],
            pass_fds=(commands, answers),
            user=NOBODY if as_root else None,
            group=NOBODY if as_root else None,
            extra_groups=[] if as_root else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"HOME": self._profile, "TMPDIR": self._profile, "PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        return reading, writing

    async def start(self) -> None:
        await self.connection.open(*self._launch())
        self.connection.listen("Target.attachedToTarget", self._attached)
        self.connection.listen("Page.loadEventFired", self._has_loaded)
        made = await self.connection.send("Target.createTarget", {"url": "about:blank"})
        self._target = cast("str", made["targetId"])
        attached = await self.connection.send(
            "Target.attachToTarget", {"targetId": self._target, "flatten": True}
        )
        self._session = cast("str", attached["sessionId"])
        await self.send("Page.enable")
        await self.send("Target.setAutoAttach", _ATTACH)

    def _has_loaded(self, session: str, params: Message) -> None:
        self._loaded.set()

    def _attached(self, session: str, params: Message) -> None:
        if params["targetInfo"]["type"] == "iframe":
            self._sessions[params["targetInfo"]["targetId"]] = params["sessionId"]
            self.connection.tell("Target.setAutoAttach", _ATTACH, params["sessionId"])
            self.connection.tell("Runtime.runIfWaitingForDebugger", {}, params["sessionId"])

    async def send(self, method: str, params: Mapping[str, object] | None = None) -> Message:
        return await self.connection.send(method, params, self._session)

    async def go(self, url: str) -> None:
        self._loaded.clear()
        await self.send("Page.navigate", {"url": url})
        await self._loaded.wait()

    async def set(self, html: str, *, script: str = "") -> None:
        """Show this document, and run a script of the page in it."""
        await self.go("about:blank")
        tree = await self.send("Page.getFrameTree")
        await self.send(
            "Page.setDocumentContent", {"frameId": tree["frameTree"]["frame"]["id"], "html": html}
        )
        if script:
            await self.run(script)

    async def run(self, script: str) -> object:
        """Run a script in the page's own world."""
        answer = await self.send(
            "Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True}
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @property
    def frame(self) -> Frame:
        return Frame(
            self.connection, self._session, self._target, lambda frame: self._sessions.get(frame, "")
        )

    async def read(self) -> Reading:
        reading = await read_page(self.frame, self.next_ref)
        self.next_ref = reading.next_ref
        return reading

    async def lines(self, html: str, *, script: str = "") -> list[str]:
        await self.set(html, script=script)
        return list((await self.read()).lines)

    async def click(self, x: float, y: float) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            await self.send("Input.dispatchMouseEvent", event)

    async def stop(self) -> None:
        with suppress(Exception):
            await self.connection.send("Browser.close", wait=2.0)
        self.connection.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, 3.0)
            with suppress(OSError):
                os.killpg(self._process.pid, 9)
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)


class PageSite:
    """Pages by their path, on a port of loopback."""

    def __init__(self) -> None:
        pages: dict[str, str] = {}
        self.pages = pages
        #: Every path that was asked for.
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                body = pages.get(self.path, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

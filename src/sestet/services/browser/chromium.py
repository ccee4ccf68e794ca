"""Finds Chromium, starts it confined, and ends it with everything that it has started."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from sestet.config.load import child_environment
from sestet.core.record import Record
from sestet.services.browser.connection import BrowserError, Connection
from sestet.services.browser.egress import Egress
from sestet.services.browser.launcher import PROXY, Start
from sestet.services.browser.leftovers import MARK, PROFILES, new_mark
from sestet.services.browser.processes import has_argument, kill_process, used_in_session

#: The user that Chromium becomes if Sestet runs as root; commands in the sandbox have another one.
DEDICATED_ID = 61_188
_PATIENCE = 30.0
_LAST_PATIENCE = 5.0
_FEATURES_OFF = (
    "AsyncDns",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "DnsOverHttpsUpgrade",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "SpareRendererForSitePerProcess",
    "Translate",
)
_FLAGS = (
    "--remote-debugging-pipe",
    "--site-per-process",
    "--no-first-run",
    "--no-default-browser-check",
    # Nothing but pages may use the network, and pages only through the proxy.
    f"--proxy-server=http://{PROXY}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--no-pings",
    # Nothing of the machine is offered to a page.
    "--deny-permission-prompts",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-notifications",
    "--disable-file-system",
    "--disable-speech-api",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--password-store=basic",
    "--mute-audio",
    "--window-size=1280,900",
    # Small: no picture is drawn unless a screenshot is asked for.
    "--disable-gpu",
    "--disable-gpu-compositing",
    "--in-process-gpu",
    "--no-service-autorun",
    f"--disable-features={','.join(_FEATURES_OFF)}",
)


class BrowserPlan(Record):
    """How Chromium is started."""

    program: str
    visible: bool = False
    #: False: without its own sandbox, since the owner says so.
    sandboxed: bool = True
    memory_mb: int = 1_500


class Chromium:
    """One running Chromium with its connection, its proxy and its profile directory."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", connection: Connection, egress: Egress, profile: Path
    ) -> None:
        self.connection = connection
        self.egress = egress
        #: Whether the kernel gives it no other network than the proxy.
        self.own_network = False
        self.profile = profile
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self.connection.closed.is_set() and self._process.poll() is None

    def memory_mb(self) -> int:
        """Megabytes that all its processes use together."""
        return sum(used.kilobytes for used in used_in_session(self.pid)) // 1024

    def end_largest_page(self, limit_mb: int) -> bool:
        """Kill the process of the page that is too large; False if the others alone are more than the limit.

        Pages of two conversations never share a process.
        """
        used = used_in_session(self.pid)
        pages = [each for each in used if has_argument(each.pid, "--type=renderer")]
        largest = max(pages, key=lambda each: each.kilobytes, default=None)
        rest = sum(each.kilobytes for each in used if each is not largest) // 1024
        return largest is not None and rest <= limit_mb and kill_process(largest)

    @classmethod
    async def start(cls, plan: BrowserPlan, egress: Egress) -> "Chromium":
        """Start it and wait until it answers. Whatever fails, nothing is left behind."""
        profile = Path(tempfile.mkdtemp(prefix=f"{PROFILES}{new_mark()}-"))
        connection = Connection()
        ours, theirs = socket.socketpair()
        reading, answers = os.pipe()
        commands, writing = os.pipe()
        try:
            process = _spawn(plan, profile, theirs, (commands, answers))
        except OSError as error:
            ours.close()
            for descriptor in (reading, writing):
                os.close(descriptor)
            shutil.rmtree(profile, ignore_errors=True)
            raise BrowserError(f"the browser did not start: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(commands)
            os.close(answers)
        chromium = cls(process, connection, egress, profile)
        try:
            await connection.open(reading, writing)
            async with asyncio.timeout(_PATIENCE):
                await chromium._hand_over(ours)
                await connection.send("Browser.getVersion")
            return chromium
        except (OSError, TimeoutError, BrowserError) as error:
            await chromium._end()
            why = _why_not_started(profile, plan, error)
            await chromium.stop()
            raise BrowserError(why) from error
        except BaseException:
            await chromium.stop()
            raise
        finally:
            ours.close()

    async def _hand_over(self, channel: socket.socket) -> None:
        """Take the proxy's socket, which lies in Chromium's network, and let Chromium start."""
        channel.settimeout(_PATIENCE)
        message, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, channel, 4096, 1)
        if not descriptors:
            raise BrowserError("its launcher ended")
        answer = json.loads(message)
        self.own_network = answer["ownNetwork"]
        await self.egress.start(socket.socket(fileno=descriptors[0]))
        channel.sendall(b"1")

    async def stop(self) -> None:
        """End it, also if it does not want to, and remove its profile."""
        await self._end()
        await asyncio.to_thread(shutil.rmtree, self.profile, ignore_errors=True)

    async def _end(self) -> None:
        with suppress(BrowserError):
            await self.connection.send("Browser.close", wait=1.0)
        self.connection.close()
        await self.egress.close()
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, 1.0)
        for kill in (lambda: os.killpg(self.pid, signal.SIGKILL), self._process.kill):
            with suppress(OSError):
                kill()
        await asyncio.to_thread(self._process.wait, _LAST_PATIENCE)


def _spawn(
    plan: BrowserPlan, profile: Path, channel: socket.socket, pipes: tuple[int, int]
) -> "subprocess.Popen[bytes]":
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(profile, DEDICATED_ID, DEDICATED_ID)
    arguments = [plan.program, *_FLAGS, f"--user-data-dir={profile}"]
    if "headless-shell" not in plan.program:
        # The full browser ends with its last window, and the one that it opens itself is closed at once.
        arguments.append("--no-startup-window")
        if not plan.visible:
            arguments.append("--headless=new")
    if not plan.sandboxed:
        arguments.append("--no-sandbox")
    start = Start(
        [*arguments, "about:blank"],
        _environment(profile, visible=plan.visible),
        pipes,
        DEDICATED_ID if as_root else 0,
        os.getpid(),
    )
    # In this thread: the kernel ends Chromium when the thread that started it ends.
    with (profile / "errors").open("wb") as errors:
        return subprocess.Popen(  # noqa: S603 - the same interpreter
            [
                *(sys.executable, "-P", "-m", "sestet.services.browser.launcher"),
                *(str(channel.fileno()), json.dumps(start)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(channel.fileno(), *pipes),
            env=child_environment(),
            cwd="/",
        )


def _environment(profile: Path, *, visible: bool) -> dict[str, str]:
    """No variable of the person's, but those that a window needs."""
    shown = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR") if visible else ()
    window = {name: os.environ[name] for name in shown if name in os.environ}
    return {
        "HOME": str(profile),
        "TMPDIR": str(profile),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        MARK: new_mark(),
        **window,
    }


def _why_not_started(profile: Path, plan: BrowserPlan, error: BaseException) -> str:
    said = ""
    with suppress(OSError):
        said = (profile / "errors").read_text(errors="replace")
    if "No usable sandbox" in said or "Failed to move to new namespace" in said:
        return (
            "the browser did not start: this machine does not let it build its own sandbox (user namespaces "
            "are off); 'browser.sandbox: off' starts it without one, and a hostile page can do what you can"
        )
    if plan.visible and "display" in said.casefold():
        return "the browser did not start: there is no screen for its window; set 'browser.visible: false'"
    lines = [line for line in said.splitlines() if "ERROR:dbus" not in line]
    lines = [line for line in lines if "FATAL" in line] or lines
    return f"the browser did not start: {lines[-1][:300] if lines else error or type(error).__name__}"

"""A desktop's session for tests: a D-Bus of its own, and on it a real keyring that was unlocked at login."""

import os
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from jeepney.io.blocking import (  # pyright: ignore[reportMissingTypeStubs] - it has none
    DBusConnection,
    open_dbus_connection,
)
from secretstorage import Collection, get_collection_by_alias, search_items
from secretstorage.util import BUS_NAME

_PROGRAMS = ("dbus-daemon", "gnome-keyring-daemon")
#: No directory of services: nothing is started unless a test starts it.
_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={socket}</listen><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
"""
_PASSWORD = b"login password"
_PATIENCE = 30
_Result = TypeVar("_Result")


def why_no_desktop() -> str:
    """Why there cannot be one on this machine; empty: there can."""
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    return f"{' and '.join(missing)} not installed; as root, 'make setup' does it" if missing else ""


class Desktop:
    """The session: its bus, and its keyring."""

    def __init__(self, directory: Path, bus: str) -> None:
        self.bus = bus
        self._directory = directory
        self._keyring: subprocess.Popen[bytes] | None = None

    def log_in(self) -> None:
        """Start the keyring, unlocked."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._directory),
            "XDG_DATA_HOME": str(self._directory),
            "XDG_RUNTIME_DIR": str(self._directory),
            "DBUS_SESSION_BUS_ADDRESS": self.bus,
        }
        command = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
        self._keyring = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert self._keyring.stdin is not None
        with self._keyring.stdin as password:
            password.write(_PASSWORD)
        self._wait_for_keyring()

    def log_out(self) -> None:
        """End the keyring. What it holds stays on the disk."""
        if self._keyring is not None:
            self._keyring.send_signal(signal.SIGCONT)
            self._keyring.terminate()
            self._keyring.wait(_PATIENCE)
            self._keyring = None

    def lock(self) -> None:
        self._ask(lambda connection: _default(connection).lock())

    def hang(self) -> None:
        """From now on the keyring takes requests, and never answers."""
        assert self._keyring is not None
        self._keyring.send_signal(signal.SIGSTOP)

    def keys(self) -> list[bytes]:
        """The values that the keyring holds for Sestet."""
        found = {"application": "sestet"}
        return self._ask(lambda connection: [item.get_secret() for item in search_items(connection, found)])

    def forget_everything(self) -> None:
        self._ask(lambda connection: [item.delete() for item in _default(connection).get_all_items()])

    def replace_keys(self, value: bytes) -> None:
        """Put another value in the place of each key."""
        found = {"application": "sestet"}
        self._ask(lambda connection: [item.set_secret(value) for item in search_items(connection, found)])

    def _ask(self, work: Callable[[DBusConnection], _Result]) -> _Result:
        with closing(open_dbus_connection(self.bus)) as connection:
            return work(connection)

    def _wait_for_keyring(self) -> None:
        """Return when the keyring has its name on the bus."""
        with closing(open_dbus_connection(self.bus)) as connection:
            untyped: Any = connection  # Any: the library has no types
            untyped.bus_proxy.AddMatch("type='signal',member='NameOwnerChanged'")
            while not untyped.bus_proxy.NameHasOwner(BUS_NAME)[0]:
                untyped.receive(timeout=_PATIENCE)


def _default(connection: DBusConnection) -> Collection:
    return get_collection_by_alias(connection, "default")


@contextmanager
def open_desktop() -> Generator[Desktop]:
    """A session whose keyring is unlocked. Without one on this machine, the test is left out."""
    if why := why_no_desktop():
        pytest.skip(why)
    # Not pytest's directory: the path of a socket has at most 107 bytes.
    with TemporaryDirectory(prefix="sestet-desktop-") as directory, _session(Path(directory)) as desktop:
        yield desktop


@contextmanager
def _session(directory: Path) -> Generator[Desktop]:
    socket = directory / "bus"
    settings = directory / "bus.conf"
    settings.write_text(_BUS.format(socket=socket))
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={settings}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert bus.stdout is not None
    ready, _, _ = select.select([bus.stdout], [], [], _PATIENCE)
    assert ready, "the bus did not start"
    desktop = Desktop(directory, bus.stdout.readline().decode().strip())
    try:
        desktop.log_in()
        yield desktop
    finally:
        desktop.log_out()
        bus.terminate()
        bus.wait()
        bus.stdout.close()

"""The program of the broker's process: takes connections, and answers the requests of each.

When Sestet ends, however it ends, its socket closes, and this process ends too.
"""

import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import NoReturn

from sestet.services.vault import framing
from sestet.services.vault.broker import Broker
from sestet.services.vault.hardening import harden
from sestet.services.vault.vault_file import VaultFile


def _serve(broker: Broker, channel: socket.socket) -> None:
    """Answer the requests of one connection until it is closed."""
    with channel:
        while True:
            try:
                message = framing.receive(channel)
            except (OSError, ValueError):
                return
            if message is None:
                return
            try:
                answer = broker.answer(message.content, message.descriptors)
            finally:
                message.close()
            try:
                framing.send(channel, *answer)
            except OSError:
                return
            finally:
                answer.close()


def main() -> NoReturn:
    """Serve the connections that come over the socket of the first argument, for the vault of the second."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)
    broker = Broker(VaultFile(Path(sys.argv[2])), harden())
    framing.send(control, {"ready": True})
    try:
        while (message := framing.receive(control)) is not None:
            for descriptor in message.descriptors:
                channel = socket.socket(fileno=descriptor)
                threading.Thread(target=_serve, args=(broker, channel), daemon=True).start()
    finally:
        broker.terminals.restore()
        # Threads may wait for a terminal or a server; nothing of theirs has to be finished.
        os._exit(0)


if __name__ == "__main__":
    main()

"""A program that stores a value through the broker, then counts how often its own memory holds the value.

The value to look for comes with every bit turned round, so that the search itself does not put it there.
"""

import sys
from contextlib import suppress
from pathlib import Path

from sestet.services.vault.scanner import Scanner
from sestet.services.vault.sources import Cost, Source
from sestet.services.vault.vault import Vault

_TURNED = bytes(255 - byte for byte in range(256))


def _times_in_memory(turned: bytes) -> int:
    found = 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.readlines():
            place, rights = line.split()[:2]
            start, end = (int(part, 16) for part in place.split("-"))
            # Some places of the kernel cannot be read.
            with suppress(OSError, OverflowError, ValueError):
                memory.seek(start)
                content = memory.read(end - start) if "r" in rights else b""
                found += content.translate(_TURNED).count(turned)
    return found


def main() -> None:
    vault_file, value_file, turned, keep = sys.argv[1:]
    vault = Vault(Path(vault_file))
    vault.create(b"pw", cost=Cost(8, 1, 1))
    scanner = Scanner(vault)
    with open(value_file, "rb") as stream:
        vault.store("canary", Source("stream"), descriptor=stream.fileno())
    assert scanner.watches
    assert scanner.clean("an ordinary text") == "an ordinary text"
    kept = Path(value_file).read_bytes() if keep == "keep" else b""
    print(_times_in_memory(bytes.fromhex(turned)), len(kept))
    vault.close()


if __name__ == "__main__":
    main()

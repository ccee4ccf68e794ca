"""Starts Chromium where nobody can make user namespaces, and prints what is said: run as root."""

import asyncio
import os
from pathlib import Path

from sestet.services.browser.address_rules import AddressRules
from sestet.services.browser.chromium import BrowserPlan, Chromium
from sestet.services.browser.connection import BrowserError
from sestet.services.browser.egress import Egress
from sestet.services.browser.program import find_chromium
from sestet.services.sandbox.kernel import CLONE_NEWUSER, unshare


def main() -> None:
    ready, mapped = os.pipe(), os.pipe()
    child = os.fork()
    if child:
        os.read(ready[0], 1)
        for kind in ("uid", "gid"):
            Path(f"/proc/{child}/{kind}_map").write_text("0 0 70000")
        os.write(mapped[1], b"1")
        os.waitpid(child, 0)
        return
    unshare(CLONE_NEWUSER)
    os.write(ready[1], b"1")
    os.read(mapped[0], 1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    asyncio.run(start())


async def start() -> None:
    try:
        chromium = await Chromium.start(BrowserPlan(find_chromium()), Egress(AddressRules(())))
    except BrowserError as error:
        print(error)
    else:
        print("it started")
        await chromium.stop()


if __name__ == "__main__":
    main()

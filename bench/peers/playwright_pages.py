"""Playwright on the same pages: ``python -m bench.peers.playwright_pages PORT MODE PROGRAM HOST...``."""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from playwright.async_api import async_playwright

_PATIENCE = 60_000
#: Chromium's sandbox does not work for root, so root starts it with the rights of nobody.
_DROP = """#!/bin/bash
for each in "$@"; do
    case $each in --user-data-dir=*) export HOME="${each#--user-data-dir=}" TMPDIR=/tmp ;; esac
done
chown -R 65534:65534 "$HOME"
exec setpriv --reuid=65534 --regid=65534 --clear-groups PROGRAM "$@"
"""


def without_rights(program: str) -> str:
    if os.geteuid():
        return program
    wrapper = Path.cwd() / "chromium"
    wrapper.write_text(_DROP.replace("PROGRAM", program))
    wrapper.chmod(0o755)
    return str(wrapper)


async def measure(port: int, mode: str, program: str, hosts: list[str]) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=without_rights(program),
            # As Sestet's: Playwright's own default leaves it off.
            chromium_sandbox=True,
            proxy={"server": f"http://127.0.0.1:{port}"},
        )
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        found: dict[str, str] = {}
        for host in hosts:
            await page.goto(f"http://{host}/", timeout=_PATIENCE)
            # What playwright-mcp gives to a model.
            found[host] = await page.aria_snapshot(mode="ai", timeout=_PATIENCE)
        print(json.dumps({"at": time.time(), "pages": found if mode == "read" else {}}), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))

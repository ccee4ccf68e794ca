"""Finds the Chromium of this machine."""

import os
import shutil

from sestet.core.errors import ToolError

#: Where the program itself lies, then names to look for. The first has no window, and half the size.
_PLACES = ("/usr/lib/chromium/chromium-headless-shell", "/usr/lib/chromium/chromium")
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def find_chromium(*, visible: bool = False) -> str:
    """The path of a Chromium that can be used; raises a ToolError that says how to get one."""
    refused = ""
    found = (*_PLACES, *(shutil.which(name) or "" for name in _NAMES))
    for path in found:
        if not path or not os.access(path, os.X_OK) or (visible and "headless" in path):
            continue
        real = os.path.realpath(path)
        if real.startswith("/snap/") or real == "/usr/bin/snap":
            refused = f"; '{path}' is a snap, whose own confinement does not let Sestet confine it"
            continue
        return path
    package = "chromium" if visible else "chromium-headless-shell"
    raise ToolError(f"no Chromium was found{refused}; on Debian: sudo apt-get install {package}")


def has_chromium(*, visible: bool = False) -> bool:
    try:
        find_chromium(visible=visible)
    except ToolError:
        return False
    return True

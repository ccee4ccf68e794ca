"""How this Sestet was installed, which says how an optional part of it is added."""

import json
import shutil
import sys
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import unquote, urlsplit

#: That wheel is gone, so its address would not help.
_SOME_WHEEL = "file:///path/to/the.whl"


class _Origin(NamedTuple):
    """Where Sestet was installed from; empty if it is not known."""

    wheel: str = ""
    clone: str = ""


def install_command(extra: str = "") -> str:
    """What to run to get Sestet with an extra, or its own packages again."""
    wheel, clone = _origin()
    if wheel:
        return f"{_pip()} install 'sestet{f'[{extra}]' if extra else ''} @ {wheel}'"
    what = f"'.[{extra}]'" if extra else "."
    return f"{_pip(clone)} install {what} in the clone"


def _pip(clone: str = "") -> str:
    """The pip that installs for this Python, as it is called in the clone; another pip would not help."""
    own = Path(sys.executable).with_name("pip")
    found = shutil.which("pip")
    if found is not None and Path(found) == own:
        return "pip"
    if not own.exists():
        return f"{sys.executable} -m pip"
    return str(own.relative_to(clone) if clone and own.is_relative_to(clone) else own)


def _origin() -> _Origin:
    # Loaded on use: only an error text needs it, and it takes longer than the other imports of a start.
    from importlib import metadata

    try:
        text = metadata.distribution("sestet").read_text("direct_url.json") or "{}"
        origin = cast("dict[str, object]", json.loads(text))
    except (metadata.PackageNotFoundError, ValueError):
        return _Origin()
    if "url" not in origin:
        return _Origin()
    address = str(origin["url"])
    path = unquote(urlsplit(address).path)
    if "archive_info" not in origin:
        return _Origin(clone=path)
    is_gone = address.startswith("file:") and not Path(path).is_file()
    return _Origin(wheel=_SOME_WHEEL if is_gone else address)

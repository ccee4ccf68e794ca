"""The names of all files here, found by listing the folder and the folders in it."""

import re
from collections.abc import Iterable

from sestet.core.message import ToolCall
from sestet.models.offline.work import Work, call, paths_of

_MOST_FOLDERS = 24
#: Folders of tools, whose files nobody means.
_NOT_ONES_OWN = re.compile(r"(?:^|/)(?:\.|node_modules|__pycache__|venv)")


def unlisted(work: Work) -> tuple[ToolCall, ...]:
    """The calls that list the folders which are not listed yet; none when all names are known."""
    listed = {str(step.call.arguments.get("path")) for step in work.made("fs_list")}
    if not listed:
        return (call("fs_list", path="."),)
    found = (one.name for step in work.made("fs_list") for one in step.result.found)
    folders = [name.rstrip("/") for name in found if name.endswith("/") and not _NOT_ONES_OWN.search(name)]
    left = [name for name in folders if name not in listed]
    return tuple(call("fs_list", path=name) for name in left[: max(0, _MOST_FOLDERS - len(listed))])


def names_of(work: Work) -> list[str]:
    return paths_of([one for step in work.made("fs_list") for one in step.result.found])


def several(paths: Iterable[str]) -> str:
    return "\n".join(("Several files fit; say which one to read:", *(f"- {path}" for path in paths)))

"""What a workspace would turn on, and whether the person accepted exactly that.

A workspace is the working directory. Its ``sestet.yaml``, ``.agents/agents/`` and ``.agents/tools/`` can
choose servers, allow calls and run code, so they are ignored until the person accepts them. The acceptance is
a digest of every path and every byte; the settings and the plug-ins are then read from those same bytes.
"""

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

from sestet.config.links import resolved
from sestet.config.setting_effects import Effect, settings_effects
from sestet.core.errors import ConfigError
from sestet.core.schema import JsonValue

SETTINGS_FILE = "sestet.yaml"
PLUGIN_FOLDER = ".agents"
#: The folders below ``.agents`` that Sestet reads; other programs may use the rest of it.
_PARTS = ("agents", "tools")
#: The name of the list of accepted workspaces in the data directory.
STORE = "trust.json"

_MOST_FILES = 500
_MOST_BYTES = 5_000_000
_MOST_DEPTH = 5

State: TypeAlias = Literal["new", "accepted", "declined", "changed", "unusable"]


class Workspace(NamedTuple):
    """The settings and plug-ins that lie in one directory, as they were read at one moment."""

    directory: Path
    #: Content by path, relative to the directory.
    files: Mapping[str, bytes] = {}
    state: State = "new"
    #: Why the workspace cannot be accepted as it is.
    problem: str = ""
    #: The files that were added, changed or removed since the person accepted the workspace.
    changes: tuple[str, ...] = ()

    @property
    def is_accepted(self) -> bool:
        return self.state == "accepted"

    @property
    def settings(self) -> bytes | None:
        """The bytes of its settings file, if the person accepted them."""
        return self.files.get(SETTINGS_FILE) if self.is_accepted else None

    @property
    def has_plugins(self) -> bool:
        return any(path != SETTINGS_FILE for path in self.files)

    @property
    def digest(self) -> str:
        # Loaded on use: most directories hold nothing that is hashed.
        from hashlib import sha256

        hashed = sha256()
        for path, content in sorted(self.files.items()):
            for part in (os.fsencode(path), content):
                hashed.update(len(part).to_bytes(8, "big"))
                hashed.update(part)
        return hashed.hexdigest()

    @property
    def notice(self) -> str:
        """One line for the person: what is ignored, why, and the way out. Empty when nothing is ignored."""
        if self.is_accepted:
            return ""
        ignored = f"the settings and plug-ins in {self.directory} are ignored"
        if self.problem:
            return f"{ignored}: {self.problem}"
        if self.state == "changed":
            return f"{ignored}: they changed after you accepted them; 'sestet trust' shows and accepts them"
        return f"{ignored} until you accept them; 'sestet trust' shows and accepts them"


class Accepted(NamedTuple):
    """One line of the list: the decision on a workspace."""

    digest: str
    accepted: bool
    at: float
    #: The digest of each file, to name the changed ones; the decision holds for ``digest`` alone.
    files: Mapping[str, str] = {}


def open_workspace(directory: Path, data: Path | None) -> Workspace | None:
    """Read what lies in a workspace and look up the decision on it; None: there is nothing.

    ``data`` is the data directory with the list of decisions. Without one, nothing is accepted.
    """
    names = [name for name in (SETTINGS_FILE, PLUGIN_FOLDER) if os.path.lexists(directory / name)]
    if not names:
        return None
    workspace = Workspace(directory.resolve())
    try:
        files = _read_files(workspace.directory)
    except _UnusableError as error:
        return workspace._replace(state="unusable", problem=str(error))
    except OSError as error:
        return workspace._replace(state="unusable", problem=f"it cannot be read: {error}")
    if not files:
        return None
    workspace = workspace._replace(files=files)
    if data and lies_in(data, workspace.directory):
        problem = f"the list of accepted folders, {data / STORE}, lies in this folder itself; set SESTET_HOME"
        return workspace._replace(state="unusable", problem=f"{problem} to a directory outside")
    known = read_decisions(data).get(str(workspace.directory)) if data else None
    state = _state(workspace, known)
    changes = _changes(known.files, workspace.files) if known and state == "changed" else ()
    return workspace._replace(state=state, changes=changes)


def lies_in(data: Path, directory: Path) -> bool:
    """Whether a fetched folder could have brought the list along. A person's home is no fetched folder."""
    try:
        if not resolved(data).is_relative_to(directory):
            return False
        return not Path.home().resolve().is_relative_to(directory)
    except (OSError, RuntimeError):  # a link that leads to itself, or a user without a home directory
        return True


def _state(workspace: Workspace, known: Accepted | None) -> State:
    if known is None:
        return "new"
    if known.digest != workspace.digest:
        return "changed" if known.accepted else "new"
    return "accepted" if known.accepted else "declined"


def _changes(before: Mapping[str, str], files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The paths that differ; empty when the list was written before it named files."""
    if not before:
        return ()
    now = _digests(files)
    return tuple(path for path in sorted({*before, *now}) if before.get(path) != now.get(path))


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    # Loaded on use: most directories hold nothing that is hashed.
    from hashlib import sha256

    return {path: sha256(content).hexdigest() for path, content in files.items()}


class _UnusableError(Exception):
    """Why the files of a workspace cannot be accepted."""


def _read_files(directory: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = _MOST_BYTES
    for path in _find_files(directory):
        name = str(path.relative_to(directory))
        if len(files) == _MOST_FILES:
            raise _UnusableError(f"'{PLUGIN_FOLDER}' has more than {_MOST_FILES} files")
        files[name] = _read(path, name, directory, left)
        left -= len(files[name])
    return files


def _find_files(directory: Path) -> Iterator[Path]:
    if os.path.lexists(directory / SETTINGS_FILE):
        yield directory / SETTINGS_FILE
    folder = directory / PLUGIN_FOLDER
    for place in (folder, *(folder / part for part in _PARTS)):
        if place.is_symlink():
            raise _UnusableError(f"'{place.relative_to(directory)}' is a link; put the folder itself there")
        if not place.is_dir():
            continue
        if place != folder:
            yield from _walk(place, directory, _MOST_DEPTH)


def _walk(folder: Path, directory: Path, depth: int) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        # Caches and hidden files: the loader of plug-ins never reads them either.
        if path.name.startswith(".") or path.name == "__pycache__":
            continue
        if not path.is_dir():
            yield path
        elif path.is_symlink() or not depth:
            why = "is a link to a folder" if path.is_symlink() else "is nested too deeply"
            raise _UnusableError(f"'{path.relative_to(directory)}' {why}")
        else:
            yield from _walk(path, directory, depth - 1)


def _read(path: Path, name: str, directory: Path, limit: int) -> bytes:
    """The bytes of one file that the person may accept; the open file is checked, so it cannot be swapped."""
    real = path.resolve()
    if not real.is_relative_to(directory):
        raise _UnusableError(f"'{name}' is a link that leads out of the workspace")
    # Not blocking: a pipe without a writer would hold the program up for ever.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _UnusableError(f"'{name}' is not a regular file")
        if why := why_foreign(state):
            raise _UnusableError(f"'{name}' {why}")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            content = stream.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise _UnusableError(f"its files have more than {_MOST_BYTES // 1_000_000} MB together")
    return content


def why_foreign(state: os.stat_result) -> str:
    """Why a file may hold the words of another user; empty when only this user and root can write it."""
    if state.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    return "can be written by everybody" if state.st_mode & stat.S_IWOTH else ""


def read_decisions(data: Path) -> dict[str, Accepted]:
    """Every decision by the path of its workspace; a list that cannot be trusted itself has none."""
    file = data / STORE
    try:
        if why_foreign(file.stat()):
            return {}
        listed: dict[str, dict[str, object]] = json.loads(file.read_bytes())["workspaces"]
        return {
            path: Accepted(
                str(entry["digest"]), entry["accepted"] is True, float(str(entry["at"])), _file_digests(entry)
            )
            for path, entry in listed.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _file_digests(entry: Mapping[str, object]) -> dict[str, str]:
    files = entry.get("files")
    if not isinstance(files, dict):
        return {}
    return {str(path): str(digest) for path, digest in cast("dict[object, object]", files).items()}


def decide(workspace: Workspace, data: Path, *, accepted: bool) -> None:
    """Keep the person's decision on exactly these files."""
    if accepted and workspace.problem:
        raise ConfigError([f"{workspace.directory}: {workspace.problem}"])
    decision = Accepted(workspace.digest, accepted, time.time(), _digests(workspace.files))
    with _changing(data) as decisions:
        decisions[str(workspace.directory)] = decision


def revoke(directory: Path, data: Path) -> bool:
    """Forget the decision on a workspace; False: there was none."""
    if str(directory.resolve()) not in read_decisions(data):
        return False
    with _changing(data) as decisions:
        return decisions.pop(str(directory.resolve()), None) is not None


@contextmanager
def _changing(data: Path) -> Generator[dict[str, Accepted]]:
    """The list as it is at this moment, written at the end; another process that changes it waits."""
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The directory is locked, since the list itself is replaced by another file.
        lock = os.open(data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(data, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        decisions = read_decisions(data)
        yield decisions
        _write(data, decisions)
    finally:
        os.close(lock)


def _write(data: Path, decisions: Mapping[str, Accepted]) -> None:
    listed = {path: decision._asdict() for path, decision in decisions.items()}
    text = json.dumps({"version": 1, "workspaces": listed}, indent=1) + "\n"
    try:
        replace_file(data / STORE, text)
    except OSError as error:
        raise _unwritable(data, error) from error


def _unwritable(data: Path, error: OSError) -> ConfigError:
    return ConfigError([f"{data / STORE}: cannot be written: {error}"])


def replace_file(file: Path, text: str, mode: int = 0o600) -> None:
    """Write a file so that either the old or the new one is there, and never a part of one."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # No tempfile: its import costs more than everything else here.
    name = file.with_name(f".{file.name}.{os.getpid()}.{time.monotonic_ns()}")
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(descriptor)
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def keeping_trust(directory: Path, data: Path, written: Collection[str]) -> Generator[None]:
    """While our own command writes these files of a workspace: accepted before, accepted after.

    Files that the command makes in an empty workspace are the person's own wish, so they are accepted too.
    Beside files that were never accepted they are not.
    """
    before = open_workspace(directory, data)
    yield
    after = open_workspace(directory, data)
    if after is None or after.problem or (before is not None and not before.is_accepted):
        return
    if _without(after.files, written) == _without(before.files if before else {}, written):
        decide(after, data, accepted=True)


def _without(files: Mapping[str, bytes], paths: Collection[str]) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path not in paths}


def describe_effects(workspace: Workspace, parse: Callable[[str], Mapping[str, JsonValue]]) -> list[Effect]:
    """All that accepting a workspace turns on; ``parse`` reads the text of a settings file."""
    found: list[Effect] = []
    if (content := workspace.files.get(SETTINGS_FILE)) is not None:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise ConfigError([f"{workspace.directory / SETTINGS_FILE}: is not text in UTF-8"]) from None
        found += settings_effects(parse(text))
    for path in sorted(_without(workspace.files, (SETTINGS_FILE,))):
        parts = path.split("/")
        if parts[1] == "agents" and parts[-1] == "AGENT.md" and len(parts) == 4:
            found.append(Effect("agent", parts[2]))
        found.append(Effect(_kind(parts), path))
    return found


def _kind(parts: list[str]) -> str:
    if not parts[-1].endswith(".py"):
        return "file"
    return "tools" if parts[1] == "tools" else "python code"

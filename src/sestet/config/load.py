"""Reads settings: a file, ``${VAR}`` in its texts, then overrides from the environment.

Every problem is collected and reported at once, with the file and the key.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeAlias, cast

from sestet.config.mistakes import (
    PREFIX,
    below,
    explain_problem,
    explain_variable,
    find_unknown_providers,
    member_schema,
)
from sestet.config.settings import Secret, Settings, build_settings, settings_schema
from sestet.config.settings_text import MOST_BYTES, parse_yaml
from sestet.config.trust import SETTINGS_FILE, Workspace, open_workspace, why_foreign
from sestet.core.errors import ConfigError
from sestet.core.record import Record
from sestet.core.schema import JsonObject, JsonValue, find_problems

PASSPHRASE_FILE = "SESTET_PASSPHRASE_FILE"  # noqa: S105 - the name of a variable
_NOT_SETTINGS = ("SESTET_HOME", PASSPHRASE_FILE)
#: Where modules and shared libraries are found.
_FOR_PYTHON = (
    "HOME",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "NIX_PYTHONPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
)
#: What pip reads: its own settings, proxies, certificates, language, and where it may write.
_FOR_PIP = re.compile(
    r"PIP_\w+|(?i:(?:https?|all|no)_proxy)|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE"
    r"|PATH|LANG|LC_\w+|TMPDIR|NETRC|XDG_CONFIG_(?:HOME|DIRS)"
)
_VARIABLE = r"\$(?P<escape>\$)?\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}"
#: The problems that are listed; a file of wrong keys has thousands.
_MOST_PROBLEMS = 50
_BOOLEANS = {
    "true": True,
    "yes": True,
    "1": True,
    "on": True,
    "false": False,
    "no": False,
    "0": False,
    "off": False,
}

#: Key → its problem, so that each key is reported once.
_Problems: TypeAlias = dict[tuple[str, ...], str]


class _Reading(Record):
    """One file that is being read."""

    file: str
    environ: Mapping[str, str]
    problems: _Problems


class Loaded(Record):
    settings: Settings
    #: None: no file was found, the defaults hold.
    file: Path | None
    #: Environment variables that changed something.
    overrides: tuple[str, ...]
    #: The working directory's own settings and plug-ins, accepted or not; None with a file that was named.
    workspace: Workspace | None = None


def load_settings(
    file: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
    content: bytes | None = None,
) -> Loaded:
    """Settings from ``file``, or the first of working directory and XDG config directory that has one.

    The working directory's file counts only if the person accepted it. ``file`` is their explicit choice.
    ``content`` is read instead of that file: what it would hold after a change.
    """
    environ = os.environ if environ is None else environ
    workspace = None if file else find_workspace(environ, directory)
    if workspace:
        content = workspace.settings
    path = file or _find_file(workspace, environ)
    schema = settings_schema()
    problems: _Problems = {}
    values: dict[str, JsonValue] = {}
    if path:
        reading = _Reading(str(path), environ, problems)
        read = _read_file(path) if content is None else _decoded(content, path)
        values = cast("dict[str, JsonValue]", _interpolated(read, schema, reading))
    overrides = tuple(
        sorted(name for name in environ if name.startswith(PREFIX) and name not in _NOT_SETTINGS)
    )
    sources: dict[tuple[str, ...], str] = {}
    for variable in overrides:
        if (key := _key_of(variable, schema)) is None:
            problems[(variable,)] = explain_variable(variable, schema)
            sources[(variable,)] = "environment"
        else:
            member, text = member_schema(schema, key), environ[variable]
            secret = member.get("writeOnly") is True
            put_value(values, key, Secret(text, variable=variable) if secret else read_as(member, text))
            sources[key] = f"environment variable {variable}"
    return Loaded(_checked(values, schema, problems, str(path), sources), path, overrides, workspace)


def settings_from(values: Mapping[str, object]) -> Settings:
    """Settings from a mapping in the file's form (camelCase keys)."""
    if not values:
        # Nothing to check, and the schema takes a while to make.
        return Settings()
    return _checked(cast("JsonObject", values), settings_schema(), {}, "settings", {})


def data_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Where the database lives: ``SESTET_HOME``, else the XDG data directory."""
    environ = os.environ if environ is None else environ
    if home := environ.get("SESTET_HOME"):
        try:
            return Path(home).expanduser()
        except RuntimeError:
            raise ConfigError([f"SESTET_HOME: '{home}' names the home of a user that is not known"]) from None
    return _xdg(environ, "XDG_DATA_HOME", ".local/share") / "sestet"


def passphrase_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """The file from which the vault takes its passphrase when nobody can type it; None: there is none."""
    environ = os.environ if environ is None else environ
    try:
        return Path(named).expanduser() if (named := environ.get(PASSPHRASE_FILE)) else None
    except RuntimeError:
        raise ConfigError([f"{PASSPHRASE_FILE}: it names the home of a user that is not known"]) from None


def session_bus(environ: Mapping[str, str] | None = None) -> str:
    """The address of this login's D-Bus, on which the keyring of the desktop is; empty: there is none."""
    environ = os.environ if environ is None else environ
    if address := environ.get("DBUS_SESSION_BUS_ADDRESS", ""):
        return address
    usual = Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}", "bus")
    return f"unix:path={usual}" if usual.exists() else ""


def first_set(variables: Iterable[str], environ: Mapping[str, str] | None = None) -> str:
    """The name of the first of these variables that holds a value; empty if none does."""
    environ = os.environ if environ is None else environ
    return next((name for name in variables if environ.get(name, "").strip()), "")


def child_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a child Python: where it finds the same modules, and no key, token or password."""
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in _FOR_PYTHON if name in environ}


def program_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a program of another maker: where it finds programs and its home, and no key."""
    environ = os.environ if environ is None else environ
    return {name: environ[name] for name in ("PATH", "HOME") if name in environ} | {"LANG": "C.UTF-8"}


def download_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for pip: how it reaches its index, and no key, token or password of anything else."""
    environ = os.environ if environ is None else environ
    named = {name: value for name, value in environ.items() if _FOR_PIP.fullmatch(name)}
    return {**child_environment(environ), **named}


def find_workspace(
    environ: Mapping[str, str] | None = None, directory: Path | None = None
) -> Workspace | None:
    """The working directory's own settings and plug-ins, with the person's decision on them."""
    environ = os.environ if environ is None else environ
    directory = directory or Path.cwd()
    data = None
    with suppress(ConfigError):  # without a home directory there is no list of decisions
        if directory.resolve() == config_directory(environ).resolve():
            return None
        data = data_directory(environ)
    return open_workspace(directory, data)


def settings_to_use(environ: Mapping[str, str], directory: Path) -> Path | None:
    """The first of working directory (if accepted) and XDG config directory that has settings.

    A file of another user, or one that everybody can write, is an error.
    """
    return _find_file(find_workspace(environ, directory), environ)


def _find_file(workspace: Workspace | None, environ: Mapping[str, str]) -> Path | None:
    if workspace:
        file = workspace.directory / SETTINGS_FILE
        # A stranger's file is refused loudly, even though it would be ignored anyway.
        if file.is_file():
            _require_own(file)
        if workspace.settings is not None:
            return file
    try:
        usual = usual_file(environ)
    except ConfigError:  # without a home directory there are no settings in it
        return None
    if not usual.is_file():
        return None
    _require_own(usual)
    return usual


def usual_file(environ: Mapping[str, str]) -> Path:
    """Where a person's own settings lie."""
    return config_directory(environ) / SETTINGS_FILE


def config_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Where a person's own settings and plug-ins lie: ``sestet`` in the XDG config directory."""
    return _xdg(os.environ if environ is None else environ, "XDG_CONFIG_HOME", ".config") / "sestet"


def _xdg(environ: Mapping[str, str], variable: str, default: str) -> Path:
    value = environ.get(variable, "")
    # The XDG standard says that a relative path is to be ignored.
    if value.startswith("/"):
        return Path(value)
    try:
        return Path.home() / default
    except RuntimeError:
        raise ConfigError([f"this user has no home directory; set HOME or {variable}"]) from None


def _require_own(path: Path) -> None:
    """Settings choose where words and keys go, so refuse a file that another user can write."""
    why = why_foreign(path.stat())
    if why:
        raise ConfigError([f"{path}: {why}, so it is not used unasked; if you trust it: --config {path}"])


def _read_file(path: Path) -> dict[str, JsonValue]:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from error
    return _decoded(content, path)


def _decoded(content: bytes, path: Path) -> dict[str, JsonValue]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from error
    return parse_yaml(text, str(path))


def _interpolated(
    value: JsonValue, schema: JsonObject, reading: _Reading, path: tuple[str, ...] = ()
) -> JsonValue:
    """The value with every ``${VAR}`` replaced, and read as the type that the schema expects."""
    if isinstance(value, dict):
        return {
            str(name): _interpolated(item, below(schema, str(name)), reading, (*path, str(name)))
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [
            _interpolated(item, below(schema, str(index)), reading, (*path, str(index)))
            for index, item in enumerate(value)
        ]
    if not isinstance(value, str):
        return value
    variables: list[str] = []

    def replacement(match: re.Match[str]) -> str:
        if match["escape"]:
            return match[0][1:]
        variables.append(match["name"])
        found = reading.environ.get(match["name"]) or match["default"]
        if found is None:
            reading.problems[path] = f"the environment variable '{match['name']}' is not set"
        return found or ""

    text = re.sub(_VARIABLE, replacement, value)
    if schema.get("writeOnly") is True:
        return Secret(text, reading.file, *variables[:1])
    return read_as(schema, text) if variables else text


def read_as(schema: JsonObject, text: str) -> JsonValue:
    """Text from the environment as the type that the schema expects; left as text where it does not fit."""
    kind = schema.get("type")
    if kind == "boolean":
        return _BOOLEANS.get(text.strip().lower(), text)
    if kind in ("integer", "number", "array", "object"):
        try:
            return cast("JsonValue", json.loads(text))
        except ValueError:
            return text
    return text


def _key_of(variable: str, schema: JsonObject) -> tuple[str, ...] | None:
    """``SESTET_AGENT__MULTIAGENT`` → ``("agent", "multiAgent")``; None when there is no such setting."""
    key: list[str] = []
    for part in variable.removeprefix(PREFIX).lower().split("__"):
        properties = cast("Mapping[str, JsonValue]", schema.get("properties", {}))
        # Below a map with names of the owner's choice (providers), the name is taken as it is, in lower case.
        open_map = isinstance(schema.get("additionalProperties"), Mapping)
        name = next(
            (name for name in properties if name.lower() == part), part if open_map and part else None
        )
        if name is None:
            return None
        key.append(name)
        schema = below(schema, name)
    return tuple(key)


def put_value(values: dict[str, JsonValue], key: tuple[str, ...], value: JsonValue) -> None:
    """Set the value under a key. The sections above it are copied, because an alias may share them."""
    for name in key[:-1]:
        inner = values.get(name)
        values[name] = dict(inner) if isinstance(inner, Mapping) else {}
        values = cast("dict[str, JsonValue]", values[name])
    values[key[-1]] = value


def _checked(
    values: JsonObject,
    schema: JsonObject,
    problems: _Problems,
    file: str,
    sources: Mapping[tuple[str, ...], str],
) -> Settings:
    for problem in find_problems(schema, values):
        problems.setdefault(problem.path, explain_problem(problem, schema, values))
    if problems:
        # Without other problems, the check of the models reports them.
        for problem in find_unknown_providers(values):
            problems.setdefault(problem.path, problem.message)
        first = islice(problems.items(), _MOST_PROBLEMS)
        lines = ((sources.get(path, file), ".".join(path), text) for path, text in first)
        left_out = len(problems) - _MOST_PROBLEMS
        more = [f"{file}: {left_out:,} more problems"] if left_out > 0 else []
        raise ConfigError([*(": ".join(filter(None, line)) for line in lines), *more])
    return build_settings(values)

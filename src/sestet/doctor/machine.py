"""Checks of the machine: Python, SQLite, the data directory, optional parts."""

import os
import platform
import re
import sqlite3
import tempfile
from importlib import metadata

from sestet.config import data_directory
from sestet.config.installation import install_command
from sestet.config.links import resolved
from sestet.core.errors import ConfigError
from sestet.doctor.check import Check

_OLDEST_SQLITE = (3, 37, 0)
_DATA = "data"
#: Written as a trial: a full disk takes an empty file.
_TRIAL_BYTES = 8_192
_ELSEWHERE = "change its owner or rights, or choose another directory with SESTET_HOME"


def check_python() -> Check:
    return Check("Python", "ok", platform.python_version())


def check_sqlite() -> Check:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        wanted = ".".join(map(str, _OLDEST_SQLITE))
        way_out = f"use a Python that has SQLite {wanted} or newer"
        return Check("SQLite", "problem", f"{version} is too old", way_out)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
    except sqlite3.OperationalError:
        way_out = "use a Python whose SQLite has full-text search"
        return Check("SQLite", "problem", f"{version} without FTS5", way_out)
    finally:
        connection.close()
    return Check("SQLite", "ok", f"{version} with FTS5")


def describe_telemetry() -> Check:
    """Nothing is checked here: people look for this line."""
    return Check("telemetry", "ok", "none; Sestet connects only to what your settings name")


def check_data_directory() -> Check:
    """Whether the data directory can be written, or made: tried, since rights alone do not tell it."""
    try:
        path = data_directory()
    except ConfigError as error:
        return Check(_DATA, "problem", str(error), "set SESTET_HOME to a directory of yours")
    try:
        place = resolved(path)
        if place.is_dir():
            with tempfile.TemporaryFile(dir=place) as stream:
                stream.write(bytes(_TRIAL_BYTES))
            return Check(_DATA, "ok", str(path))
        if place.exists():
            way_out = "move that file away, or choose another directory with SESTET_HOME"
            return Check(_DATA, "problem", f"{path} is not a directory", way_out)
        parent = next(parent for parent in place.parents if parent.exists())
        os.rmdir(tempfile.mkdtemp(dir=parent))
    except OSError as error:
        return Check(_DATA, "problem", f"{path} cannot be used: {error.strerror}", _ELSEWHERE)
    return Check(_DATA, "ok", f"{path}, made by the first conversation")


def check_extras() -> list[Check]:
    """The optional parts, as the installed package declares them."""
    try:
        package = metadata.metadata("sestet")
    except metadata.PackageNotFoundError:
        return [Check("extras", "warning", "Sestet runs without being installed", "pip install -e .")]
    requirements = metadata.requires("sestet") or []
    return [_check_extra(extra, requirements) for extra in package.get_all("Provides-Extra") or ()]


def _check_extra(extra: str, requirements: list[str]) -> Check:
    of_extra = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    names = [re.split(r"[^\w.-]", line)[0] for line in requirements if of_extra.search(line)]
    missing = [name for name in names if not _is_installed(name)]
    if missing:
        way_out = f"if you want it: {install_command(extra)}"
        return Check(f"extra {extra}", "ok", "not installed", way_out)
    return Check(f"extra {extra}", "ok", "installed")


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True

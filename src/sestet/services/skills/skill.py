"""A skill: the files of one folder with a SKILL.md, as they were read at one moment."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import cast

from sestet.config.settings_text import load_yaml
from sestet.core.errors import ConfigError, ToolError
from sestet.core.front_matter import FrontMatterError, split
from sestet.core.record import Record
from sestet.core.visible import is_visible

MANUAL = "SKILL.md"
SCRIPTS = "scripts"
#: The key below ``metadata`` that names the script that ``skill_run`` starts.
ENTRY = "sestet-entry"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME_RULE = "a name has small letters, digits and single hyphens, at most 64"

LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1_024
MOST_MANUAL = 100_000
MOST_FILES, MOST_BYTES, MOST_DEPTH = 200, 5_000_000, 5
_LONGEST_PATH = 200
#: Programs that run a script without a first line such as ``#!/bin/sh``.
_INTERPRETERS = {".py": "python3", ".sh": "bash", ".js": "node", ".rb": "ruby", ".pl": "perl"}


class SkillError(ToolError):
    """Why something cannot be done with a skill; told to a model by tools, and to the person by commands."""


class Skill(Record):
    """What stands in SKILL.md, and every file with its bytes."""

    name: str
    description: str
    #: The instructions: SKILL.md without its front matter.
    instructions: str
    files: Mapping[str, bytes]
    #: The script that runs; empty: the skill is instructions.
    entry: str = ""
    license: str = ""
    compatibility: str = ""
    #: Tools that its author wants to be allowed. Sestet shows this, and does not follow it.
    allowed_tools: str = ""

    @property
    def digest(self) -> str:
        """A hash of every path and every byte."""
        return digest_of(self.files)

    @property
    def scripts(self) -> tuple[str, ...]:
        return tuple(path for path in self.files if path.startswith(f"{SCRIPTS}/"))


def digest_of(files: Mapping[str, bytes]) -> str:
    from hashlib import sha256

    hashed = sha256()
    for path, content in sorted(files.items()):
        for part in (path.encode(), content):
            hashed.update(len(part).to_bytes(8, "big"))
            hashed.update(part)
    return hashed.hexdigest()


def require_name(name: str) -> str:
    """The name of a skill; an error says what a name is."""
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise SkillError(f"{name[: LONGEST_NAME + 1]!r} is not the name of a skill: {NAME_RULE}")
    return name


def spoken_name(name: str) -> str:
    """The name as a person may say it, "Word count", in the form that names have: "word-count"."""
    return "-".join(name.lower().replace("_", " ").split())


def require_path(path: str) -> str:
    """A path below the folder of a skill: plain, short, and with nothing in it that a person cannot see."""
    parts = path.split("/")
    if not is_visible(path) or len(path) > _LONGEST_PATH or "\\" in path:
        raise SkillError(f"{path[:_LONGEST_PATH]!r} is not a usable file name: it is too long or unprintable")
    if any(part in ("", ".", "..") for part in parts):
        raise SkillError(f"{path!r} leads out of the skill's folder")
    if len(parts) > MOST_DEPTH:
        raise SkillError(f"{path!r} lies more than {MOST_DEPTH} folders deep")
    return path


def parse_skill(files: Mapping[str, bytes], folder: str | None = None) -> Skill:
    """The skill that these files are; ``folder``: the name of the folder that they lie in."""
    if MANUAL not in files:
        raise SkillError(f"there is no {MANUAL}")
    described = read_manual(files[MANUAL])
    if folder is not None and described.name != folder:
        raise SkillError(f"{MANUAL}: its name is '{described.name}', but its folder is '{folder}'")
    if described.entry and described.entry not in files:
        raise SkillError(f"{MANUAL}: '{ENTRY}' names '{described.entry}', which does not exist")
    return Skill(
        described.name,
        described.description,
        described.instructions,
        files,
        described.entry,
        described.license,
        described.compatibility,
        described.allowed_tools,
    )


@lru_cache(maxsize=64)
def read_manual(content: bytes) -> Skill:
    """SKILL.md alone, checked: a skill without its other files."""
    if len(content) > MOST_MANUAL:
        raise SkillError(f"{MANUAL} is larger than {MOST_MANUAL // 1_000} KB")
    try:
        values, body = split(content.decode("utf-8"), _parse)
    except UnicodeDecodeError:
        raise SkillError(f"{MANUAL} is not text in UTF-8") from None
    except FrontMatterError as error:
        raise SkillError(f"{MANUAL}: {error}") from None
    name = require_name(_text(values, "name", required=True))
    description = _text(values, "description", required=True)
    if len(description) > LONGEST_DESCRIPTION:
        raise SkillError(f"{MANUAL}: the description has more than {LONGEST_DESCRIPTION:,} characters")
    return Skill(
        name,
        description,
        body,
        {},
        _entry(values.get("metadata")),
        _text(values, "license"),
        _text(values, "compatibility"),
        _tools(values.get("allowed-tools")),
    )


def _parse(front: str) -> Mapping[str, object]:
    try:
        found = load_yaml(front, MANUAL)
    except ConfigError as error:
        raise SkillError(f"{error}; a text with ': ' or ' #' in it needs quotes") from None
    if not isinstance(found, dict) or not all(
        isinstance(key, str) for key in cast("dict[object, object]", found)
    ):
        raise SkillError(f"{MANUAL}: the front matter must be lines of 'key: value'")
    return cast("dict[str, object]", found)


def _text(values: Mapping[str, object], key: str, *, required: bool = False) -> str:
    value = values.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or not value.strip():
        raise SkillError(f"{MANUAL}: '{key}' must be a text{' and is required' if required else ''}")
    return value.strip()


def _tools(value: object) -> str:
    """``allowed-tools`` is written as a text or as a list; it is only shown."""
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[object]", value)))
    return "" if value is None else str(value)


def _entry(metadata: object) -> str:
    if metadata is None:
        return ""
    if not isinstance(metadata, dict):
        raise SkillError(f"{MANUAL}: 'metadata' must be a map")
    entry = cast("dict[object, object]", metadata).get(ENTRY)
    if entry is None:
        return ""
    if not isinstance(entry, str) or not entry.startswith(f"{SCRIPTS}/"):
        raise SkillError(f"{MANUAL}: '{ENTRY}' must be a path below {SCRIPTS}/")
    return require_path(entry)


def program_of(skill: Skill, script: str) -> tuple[str, ...]:
    """The program that runs a script, without the script itself; empty: the script starts by itself."""
    content = skill.files.get(script)
    if content is None or script not in skill.scripts:
        known = ", ".join(skill.scripts) or "none"
        raise SkillError(f"the skill '{skill.name}' has no script {script!r}; it has: {known}")
    if content.startswith(b"#!"):
        return ()
    interpreter = _INTERPRETERS.get(PurePosixPath(script).suffix)
    if interpreter is None:
        raise SkillError(f"'{script}' has no first line such as '#!/bin/sh', so it is not known what runs it")
    return ("/usr/bin/env", interpreter)

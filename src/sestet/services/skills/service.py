"""The skills of one assistant: finds, reads, runs, makes, imports, trusts and removes them."""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sestet.core.label import Label
from sestet.core.record import Record
from sestet.services.commands.commands import CommandResult, Commands, Program
from sestet.services.commands.output import Report
from sestet.services.skills.catalog import FOLDER, Catalog, Found, find_places
from sestet.services.skills.reading import read_any_folder
from sestet.services.skills.skill import (
    ENTRY,
    MANUAL,
    SCRIPTS,
    Skill,
    SkillError,
    parse_skill,
    program_of,
    require_name,
)
from sestet.services.skills.staging import staged, write_files
from sestet.services.skills.trusted import TrustList

#: Characters of the instructions and of the script of a skill that an agent makes.
MOST_WRITTEN = 20_000
_MOST_INPUT = 1_000_000


class ScriptRun(Record):
    """One run of a script of a skill."""

    skill: Skill
    script: str
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    seconds: float = 60.0


class Skills:
    """Its methods read and write files, so callers in an event loop use a thread."""

    def __init__(self, data: Path, roots: Sequence[Path], commands: Commands | None = None) -> None:
        self._data = data.absolute()
        self._commands = commands
        trust = TrustList(self._data, [root.absolute() for root in roots])
        self.catalog = Catalog(find_places(self._data, roots), trust)
        self._trust = trust

    @property
    def _own(self) -> Path:
        return self._data / FOLDER

    def owner_allows(self, name: str) -> bool:
        """Whether the owner lets this skill run its scripts unasked."""
        return self._commands is not None and self._commands.owner.allows(_rule_text(name))

    def has_network(self, name: str) -> bool:
        """Whether the owner lets the scripts of this skill use the network."""
        return self._commands is not None and self._commands.owner.gives_network(_rule_text(name))

    async def run_script(self, run: ScriptRun, report: Report) -> CommandResult:
        """Run a script from a private copy of exactly the skill's bytes, in a sandbox of its own."""
        if self._commands is None:
            raise SkillError("no sandbox works here, so scripts do not run; 'sestet doctor' says why")
        if len(run.stdin) > _MOST_INPUT:
            raise SkillError(f"the input has more than {_MOST_INPUT:,} characters")
        program = program_of(run.skill, run.script)
        copying = staged(self._data, run.skill.name, run.skill.files)
        try:
            folder = await asyncio.to_thread(copying.__enter__)
        except OSError as error:
            raise SkillError(f"the skill could not be copied for its run: {error.strerror}") from error
        try:
            script = str(folder / run.script)
            return await self._commands.run_program(
                Program(
                    f"{run.skill.name}/{run.script}",
                    (*program, script, *run.arguments),
                    str(folder),
                    run.stdin.encode(errors="replace"),
                    {"SKILL_DIR": str(folder)},
                    self.has_network(run.skill.name),
                ),
                seconds=run.seconds,
                report=report,
            )
        finally:
            copying.__exit__(None, None, None)

    def compose(self, name: str, description: str, instructions: str, script: str = "") -> Skill:
        """The skill that these texts make; nothing is written."""
        require_name(name)
        for text, what in ((instructions, "instructions"), (script, "script")):
            if len(text) > MOST_WRITTEN:
                raise SkillError(f"the {what} have more than {MOST_WRITTEN:,} characters")
        entry = _script_name(script) if script.strip() else ""
        described = " ".join(description.split())
        lines = [f"name: {name}", f"description: {json.dumps(described, ensure_ascii=False)}"]
        lines += ["metadata:", f"  {ENTRY}: {entry}"] if entry else []
        manual = "\n".join(("---", *lines, "---", "", instructions.strip(), ""))
        files = {MANUAL: manual.encode(errors="replace")}
        if entry:
            files[entry] = (script.strip("\n") + "\n").encode(errors="replace")
        made = parse_skill(files, name)
        if (made.description, made.entry) != (described, entry):
            raise SkillError("the description cannot be written as one line of text")
        return made

    def require_free(self, name: str) -> None:
        """Raise if a skill of this name exists in any place, or none can be made: nothing is replaced."""
        if why := self._trust.why_unusable():
            raise SkillError(why)
        for place in self.catalog.places:
            if os.path.lexists(place.directory / name):
                raise SkillError(f"there is a skill '{name}' already, in {place.directory}")

    def make(self, skill: Skill, label: Label, *, trusted: bool) -> str:
        """Keep a skill that an agent composed; returns its folder."""
        self.require_free(skill.name)
        where = str(self._own / skill.name)
        # First the decision: without the folder it means nothing.
        (self._trust.trust if trusted else self._trust.note)(skill, where, label)
        self._install(skill)
        return where

    def is_made(self, skill: Skill) -> bool:
        """After a crash: whether this skill lies in Sestet's own place."""
        try:
            found = self.catalog.find(skill.name)
        except SkillError:
            return False
        return found.skill is not None and found.skill.digest == skill.digest

    def read_source(self, source: Path) -> Skill:
        """The skill in a folder or an archive that the person names; nothing is written or run."""
        # Loaded on use: the readers of archives are large, and only an import needs them.
        from sestet.services.skills.archive import read_archive

        source = source.expanduser().absolute()
        if source.is_symlink():
            source = source.resolve()
        if not source.exists():
            raise SkillError(
                f"'{source}' does not exist; name a folder with a SKILL.md, or an archive of one"
            )
        return parse_skill(read_any_folder(source) if source.is_dir() else read_archive(source))

    def import_skill(self, skill: Skill) -> Found:
        """Put a skill into Sestet's own place. It stays inert until it is trusted."""
        if os.path.lexists(self._own / skill.name):
            raise SkillError(
                f"there is a skill '{skill.name}' in {self._own} already; "
                f"to replace it, first: sestet skills remove {skill.name}"
            )
        self._install(skill)
        return self.catalog.find(skill.name)

    def trust(self, found: Found) -> None:
        """Trust exactly the bytes that were found; the label that they were made with stays."""
        if found.skill is None or found.problem:
            raise SkillError(f"the skill '{found.name}' cannot be used: {found.problem}")
        self._trust.trust(found.skill, found.where)

    def revoke(self, found: Found) -> bool:
        """Trust a skill no more; False: it was not trusted."""
        return found.skill is not None and self._trust.revoke(found.skill.digest)

    def require_own(self, name: str) -> None:
        """Raise unless a skill of this name lies in Sestet's own place."""
        require_name(name)
        if not os.path.lexists(self._own / name):
            found = self.catalog.find(name)
            raise SkillError(f"'{name}' lies in {found.where}, which is yours: delete that folder yourself")

    def remove(self, name: str) -> str:
        """Remove a skill from Sestet's own place; returns the folder that it was."""
        self.require_own(name)
        folder = self._own / name
        try:
            with tempfile.TemporaryDirectory(dir=self._own, prefix=".removed-") as away:
                os.rename(folder, Path(away) / name)
        except OSError as error:
            raise SkillError(f"{folder} cannot be deleted: {error.strerror}") from error
        self._trust.forget(str(folder))
        return str(folder)

    def _install(self, skill: Skill) -> None:
        """Write a whole folder, or nothing."""
        try:
            self._own.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = Path(tempfile.mkdtemp(dir=self._own, prefix=".new-"))
            try:
                write_files(new / skill.name, skill.files, durable=True)
                os.rename(new / skill.name, self._own / skill.name)
            finally:
                shutil.rmtree(new, ignore_errors=True)
        except OSError as error:
            raise SkillError(f"{self._own / skill.name} cannot be written: {error.strerror}") from error


def _rule_text(name: str) -> str:
    """What a pattern under ``sandbox.allowed`` or ``sandbox.network`` is compared with."""
    return f"skill_run {name}"


def _script_name(script: str) -> str:
    first = script.lstrip("\n").partition("\n")[0]
    if not first.startswith("#!"):
        raise SkillError("the script must begin with a line such as '#!/bin/bash'")
    return f"{SCRIPTS}/run.py" if "python" in first else f"{SCRIPTS}/run.sh"

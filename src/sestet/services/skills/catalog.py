"""Finds skills in the places where they may lie, and says of each whether it counts and is trusted."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from sestet.config.trust import PLUGIN_FOLDER
from sestet.core.label import CLEAN, Label, stored_label
from sestet.core.record import Record, replace
from sestet.core.schema import suggest
from sestet.services.skills.reading import list_folders, read_folder, read_manual_alone
from sestet.services.skills.skill import Skill, SkillError, parse_skill, read_manual, require_name
from sestet.services.skills.trusted import TrustList

#: The folder of Sestet's own skills in the data directory, and of others' below ``.agents``.
FOLDER = "skills"

PlaceKind: TypeAlias = Literal["sestet", "home", "workspace"]
#: ``changed``: the folder was trusted, and a file of it is another one now.
State: TypeAlias = Literal["trusted", "untrusted", "changed", "unusable"]


class Place(Record):
    directory: Path
    kind: PlaceKind

    @property
    def is_own(self) -> bool:
        """Whether the person chose it; a workspace may have been fetched from anywhere."""
        return self.kind != "workspace"


class Found(Record):
    """A folder that is a skill, or should be one."""

    name: str
    place: Place
    state: State
    skill: Skill | None = None
    #: Why it cannot be used.
    problem: str = ""
    #: The folder of the skill that counts in its place.
    shadowed_by: str = ""
    #: The label that it was made with.
    made_with: Label = CLEAN

    @property
    def where(self) -> str:
        return str(self.place.directory / self.name)

    @property
    def is_usable(self) -> bool:
        return self.state == "trusted" and not self.shadowed_by

    @property
    def label(self) -> Label:
        """The label of its text: the one it was made with; untrusted until the owner trusts it."""
        source = f"the skill {self.name}"
        untrusted = () if self.state == "trusted" else (Label(untrusted=True, sources=(source,)),)
        return stored_label(source, (self.made_with, *untrusted))


def find_places(data: Path, roots: Sequence[Path]) -> tuple[Place, ...]:
    """The places in the order in which they count: a fetched folder never replaces a skill of the person."""
    places = [Place(data / FOLDER, "sestet")]
    with suppress(RuntimeError):  # a user without a home directory
        places.append(Place(Path.home() / PLUGIN_FOLDER / FOLDER, "home"))
    places += (Place(root / PLUGIN_FOLDER / FOLDER, "workspace") for root in roots)
    seen: dict[Path, Place] = {}
    for place in places:
        seen.setdefault(place.directory.absolute(), place)
    return tuple(seen.values())


class Catalog:
    """Reads the places anew at each call, so that a skill counts as it is now."""

    def __init__(self, places: Sequence[Place], trust: TrustList) -> None:
        self.places = tuple(places)
        self.trust = trust

    def all(self) -> list[Found]:
        """Every skill of every place, with those that cannot be used."""
        found: list[Found] = []
        counts: dict[str, str] = {}
        for place in self.places:
            for each in self._in_place(place):
                by = counts.setdefault(each.name, each.where)
                found.append(each if by == each.where else replace(each, shadowed_by=by))
        return found

    def find(self, name: str) -> Found:
        """The skill of this name that counts; an error names the nearest one."""
        require_name(name)
        for place in self.places:
            if (found := self._look(place, name)) is not None:
                return found
        near = suggest(name, self._names()) or "; 'sestet skills list' shows them"
        raise SkillError(f"there is no skill '{name}'{near}")

    def trusted(self, name: str) -> tuple[Found, Skill]:
        """The skill of this name, if the owner trusts it as it is now."""
        found = self.find(name)
        if found.problem or found.skill is None:
            raise SkillError(f"the skill '{name}' cannot be used: {found.problem}")
        if not found.is_usable:
            why = "changed after the owner trusted it" if found.state == "changed" else "is not trusted yet"
            raise SkillError(
                f"the skill '{name}' {why}, so it does nothing; "
                f"the owner can look at it and trust it with: sestet skills trust {name}"
            )
        return found, found.skill

    def entry_of(self, name: str) -> str:
        """The script that the skill of this name starts, by its SKILL.md alone; empty: none."""
        require_name(name)
        for place in self.places:
            content = read_manual_alone(place.directory, name, own=place.is_own)
            if content is not None:
                return read_manual(content).entry
        return ""

    def _names(self) -> list[str]:
        return [found.name for found in self.all()]

    def _in_place(self, place: Place) -> Iterator[Found]:
        try:
            names = list_folders(place.directory, own=place.is_own)
        except SkillError as error:
            yield Found("", place, "unusable", problem=str(error))
            return
        for name in names:
            if (found := self._look(place, name)) is not None:
                yield found

    def _look(self, place: Place, name: str) -> Found | None:
        try:
            require_name(name)
            files = read_folder(place.directory, name, own=place.is_own)
            if files is None:
                return None
            skill = parse_skill(files, name)
        except SkillError as error:
            return Found(name, place, "unusable", problem=str(error))
        return self._judged(Found(name, place, "untrusted", skill), skill)

    def _judged(self, found: Found, skill: Skill) -> Found:
        if why := self.trust.why_unusable():
            return replace(found, problem=why)
        decisions = self.trust.read()
        known = decisions.get(skill.digest)
        if known is not None:
            return replace(found, state="trusted" if known.trusted else "untrusted", made_with=known.label)
        was_trusted = any(each.trusted and each.where == found.where for each in decisions.values())
        return replace(found, state="changed" if was_trusted else "untrusted")

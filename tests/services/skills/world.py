"""A person with three places for skills, and a sandbox for their scripts."""

from collections.abc import Mapping
from pathlib import Path

from sestet.services.commands.command_rules import OwnerRules
from sestet.services.commands.commands import Commands
from sestet.services.sandbox.plan import Plan
from sestet.services.sandbox.sandbox import Sandbox
from sestet.services.skills.service import Skills

COUNT = "import sys\nprint(len(sys.stdin.read().split()), *sys.argv[1:])\n"


def manual(name: str, *lines: str, description: str = "Does something", body: str = "Do it.") -> str:
    """The text of a SKILL.md."""
    return "\n".join(("---", f"name: {name}", f"description: {description}", *lines, "---", body, ""))


class World:
    """Its own home, workspace and data directory below one folder."""

    def __init__(self, directory: Path) -> None:
        self.home, self.work, self.data = (directory / name for name in ("home", "work", "data"))
        for folder in (self.home, self.work):
            folder.mkdir()
        self.places = {
            "sestet": self.data / "skills",
            "home": self.home / ".agents" / "skills",
            "workspace": self.work / ".agents" / "skills",
        }
        plan = Plan(writable=(str(self.work),), hidden=(str(self.data), str(self.home)))
        self.sandbox = Sandbox(plan)
        self.owner = OwnerRules()

    @property
    def commands(self) -> Commands:
        return Commands(self.sandbox, self.work, self.owner)

    @property
    def skills(self) -> Skills:
        """A service that has read nothing yet, as after a restart."""
        return Skills(self.data, [self.work], self.commands)

    def write(
        self, name: str, files: Mapping[str, str] | None = None, *, place: str = "workspace", text: str = ""
    ) -> Path:
        """A skill in one of the places; returns its folder."""
        folder = self.places[place] / name
        for path, content in {"SKILL.md": text or manual(name), **(files or {})}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        return folder

    def write_counter(self, name: str = "count", script: str = COUNT, place: str = "workspace") -> Path:
        """A skill that starts a script."""
        text = manual(name, "metadata:", "  sestet-entry: scripts/run.py")
        return self.write(name, {"scripts/run.py": script}, place=place, text=text)

    def trust(self, name: str) -> None:
        self.skills.trust(self.skills.catalog.find(name))

"""The programs that an assistant starts on first use: the sandbox of commands, and the browser."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sestet.config import Settings
from sestet.core.agent import Agent
from sestet.core.errors import ConfigError
from sestet.core.record import Record
from sestet.services.browser.browser import Browser
from sestet.services.browser.cookies import FILE_NAME as COOKIE_FILE
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.program import has_chromium
from sestet.services.commands.commands import Commands
from sestet.services.commands.judgement import OwnerRules
from sestet.services.sandbox.places import isolations_of, make_plan
from sestet.services.sandbox.sandbox import Sandbox, SandboxError, why_unavailable

_Chosen = TypeVar("_Chosen")


class Processes(Record):
    """None: the settings switch it off, or it cannot work here, so its tools do not exist."""

    commands: Commands | None = None
    browser: Browser | None = None

    def services(self) -> dict[type, object]:
        """What tools may need of them."""
        return {type(each): each for each in (self.commands, self.browser) if each is not None}

    def started_with(self, choose: Callable[[str], _Chosen], root: Agent) -> Callable[[str], _Chosen]:
        """Chooses an agent's model, and starts the browser while the model of its agent thinks."""
        return self.browser.started_with(choose, root) if self.browser else choose

    async def close(self) -> None:
        """End every program with all that it has started."""
        for each in (self.commands, self.browser):
            if each is not None:
                await each.close()


def open_processes(settings: Settings, database: Path, settings_file: Path | None) -> Processes:
    return Processes(
        _open_commands(settings, database, settings_file), _open_browser(settings, database.parent)
    )


def workspace_roots(settings: Settings) -> tuple[Path, ...]:
    """The directories in which agents work; the working directory, if the settings name none."""
    try:
        return tuple(Path(root).expanduser().absolute() for root in settings.workspace.roots) or (Path.cwd(),)
    except RuntimeError:
        raise ConfigError(["workspace.roots: a path names the home of a user that is not known"]) from None


def _open_commands(settings: Settings, database: Path, settings_file: Path | None) -> Commands | None:
    isolations = isolations_of(settings)
    if why_unavailable(isolations):
        return None
    try:
        plan = make_plan(settings, database, settings_file)
    except SandboxError:
        return None
    owner = OwnerRules(settings.sandbox.allowed, settings.sandbox.network)
    return Commands(Sandbox(plan, isolations), workspace_roots(settings)[0], owner)


def _open_browser(settings: Settings, directory: Path) -> Browser | None:
    wanted = settings.browser
    if not wanted.enabled or not has_chromium(visible=wanted.visible):
        return None
    return Browser(wanted, CookieStore(directory / COOKIE_FILE, wanted.profiles))

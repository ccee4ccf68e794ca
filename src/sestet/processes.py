"""The programs that an assistant starts on first use: the sandbox of commands, the browser, MCP servers."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sestet.config import Settings
from sestet.core.agent import Agent, AgentSpec
from sestet.core.errors import ConfigError
from sestet.core.record import Record
from sestet.core.tool import Tool
from sestet.services.browser.browser import Browser
from sestet.services.browser.cookies import FILE_NAME as COOKIE_FILE
from sestet.services.browser.cookies import CookieStore
from sestet.services.browser.program import has_chromium
from sestet.services.commands.commands import Commands
from sestet.services.commands.judgement import OwnerRules
from sestet.services.sandbox.places import isolations_of, make_plan
from sestet.services.sandbox.sandbox import Sandbox, SandboxError, why_unavailable
from sestet.storage.database import FILE_NAME

if TYPE_CHECKING:
    from sestet.services.mcp.servers import McpServers

_Chosen = TypeVar("_Chosen")


class Processes(Record):
    """None: the settings switch it off, or it cannot work here, so its tools do not exist."""

    commands: Commands | None = None
    browser: Browser | None = None
    mcp: "McpServers | None" = None

    @property
    def quarantined(self) -> tuple[Tool, ...]:
        """Tools that no agent gets. No agent is told of them either: their names are a stranger's words."""
        return self.mcp.quarantined if self.mcp else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.mcp.warnings if self.mcp else ()

    def services(self) -> dict[type, object]:
        """What tools may need of them."""
        mcp = self.mcp if self.mcp and self.mcp.ready else None
        return {type(each): each for each in (self.commands, self.browser, mcp) if each is not None}

    def started_with(self, choose: Callable[[str], _Chosen], root: Agent) -> Callable[[str], _Chosen]:
        """Chooses an agent's model, and starts the browser while the model of its agent thinks."""
        return self.browser.started_with(choose, root) if self.browser else choose

    async def close(self) -> None:
        """End every program with all that it has started."""
        for each in (self.mcp, self.commands, self.browser):
            if each is not None:
                await each.close()


def open_processes(
    settings: Settings, database: Path, settings_file: Path | None, specs: Sequence[AgentSpec]
) -> Processes:
    """Nothing is started here. ``specs``: the agents, of which some own the tools of MCP servers."""
    agents = [spec.name for spec in specs]
    return Processes(
        _open_commands(settings, database, settings_file),
        _open_browser(settings, database.parent),
        open_mcp(settings, database.parent, settings_file, agents) if settings.mcp_servers else None,
    )


def open_mcp(
    settings: Settings, data: Path, settings_file: Path | None, agents: Collection[str] | None = None
) -> "McpServers":
    """The MCP servers of the settings. None of them is started here."""
    # Loaded on use: most assistants have none.
    from sestet.services.mcp.servers import McpServers, PinList

    def sandbox() -> Sandbox:
        return Sandbox(make_plan(settings, data / FILE_NAME, settings_file), isolations_of(settings))

    roots = workspace_roots(settings)
    pins = PinList(data, roots)
    return McpServers(settings.mcp_servers, pins, agents, roots[0], sandbox)


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

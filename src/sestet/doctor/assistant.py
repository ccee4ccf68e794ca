"""Checks of the assistant: settings, model, agents, tools, plug-ins, web search, embedding and router."""

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sestet import app
from sestet.agents import default_specs
from sestet.config import Settings, load_settings
from sestet.config.installation import install_command
from sestet.core.agent import Agent
from sestet.core.errors import ConfigError, EmbeddingError, PersonError
from sestet.core.masking import mask_address
from sestet.core.pages import page
from sestet.core.tool import Tool
from sestet.doctor.check import Check, read_database
from sestet.models.offline import OfflineModel
from sestet.models.router import open_router
from sestet.plugins import Plugins
from sestet.services.embedding.embedder import Embedders, choose_embedders
from sestet.services.embedding.progress import read_progress
from sestet.storage.database import Database
from sestet.storage.vectors import VectorStore

_UNREACHABLE = "give it a name that an agent owns; 'sestet agents --owner NAME' prints the owner of a name"
_EMBEDDING = "embedding"
_PLUGINS = "plug-ins"
_WORKSPACE = "workspace"
_NO_PLUGINS = "'sestet agents new NAME' and 'sestet tools new NAME' begin one"
_OFFLINE = f"'sestet setup' finds a real one; see {page('models')}"


def check_settings(file: Path | None) -> tuple[list[Check], Settings | None]:
    """Every problem of the settings, and the settings when there is none."""
    try:
        loaded = load_settings(file)
    except ConfigError as error:
        way_out = "correct it; 'sestet config schema' lists the settings"
        return [Check("settings", "problem", problem, way_out) for problem in error.problems], None
    except OSError as error:
        return [
            Check("settings", "problem", f"the directory cannot be searched: {error}", "change the directory")
        ], None
    detail = str(loaded.file) if loaded.file else "no file, so the defaults apply"
    if loaded.overrides:
        detail += f"; changed by {', '.join(loaded.overrides)}"
    checks = [Check("settings", "ok", detail)]
    if loaded.workspace and (notice := loaded.workspace.notice):
        checks.append(Check(_WORKSPACE, "warning", notice))
    return checks, loaded.settings


async def check_assistant(settings: Settings) -> list[Check]:
    """Build the assistant of these settings in a temporary directory: the person's data stays untouched."""
    # The checks report a server that cannot be reached; it need not be logged to the terminal as well.
    logging.getLogger("sestet").addHandler(logging.NullHandler())
    try:
        with tempfile.TemporaryDirectory() as home:
            async with app.open(settings, home=home, plugins=True) as built:
                return [
                    _check_model(built),
                    check_agents(built.root),
                    *check_unmatched([tool for tool in built.unmatched if tool.outside is None]),
                    *check_plugins(built.plugins),
                    *_check_remote(built),
                ]
    except PersonError as error:
        return [Check("assistant", "problem", str(error), "correct the settings that this names")]
    except Exception as error:  # any error becomes a finding: a crash would hide all others
        what = f"{type(error).__name__}: {error}"
        return [Check("assistant", "problem", what, "this looks like a bug; please report it")]


def _check_model(built: app.App) -> Check:
    if isinstance(built.model, OfflineModel):
        return Check("model", "warning", "the small built-in one", _OFFLINE)
    small = "; a small local model, so every change is asked about" if built.is_small else ""
    return Check("model", "ok", built.model.name + small)


def check_agents(root: Agent) -> Check:
    if root.tools is not None:
        number = len(root.tools)
        return Check("agents", "ok", f"one flat agent with {number} tool{'' if number == 1 else 's'}")
    created = (f"{agent.name} ({len(agent.tools or ())})" for agent in root.sub_agents)
    return Check("agents", "ok", f"{', '.join(created)}; with their number of tools")


def check_unmatched(unmatched: Sequence[Tool]) -> list[Check]:
    if not unmatched:
        return [Check("tools", "ok", "every tool belongs to an agent")]
    return [
        Check("tools", "problem", f"'{tool.name}' belongs to no agent", _UNREACHABLE) for tool in unmatched
    ]


def check_plugins(plugins: Plugins) -> list[Check]:
    """One line for what plug-ins add, and one for each problem."""
    checks = [
        Check(_PLUGINS, "problem", problem, "correct the file, or remove it") for problem in plugins.problems
    ]
    if plugins.notice:
        checks.append(Check(_WORKSPACE, "warning", plugins.notice))
    names: dict[str, list[str]] = {}
    for name, where in plugins.origins.items():
        # The files of one folder are one entry; the origin of a package is no path.
        names.setdefault(where.rpartition("/")[0] or where, []).append(name)
    added = [Check(_PLUGINS, "ok", f"{', '.join(group)} in {where}") for where, group in names.items()]
    return (
        [*added, *checks]
        if added or plugins.problems
        else [Check(_PLUGINS, "ok", "none", _NO_PLUGINS), *checks]
    )


def _check_remote(built: app.App) -> list[Check]:
    if not built.settings.a2a.enabled:
        return [Check("remote agents", "ok", "switched off")]
    joined = [agent.name for agent in built.root.sub_agents if agent.remote is not None]
    way_out = "'sestet a2a check URL' says more; see a2a.remoteAgents"
    skipped = [Check("remote agents", "warning", warning, way_out) for warning in built.remote_warnings]
    if not joined and skipped:
        return skipped
    told = f"reached: {', '.join(joined)}" if joined else "none is set"
    return [Check("remote agents", "ok", told), *skipped]


def check_web_search(settings: Settings) -> Check:
    if settings.search.url:
        return Check("web search", "ok", mask_address(settings.search.url))
    if settings.search.page and settings.browser.enabled:
        return Check("web search", "ok", f"with the browser on {mask_address(settings.search.page)}")
    way_out = "if you want it: set search.url to a SearXNG endpoint, or search.page to a search page"
    return Check("web search", "ok", "switched off", way_out)


def check_embedding(settings: Settings, *, is_readable: bool) -> Check:
    """Embeds one word, so that a key or a server that does not work is seen here first.

    ``is_readable``: whether the database can say how much is embedded.
    """
    try:
        embedders = choose_embedders(settings.embedding)
    except ConfigError as error:
        return Check(_EMBEDDING, "problem", str(error), "correct the settings that this names")
    if embedders is None:
        way_out = "embedding.provider: local turns it on"
        return Check(_EMBEDDING, "ok", "switched off: full text only", way_out)
    try:
        (vector,) = embedders.best.embed(["word"])
    except EmbeddingError as error:
        return Check(_EMBEDDING, "problem", str(error), "until then, passages are found by their words alone")
    detail = f"{settings.embedding.provider}: {embedders.best.space}, {len(vector) // 4} dimensions"
    return Check(_EMBEDDING, "ok", f"{detail}; {_embedded(embedders)}" if is_readable else detail)


def _embedded(embedders: Embedders) -> str:
    def read(database: Database) -> str:
        progress = read_progress(VectorStore(database), embedders)
        if not progress.waiting:
            return "every passage has its vector"
        passages = f"{progress.bare:,} passage{'' if progress.bare == 1 else 's'}"
        bare = f"{passages} without a vector, embedded in the background"
        if embedders.first is None:
            return bare
        better = f"{progress.done:,} of {progress.total:,} passages have it, the others wait for it"
        return f"{better}; {bare}" if progress.bare else better

    return read_database(read, absent="nothing to embed yet", unreadable="the database cannot be read")


def check_router() -> Check:
    """Routes one word, so that weights that cannot be read are seen here first."""
    try:
        router = open_router(default_specs())
        router.route("hello")
    except (OSError, ValueError, KeyError) as error:
        return Check("router", "problem", f"its weights cannot be read: {error}", "install Sestet again")
    detail = f"{router.variant}, sure from {router.threshold:.1%} on"
    if router.missing:
        way_out = f"for the full one: {install_command('router')}"
        return Check("router", "ok", f"the light variant ({detail}): {router.missing}", way_out)
    return Check("router", "ok", detail)

"""Checks of the assistant: its settings, its model, its agents and their tools."""

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sestet import app
from sestet.cli.health.check import Check
from sestet.cli.health.plugins import check_plugins
from sestet.config import Settings, load_settings
from sestet.core.agent import Agent
from sestet.core.errors import ConfigError, PersonError
from sestet.core.tool import Tool
from sestet.models.offline import OfflineModel

_UNREACHABLE = "give it a name that an agent owns; 'sestet agents --owner NAME' tells whose it would be"
_OFFLINE = "'sestet setup' finds a real one; docs/models.md tells more"


def check_settings(file: Path | None) -> tuple[list[Check], Settings | None]:
    """What is wrong with the settings, and the settings when nothing is."""
    try:
        loaded = load_settings(file)
    except ConfigError as error:
        way_out = "correct it; 'sestet config schema' tells what can be set"
        return [Check("settings", "problem", problem, way_out) for problem in error.problems], None
    except OSError as error:
        return [
            Check("settings", "problem", f"they cannot be looked for: {error}", "change the directory")
        ], None
    detail = str(loaded.file) if loaded.file else "no file, so the defaults hold"
    if loaded.overrides:
        detail += f"; changed by {', '.join(loaded.overrides)}"
    checks = [Check("settings", "ok", detail)]
    if loaded.workspace and (notice := loaded.workspace.notice):
        checks.append(Check("workspace", "warning", notice, "'sestet trust' shows and accepts them"))
    return checks, loaded.settings


async def check_assistant(settings: Settings) -> list[Check]:
    """Build the assistant of these settings in a directory of its own: nothing of the person's is touched."""
    # What cannot be reached is reported below, and need not be logged to the terminal as well.
    logging.getLogger("sestet").addHandler(logging.NullHandler())
    try:
        with tempfile.TemporaryDirectory() as home:
            async with app.open(settings, home=home, plugins=True) as built:
                return [
                    _check_model(built),
                    check_agents(built.root),
                    *check_unmatched(built.unmatched),
                    *check_plugins(built.plugins),
                    *_check_remote(built),
                ]
    except PersonError as error:
        return [Check("assistant", "problem", str(error), "correct the settings that this names")]
    except Exception as error:  # a doctor that falls ill itself helps nobody: whatever it is, it is reported
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
    return [Check("tools", "problem", f"'{tool.name}' belongs to nobody", _UNREACHABLE) for tool in unmatched]


def _check_remote(built: app.App) -> list[Check]:
    if not built.settings.a2a.enabled:
        return [Check("remote agents", "ok", "switched off")]
    # The assistant's warnings begin with its tools and end with its plug-ins, which have been reported.
    reported = (*built.plugins.problems, built.plugins.notice)
    warnings = [each for each in built.warnings[len(built.unmatched) :] if each not in reported]
    if warnings:
        return [Check("remote agents", "warning", warning, "see a2a.remoteAgents") for warning in warnings]
    joined = [agent.name for agent in built.root.sub_agents if agent.remote is not None]
    return [Check("remote agents", "ok", ", ".join(joined) or "none is set")]

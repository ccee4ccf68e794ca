"""Checks of the sandbox: which one works here, and why others do not."""

import os
from pathlib import Path

from sestet.config import Settings
from sestet.core.pages import page
from sestet.doctor.check import Check
from sestet.services.sandbox.landlock import landlock_version
from sestet.services.sandbox.places import isolations_of, make_plan
from sestet.services.sandbox.plan import DEDICATED_ID, Isolation
from sestet.services.sandbox.sandbox import Sandbox, SandboxError

_NAME = "sandbox"
_OFF = "remove 'sandbox.isolation: none' from the settings"
_IMPOSSIBLE = (
    f"commands stay switched off until one works: {page('sandbox')} says how; "
    "'sandbox.isolation: none' runs them without a sandbox, which is dangerous"
)
_WEAKER = f"install bubblewrap, or let users make namespaces: see {page('sandbox')}"
_MEANING: dict[Isolation, str] = {
    "namespaces": "commands see the workspace and the system's programs, and nothing else",
    "bubblewrap": "commands see the workspace and the system's programs, and nothing else, by bubblewrap",
    "landlock": "Landlock alone guards your files, but not .git/hooks and .agents in the workspace",
    "seatbelt": "the sandbox of macOS, which nobody has tested yet",
}


async def check_sandbox(settings: Settings, file: Path | None = None) -> list[Check]:
    """Start the sandbox of these settings, and report how commands are confined."""
    isolations = isolations_of(settings)
    if isolations == ("none",):
        return [Check(_NAME, "problem", "off: a command can read and change whatever you can", _OFF)]
    try:
        sandbox = Sandbox(make_plan(settings, settings_file=file), isolations)
    except SandboxError as error:
        return [Check(_NAME, "warning", f"commands cannot run: {error}")]
    try:
        isolation = await sandbox.isolation()
    except SandboxError as error:
        return [Check(_NAME, "warning", f"none works here: {error}", _IMPOSSIBLE)]
    finally:
        await sandbox.close()
    user = f"user {DEDICATED_ID}" if os.geteuid() == 0 and isolation == "namespaces" else "your user"
    guard = f", Landlock {landlock_version()}" if isolation != "seatbelt" else ""
    detail = f"{isolation}, as {user}{guard}: {_MEANING[isolation]}"
    weak = isolation in ("landlock", "seatbelt")
    found = Check(_NAME, "warning" if weak else "ok", detail, _WEAKER if weak else "")
    refused = [Check(_NAME, "ok", f"{name} does not work: {why}") for name, why in sandbox.refused.items()]
    return [found, *refused]

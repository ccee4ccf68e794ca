"""Checks of the plug-ins: those that are used, and those that were skipped."""

from sestet.doctor.check import Check
from sestet.plugins import Plugins

_NAME = "plug-ins"
_NONE = "'sestet agents new NAME' and 'sestet tools new NAME' begin one"


def check_plugins(plugins: Plugins) -> list[Check]:
    """One line for what plug-ins add, and one for each problem."""
    checks = [
        Check(_NAME, "problem", problem, "correct the file, or remove it") for problem in plugins.problems
    ]
    if plugins.notice:
        checks.append(Check(_NAME, "warning", plugins.notice, "'sestet trust' shows and accepts them"))
    if plugins.origins:
        origins = (f"{name} ({where})" for name, where in plugins.origins.items())
        checks.insert(0, Check(_NAME, "ok", ", ".join(origins)))
    return checks or [Check(_NAME, "ok", "none", _NONE)]

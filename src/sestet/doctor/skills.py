"""Checks of the skills: which are trusted, and which cannot be used."""

from sestet.config import Settings, data_directory
from sestet.core.errors import ConfigError
from sestet.doctor.check import Check
from sestet.processes import workspace_roots
from sestet.services.skills.service import Skills

_NAME = "skills"
_TRUST = "'sestet skills trust NAME' shows one and trusts it"


def check_skills(settings: Settings) -> list[Check]:
    """One line for all skills together, and one for each that cannot be used or hides another."""
    try:
        found = Skills(data_directory(), workspace_roots(settings)).catalog.all()
    except ConfigError:  # another check reports settings and directories that cannot be used
        return []
    broken = [
        Check(_NAME, "problem", f"{each.where}: skipped: {each.problem}", "correct the folder, or remove it")
        for each in found
        if each.problem
    ]
    shadowed = [
        Check(_NAME, "warning", f"{each.where}: not used: {each.shadowed_by} has the same name")
        for each in found
        if each.shadowed_by and not each.problem
    ]
    usable = sum(each.is_usable for each in found)
    inert = sum(each.state in ("untrusted", "changed") and not each.problem for each in found)
    if not found:
        return [Check(_NAME, "ok", "none", "'sestet skills import' adds one")]
    counted = f"{usable} trusted" + (f", {inert} not trusted, so inert" if inert else "")
    return [Check(_NAME, "ok", counted, _TRUST if inert else ""), *broken, *shadowed]

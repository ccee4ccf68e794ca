"""The doctor: checks of the whole set-up, as data that a command or a page shows."""

from itertools import chain
from pathlib import Path

from sestet.core.masking import mask_addresses
from sestet.doctor import (
    assistant,
    browser,
    database,
    machine,
    mcp,
    payments,
    sandbox,
    servers,
    skills,
    vault,
)
from sestet.doctor.check import Check, Status

__all__ = ["Check", "Status", "examine"]


async def examine(file: Path | None = None, *, probe: bool = False) -> list[Check]:
    """Every check, in the order of its report. ``file``: the settings, if not the usual ones.

    ``probe``: ask a vendor's model too, which costs money.
    """
    about_settings, settings = assistant.check_settings(file)
    about_data, is_readable = _check_data()
    # Without a key that lies in a locked vault, nothing that needs it can be tried.
    about_vault, usable = vault.check_vault(settings) if settings else ([], None)
    checks = [
        machine.check_python(),
        machine.check_sqlite(),
        *about_data,
        *about_settings,
        *(await sandbox.check_sandbox(settings, file) if settings else ()),
        *(skills.check_skills(settings) if settings else ()),
        *([await browser.check_browser(settings), assistant.check_web_search(settings)] if settings else ()),
        *about_vault,
        *(await assistant.check_assistant(usable) if usable else ()),
        *(await mcp.check_mcp(usable) if usable else ()),
        *(await servers.check_servers(usable, probe=probe) if usable else ()),
        *(await servers.check_prices(usable) if usable else ()),
        *(await payments.check_payments(settings) if settings else ()),
        *((assistant.check_embedding(usable, is_readable=is_readable),) if usable else ()),
        *(database.check_graph(settings) if settings and is_readable else ()),
        *(database.check_memory(settings) if settings and is_readable else ()),
        *(database.check_background(settings) if settings and is_readable else ()),
        assistant.check_router(),
        machine.describe_telemetry(),
        *machine.check_extras(),
    ]
    # The settings and the assistant both report a workspace that is ignored.
    shown = (check._replace(detail=mask_addresses(check.detail)) for check in checks)
    return list(dict.fromkeys(shown))


def _check_data() -> tuple[list[Check], bool]:
    """The checks of the stored data, and whether there is more to read.

    Nothing more is read from a directory that cannot be used, or from a file that another process has locked:
    each further look would wait for the lock again.
    """
    directory = machine.check_data_directory()
    if directory.status == "problem":
        return [directory], False
    stored = database.check_database()
    if stored.status == "warning":
        return [directory, stored], False
    more = (
        database.check_copies,
        database.check_locks,
        database.check_turns,
        database.check_forgetting,
        database.check_library,
    )
    return [directory, stored, *chain.from_iterable(check() for check in more)], True

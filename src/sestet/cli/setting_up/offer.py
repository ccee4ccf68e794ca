"""The offer before the first conversation: a model, where one is found and none was chosen."""

import os
from pathlib import Path

from sestet.config import Loaded, data_directory
from sestet.config.edit import file_to_edit

#: Lies in the data directory once the person has been asked.
MARK = "setup-offered"


def offer_setup(loaded: Loaded) -> str:
    """Ask once which model to use; Enter goes on with the built-in one. For whoever sits at a terminal.

    Whoever answers with something else wants to talk, not to choose: it is returned, as their first message.
    """
    if not _is_due(loaded):
        return ""
    from sestet.cli.setting_up.choices import find_choices
    from sestet.cli.setting_up.person import ask_and_set_up
    from sestet.cli.show.console import open_console

    choices = find_choices()
    if not any(choice.is_found for choice in choices):
        # There may be something, the next time.
        return ""
    _mark(data_directory() / MARK)
    console = open_console()
    said = ask_and_set_up(console, file_to_edit().absolute(), choices, leave="go on with the built-in one")
    if said is not None:
        console.print("'sestet setup' asks again whenever you like.\n", style="dim")
    return said or ""


def _is_due(loaded: Loaded) -> bool:
    chosen = loaded.file is not None or any(name.startswith("SESTET_AGENT") for name in loaded.overrides)
    return not chosen and not (data_directory() / MARK).exists()


def _mark(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
